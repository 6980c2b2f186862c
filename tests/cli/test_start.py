"""How the command line starts: fast, with help, without what it does not need."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import heeler
from cli_models import write_network
from heeler.cli import app, main

ROOT = Path(__file__).resolve().parents[2]


def test_help_does_not_import_the_engines():
    code = (
        "import sys; from heeler.cli import main; assert main(['--help']) == 0; "
        "assert main(['marginals', '--help']) == 0; "
        "sys.exit(str([m for m in ('numba', 'scipy', 'heeler.exact') if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "[]"
    assert "Exit codes" in done.stdout


def test_every_command_has_help(capsys):
    for name in ("marginals", "map", "sample", "info"):
        assert main([name, "--help"]) == 0
        assert "MODEL" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"heeler {heeler.__version__}\n"


def test_absent_commands_are_left_out(monkeypatch, capsys):
    commands = {"info": app.COMMANDS["info"], "rest": "heeler.cli.no_such_module:rest"}
    monkeypatch.setattr(app, "COMMANDS", commands)
    # With one command, a name would be taken for its argument: two are needed for the test.
    commands["map"] = app.COMMANDS.get("map", "heeler.cli.best:best")
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "info" in out
    assert "rest" not in out


def test_mistakes_of_the_program_are_not_hidden(tmp_path, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("a mistake")

    monkeypatch.setattr(heeler.exact, "marginals", broken)
    with pytest.raises(RuntimeError, match="a mistake"):
        main(["marginals", write_network(tmp_path), "--exact"])


def test_interrupted_before_anything(tmp_path, monkeypatch, capsys):
    def pressed(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(heeler.exact, "marginals", pressed)
    assert main(["marginals", write_network(tmp_path), "--exact"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "interrupted" in captured.err


def test_a_reader_that_has_seen_enough(tmp_path, monkeypatch, capsys):
    class Closed(io.StringIO):
        def write(self, _text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    path = write_network(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Closed())
        # typer wraps both streams, so that nothing more is heard of it at exit.
        patch.setattr(sys, "stderr", sys.stderr)
        assert main(["marginals", path, "--exact", "--json"]) == 1
    assert capsys.readouterr().err == ""
