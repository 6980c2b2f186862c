"""The command line: one file per command, from `heeler marginals` to `heeler demo`.

Every command prints tables for people, or with `--json` one JSON object and nothing else on
standard output; messages go to standard error. Exit codes: 0 done; 2 wrong usage or input; 3 too
wide for an exact answer; 4 no state has positive probability; 130 interrupted (what exists by then
is printed all the same).
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows `heeler`; the default is this process's arguments.

    Returns
    -------
    int
        The exit code.
    """
    from heeler.cli.app import run

    return run(arguments)
