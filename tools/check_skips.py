"""Fail when a test was skipped for the absence of data that are there.

A test that skips for want of the shared data is green without having tested anything. Where the
data exist that must not happen, whatever the reason (a wrong path, a wrong working directory).
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

# Words of the message with which the fixture `shared_data` of tests/conftest.py skips.
SHARED = "shared/data"


def skipped(report: Path) -> tuple[int, list[tuple[str, str]]]:
    """Read the skipped tests of a JUnit report.

    Parameters
    ----------
    report : Path
        The file that `pytest --junit-xml` wrote.

    Returns
    -------
    count : int
        Number of tests in the report.
    skips : list of (str, str)
        Test and reason.
    """
    cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314 (our own file)
    skips = []
    for case in cases:
        mark = case.find("skipped")
        if mark is not None:
            reason = f"{mark.get('message', '')} {mark.text or ''}"
            skips.append((f"{case.get('classname')}::{case.get('name')}", reason))
    return len(cases), skips


def main() -> int:
    """Check the reports named on the command line.

    Returns
    -------
    int
        Exit status: 1 when a test was skipped for absent shared data that are present.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True, help="folder of the shared data")
    parser.add_argument("reports", type=Path, nargs="+", help="JUnit files")
    arguments = parser.parse_args()
    status = 0
    for report in arguments.reports:
        count, skips = skipped(report)
        print(f"{report.name}: {count} tests, {len(skips)} skipped")
        for test, reason in skips:
            wrong = arguments.shared.is_dir() and SHARED in reason.lower()
            print(f"  {'WRONGLY ' if wrong else ''}skipped: {test}: {' '.join(reason.split())}")
            status |= wrong
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
