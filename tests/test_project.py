"""The frame around the library: imports, versions, and the tools that guard both."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# numpy is the only dependency that `import heeler` may load.
FORBIDDEN = (
    "numba",
    "llvmlite",
    "scipy",
    "matplotlib",
    "pandas",
    "networkx",
    "dimod",
    "pgmpy",
    "arviz",
    "xarray",
    "sklearn",
    "skimage",
    "dask",
    "typer",
    "rich",
    "PIL",
)


def run_python(code, *arguments):
    """Run code in a new process and return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done


def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_import_loads_nothing_slow(record_property):
    code = (
        "import time, sys; start = time.perf_counter(); import heeler;"
        "print(time.perf_counter() - start);"
        f"print(*sorted(set({FORBIDDEN!r}) & set(sys.modules)))"
    )
    seconds, loaded = run_python(code).stdout.split("\n")[:2]
    record_property("import_seconds", seconds)
    assert loaded == ""


def test_version_is_the_same_everywhere():
    import heeler

    assert settings()["project"]["version"] == heeler.__version__


def test_every_public_name_exists():
    import heeler

    assert len(set(heeler.__all__)) == len(heeler.__all__)
    missing = [name for name in heeler.__all__ if not hasattr(heeler, name)]
    assert missing == []
    assert set(heeler.__all__) <= set(dir(heeler))


def test_unknown_name_is_an_attribute_error():
    import heeler

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = heeler.no_such_name


def test_package_declares_its_types():
    assert (ROOT / "src" / "heeler" / "py.typed").is_file()


def test_extra_all_has_every_extra_for_users():
    extras = settings()["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    for_developers = {"test", "lint", "docs", "changes"}
    named = set(re.fullmatch(r"heeler\[(.*)\]", everything)[1].split(","))
    assert named == set(extras) - for_developers


def test_readme_examples_run():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 2
    assert run_python("\n".join(blocks), "-W", "error").stdout.strip()
