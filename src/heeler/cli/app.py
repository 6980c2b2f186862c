"""The commands, and what errors become."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

import heeler
from heeler.cli.exits import Exit, exit_code, say

__all__ = ["COMMANDS", "make_app", "run"]

#: Command -> "module:function". A command whose module is absent is left out.
COMMANDS = {
    "marginals": "heeler.cli.marginals:marginals",
    "map": "heeler.cli.best:best",
    "sample": "heeler.cli.sample:sample",
    "partition": "heeler.cli.partition:partition",
    "scan": "heeler.cli.scan:scan",
    "info": "heeler.cli.info:info",
    "certify": "heeler.cli.certify:certify",
    "lab": "heeler.cli.lab:lab",
    "demo": "heeler.cli.demo:demo",
}

_EPILOGUE = (
    "Exit codes: 0 done; 2 wrong usage or input; 3 too wide for an exact answer; 4 no state has "
    "positive probability; 130 interrupted (what exists by then is printed all the same)."
)


def make_app() -> typer.Typer:
    """Make the application from the table of commands.

    Returns
    -------
    typer.Typer
        The application.
    """
    app = typer.Typer(
        name="heeler",
        help="Sample from discrete probability models: marginals, best states, draws, log Z.",
        epilog=_EPILOGUE,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, place in COMMANDS.items():
        module, _, attribute = place.partition(":")
        if importlib.util.find_spec(module) is None:
            continue
        function = getattr(importlib.import_module(module), attribute)
        app.command(name, epilog=_EPILOGUE)(_guarded(function))
    app.callback()(_heeler)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heeler {heeler.__version__}")
        raise typer.Exit


def _heeler(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Sample from discrete probability models: marginals, best states, draws, log Z."""


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn the errors that a user can cause into a message and an exit code."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except KeyboardInterrupt:
            say("interrupted before there was anything to print")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read the output has seen enough; typer ends quietly.
            raise
        except (ValueError, OSError) as error:
            code = exit_code(error)
            if code is None:
                raise
            say(f"error: {error}")
            raise typer.Exit(code) from None

    return guarded


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the application and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments; the default is this process's.

    Returns
    -------
    int
        The exit code.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        make_app()(args=given, prog_name="heeler")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return Exit.DONE
