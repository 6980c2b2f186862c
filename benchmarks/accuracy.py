"""Accuracy of drivers, scans and contexts against exact answers: the tables of docs/accuracy.md.

Run from the project's folder::

    python benchmarks/accuracy.py            measure all (under 25 minutes on one core), write pages
    python benchmarks/accuracy.py --quick    a short version, printed and not written (a minute)
    python benchmarks/accuracy.py --check    assert orderings and ranges (a minute)
    python benchmarks/accuracy.py --render   write pages and figures from the stored numbers
    python benchmarks/accuracy.py --only torus dense    measure some parts again
"""

import argparse
import json
import math
import sys
from pathlib import Path

from accuracy_study import beside, check, lockstep, pages, real, synthetic, torus
from accuracy_study.measure import Clock

STORE = Path(__file__).resolve().parent / "accuracy_study" / "results.json"
STUDIES = {
    "small": synthetic.small,
    "strengths": synthetic.strengths,
    "grids": synthetic.grids,
    "dense": synthetic.dense,
    "large": synthetic.large,
    "torus": torus.energies,
    "fields": synthetic.fields,
    "networks": real.networks,
    "round": lockstep.round_numbers,
    "competition": real.competition,
    "sentences": real.named_entities,
    "neighbours": beside.others,
}


def measure(names: list[str], quick: bool) -> dict[str, list[dict]]:
    """Run studies by name.

    Parameters
    ----------
    names
        Names of `STUDIES`.
    quick
        Whether to take the short versions.

    Returns
    -------
    dict
        Name -> records; a study whose data or packages are absent is left out.
    """
    found = {}
    for name in names:
        clock = Clock()
        records = STUDIES[name](quick)
        print(f"{name}: {len(records)} rows in {clock.spent:.1f} s", file=sys.stderr, flush=True)
        if records:
            found[name] = rounded(records)
            if not quick:
                store(found)
    return found


def rounded(records: list[dict]) -> list[dict]:
    """Keep four digits of every measured number."""

    def digits(value: object) -> object:
        if isinstance(value, float):
            return None if math.isnan(value) else float(f"{value:.4g}")
        return [digits(v) for v in value] if isinstance(value, list) else value

    return [{key: digits(value) for key, value in record.items()} for record in records]


def stored() -> dict[str, list[dict]]:
    """Read the stored numbers."""
    return json.loads(STORE.read_text()) if STORE.is_file() else {}


def store(found: dict[str, list[dict]]) -> None:
    """Put new numbers in place of the stored ones, study by study."""
    known = stored() | found
    lines = []
    for name in (n for n in STUDIES if n in known):
        rows = ",\n  ".join(json.dumps(record) for record in known[name])
        lines.append(f" {json.dumps(name)}: [\n  {rows}\n ]")
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Accuracy against exact answers.")
    parser.add_argument("--quick", action="store_true", help="a short version, printed only")
    parser.add_argument("--check", action="store_true", help="assert orderings and ranges")
    parser.add_argument("--render", action="store_true", help="write pages from stored numbers")
    parser.add_argument("--only", nargs="+", choices=list(STUDIES), help="some studies only")
    given = parser.parse_args()
    if given.check:
        return check.run()
    if not given.render:
        found = measure(given.only or list(STUDIES), given.quick)
        if given.quick:
            print("\n\n".join(pages.tables(found).values()))
            return 0
    pages.write(stored())
    return 0


if __name__ == "__main__":
    sys.exit(main())
