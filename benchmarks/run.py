"""Speed, small things and footprint: every figure in one run, beside its target.

Run from the project's folder::

    python benchmarks/run.py                  all figures (some minutes; leave the machine alone)
    python benchmarks/run.py --quick          a few small ones: only checks that they run
    python benchmarks/run.py --only 'graphs .*10000$'    those whose group and name match
    python benchmarks/run.py --list           names only
    python benchmarks/run.py --json FILE      also written as JSON
"""

import argparse
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

# One core: linear algebra inside numpy must not take the others. Set before numpy is loaded.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from suite import (  # noqa: E402
    coupling,
    factors,
    footprint,
    graphs,
    lattices,
    moves,
    packages,
    report,
    scans,
    small,
)
from suite.figure import Case, Figure, LeftOut  # noqa: E402
from suite.timing import FOLDER, Speed  # noqa: E402

ROUNDS, QUICK_ROUNDS = 5, 1


def groups(speed: Speed, *, quick: bool) -> dict[str, Iterator[Case]]:
    """List all measurements.

    Parameters
    ----------
    speed
        The stopwatch beside the reference.
    quick
        Whether to take the short versions.

    Returns
    -------
    dict
        Group -> cases.
    """
    return {
        "lattice": lattices.cases(speed, quick=quick),
        "graphs": graphs.cases(speed, quick=quick),
        "factors": factors.cases(speed, quick=quick),
        "scans": scans.cases(speed.rounds, quick=quick),
        "moves": moves.cases(speed, quick=quick),
        "small": small.cases(speed.rounds, quick=quick),
        "coupling": coupling.cases(speed.rounds, quick=quick),
        "footprint": footprint.cases(speed.rounds, quick=quick),
        "packages": packages.cases(speed, quick=quick),
    }


def measure(chosen: dict[str, list[Case]], *, judged: bool) -> dict[str, list[Figure]]:
    """Measure and print figure by figure.

    Parameters
    ----------
    chosen
        Group -> cases.
    judged
        Whether to mark figures that fall short.

    Returns
    -------
    dict
        Group -> figures.
    """
    found: dict[str, list[Figure]] = {}
    for group, cases in chosen.items():
        print(f"\n{group}", flush=True)
        found[group] = []
        for case in cases:
            try:
                for figure in case.measure():
                    found[group].append(figure)
                    print(report.line(figure, judged=judged), flush=True)
            except LeftOut as reason:
                print(f"{case.name}: left out, {reason}", flush=True)
    return found


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Speed, small things and footprint.")
    parser.add_argument("--quick", action="store_true", help="only check that figures are made")
    parser.add_argument("--only", metavar="PATTERN", default="", help="regular expression of names")
    parser.add_argument("--list", action="store_true", help="print names and measure nothing")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures as JSON")
    parser.add_argument("--rounds", type=int, help="how often everything is timed")
    given = parser.parse_args()
    if given.rounds is not None and given.rounds < 1:
        parser.error(f"--rounds must be at least 1. Got {given.rounds} instead.")
    try:
        given.only = re.compile(given.only)
    except re.error as error:
        parser.error(f"--only must be a regular expression: {error}")
    if given.json is not None and not given.json.absolute().parent.is_dir():
        parser.error(f"--json must name a file in a folder that exists. Got {given.json} instead.")
    return given


def main() -> int:
    """Run the command line."""
    given = read_arguments()
    # Runs of few passes warn of what they are; the figures are about time.
    warnings.simplefilter("ignore", UserWarning)
    speed = Speed(given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS))
    chosen = {
        group: [case for case in cases if given.only.search(f"{group} {case.name}")]
        for group, cases in groups(speed, quick=given.quick).items()
    }
    chosen = {group: cases for group, cases in chosen.items() if cases}
    if not chosen:
        print("No figure has such a name: --list shows them.", file=sys.stderr)
        return 2
    if given.list:
        for group, cases in chosen.items():
            for case in cases:
                print(group, case.name)
        return 0
    if speed.library is None:
        print(f"The reference kernels are not in {FOLDER}: speeds are given without ratios.")
    start = time.perf_counter()
    print(report.HEADER)
    found = measure(chosen, judged=not given.quick)
    figures = [figure for group in found.values() for figure in group]
    print(f"\n{len(figures)} figures in {time.perf_counter() - start:.0f} s.")
    if not given.quick:
        print(report.summary(figures))
    if given.json is not None:
        report.write(given.json, report.as_json(found, speed, quick=given.quick))
    return 0


if __name__ == "__main__":
    sys.exit(main())
