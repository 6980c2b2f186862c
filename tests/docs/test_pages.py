"""What the pages tell newcomers to type works: every code cell and every command."""

import io
import os
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from heeler.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "docs/quickstart.md",
    "docs/guide.md",
    "docs/scans.md",
    "docs/lab.md",
    "docs/temperature.md",
]
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.py"))
# These take their time or leave files, and have tests of their own.
OTHERWISE_TESTED = ("heeler demo", "heeler scan model.uai", "heeler marginals model.uai")


def commands(page):
    """Give the indented lines of a page that call heeler."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^    (heeler .+)$", text, re.MULTILINE)
    return [line.partition("  #")[0] for line in found]


def run_cells(page):
    """Run all cells of a page in one namespace, in the page's folder; return what they printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    space = {"__name__": "page"}
    printed = []
    before = Path.cwd()
    os.chdir((ROOT / page).parent)
    try:
        for cell in cells:
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile(cell, page, "exec"), space)  # noqa: S102 - the page's own code
            printed.append(out.getvalue())
    finally:
        os.chdir(before)
    return printed


def printed_by(cells, word):
    """Give the numbers that the one cell that prints a word prints after it."""
    (line,) = [line for out in cells for line in out.splitlines() if line.startswith(word)]
    return [float(number) for number in line.split()[1:]]


def test_quickstart():
    cells = run_cells("docs/quickstart.md")
    assert len(cells) >= 5
    # Herding is the better choice on the little graph of the page, and the page shows it.
    assert printed_by(cells, "herded")[0] < printed_by(cells, "random")[0]


def test_guide():
    cells = run_cells("docs/guide.md")
    assert len(cells) >= 15
    assert "True\n" in cells  # a run that was saved, loaded and resumed is the unbroken one
    (table,) = (out for out in cells if out.startswith("random "))  # the page's errors of drivers
    for driver, bound in (("random", 0.02), ("herded", 0.005), ("quasi", 0.02)):
        assert printed_by([table], f"{driver} ")[0] < bound
    best, exact = next(
        map(float, out.split()) for out in cells if re.fullmatch(r"[\d.]+ [\d.]+\n", out)
    )
    assert best == pytest.approx(exact)


def test_scans():
    cells = run_cells("docs/scans.md")
    assert len(cells) >= 6
    # 20000 independent draws: the guarantee of 0.1 and six standard deviations.
    (line,) = [line for out in cells for line in out.splitlines() if line.startswith("P(up)")]
    found, exact = map(float, line.split()[1:])
    assert abs(found - exact) < 0.1 + 6 * 0.5 / 20_000**0.5


def test_certificates():
    cells = run_cells("docs/certificates.md")
    assert cells[0].startswith("certified: distance <= ")
    assert cells[2].startswith("vacuous: ")
    assert "estimate (no certificate)" in cells[3]
    assert "Lemma 3" in cells[5]
    assert "Theorem 2: eta" in cells[6]


def test_kernels():
    cells = run_cells("docs/kernels.md")
    assert len(cells) >= 9
    assert "True\n" in "".join(cells)  # the kernel as text is the kernel
    (combined,) = [line for out in cells for line in out.splitlines() if line.startswith("mixture")]
    mean, error = (float(word) for word in combined.split()[2:5:2])
    assert abs(mean - 5.0) < 6 * error
    (label,) = [line for out in cells for line in out.splitlines() if line.startswith("label")]
    # 8000 states, an autocorrelation time below 30: errors below .03.
    assert [float(p) for p in label.split()[1:]] == pytest.approx([0.2, 0.5, 0.3], abs=0.15)


def test_lab():
    cells = run_cells("docs/lab.md")
    assert any("detailed balance does not hold" in out for out in cells)
    assert "True True False\n" in cells  # the identity: balanced, invariant, not ergodic


def test_temperature():
    cells = run_cells("docs/temperature.md")
    best, exact = map(float, cells[1].split())
    assert best == pytest.approx(exact)


@pytest.mark.parametrize("page", [*PAGES, "docs/certificates.md", "docs/kernels.md", "README.md"])
def test_commands_of_a_page(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    lines = [line for line in commands(page) if not line.startswith(OTHERWISE_TESTED)]
    assert lines
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
        assert capsys.readouterr().out.strip(), line


@pytest.mark.parametrize("path", EXAMPLES)
def test_example(path, monkeypatch, capsys, tmp_path):
    """Each example runs to its end, from any folder, and prints something."""
    monkeypatch.chdir(tmp_path)
    source = (ROOT / path).read_text(encoding="utf-8")
    exec(compile(source, path, "exec"), {"__name__": "__main__", "__file__": str(ROOT / path)})  # noqa: S102
    assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_and_pictures_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http", "#")):
            assert ((ROOT / page).parent / target.partition("#")[0]).exists(), target
