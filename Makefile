# Every command makes its own environment in .venv; Python 3.11 or newer, make and the package index
# are all it takes. An environment's stamp depends on pyproject.toml, so it follows the project.

VENV := .venv
BIN := $(VENV)/bin
# Extra arguments for pytest: make test PYTEST_ARGS="-k ising".
PYTEST_ARGS ?=
# Worker processes of the tests; 0 runs them in one process.
WORKERS ?= auto
PYTEST = $(CACHED) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile
# Compiled kernels are cached in a folder named by a hash of their sources: see tools/cache_dir.py.
CACHED = NUMBA_CACHE_DIR="$$($(BIN)/python tools/cache_dir.py)"

.PHONY: help demo test slow lint docs bench changes clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    a real job in under a minute, with a picture at the end"
	@echo "make test    the tests"
	@echo "make slow    the slow tests"
	@echo "make lint    style, types, import rules, docstrings"
	@echo "make docs    the documentation, in docs/_build/html"
	@echo "make bench   speed, beside reference kernels"
	@echo "make clean   removes the environment and all caches"

demo: $(VENV)/.installed
	$(CACHED) $(BIN)/heeler demo

test: $(VENV)/.installed-test
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

slow: $(VENV)/.installed-test
	$(PYTEST) -m slow $(PYTEST_ARGS)

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python tools/check_docstrings.py

docs: $(VENV)/.installed-docs
	$(CACHED) $(BIN)/sphinx-build -E -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(VENV)/.installed
	$(CACHED) $(BIN)/python benchmarks/run.py

changes: $(VENV)/.installed-changes
	@test -n "$(VERSION)" || { echo "usage: make changes VERSION=1.2.3"; exit 2; }
	$(BIN)/towncrier build --yes --version "$(VERSION)"

clean:
	rm -rf $(VENV) .cache docs/_build docs/jupyter_execute .pytest_cache .ruff_cache

$(VENV)/.created: tools/find_python.sh
	@python=$$(sh tools/find_python.sh) && echo "$(VENV): $$("$$python" --version)" \
	  && "$$python" -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
