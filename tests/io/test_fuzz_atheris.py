"""A bounded run of the coverage-guided fuzzer for every reader."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from io_fuzz import TARGETS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_coverage_guided(target):
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed; it has no build for every Python")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("fuzz_atheris.py")), target, "20000"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-4000:]
    assert "Done 20" in output or "DONE" in output, output[-4000:]
    # The readers were reached: some of what the fuzzer made was good.
    seen = [line for line in done.stdout.splitlines() if line.startswith("seen")]
    assert seen
    assert int(seen[-1].rsplit(" ", 1)[1]) > 0
