"""Models as files, and the command line as a function, for the tests of the commands."""

import json

from heeler.cli import main

NETWORK = """network weather { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable level { type discrete [ 3 ] { <5, >=5, 12+=x }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.75, 0.25; }
probability ( level | rain ) { (no) 0.5, 0.25, 0.25; (yes) 0.25, 0.25, 0.5; }
probability ( wet | rain, level ) { default 0.5, 0.5; (yes, <5) 0, 1; }
"""
#: By hand: P(rain = yes | level = <5).
RAIN_GIVEN_LOW = 0.25 * 0.25 / (0.25 * 0.25 + 0.75 * 0.5)


def write_network(folder):
    """Write the network and return its path as text."""
    path = folder / "weather.bif"
    path.write_text(NETWORK)
    return str(path)


def write_grid(folder, side, name="grid.uai"):
    """Write a square grid of binary variables with weak ferromagnetic couplings."""
    edges = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    edges += [(r * side + c, r * side + c + side) for r in range(side - 1) for c in range(side)]
    lines = ["MARKOV", str(side * side), "2 " * (side * side), str(len(edges))]
    lines += [f"2 {i} {j}" for i, j in edges] + ["4 1.5 1 1 1.6"] * len(edges)
    path = folder / name
    path.write_text("\n".join(lines))
    return str(path)


def json_of(capsys, *arguments):
    """Run a command with --json, check that it succeeds silently, and return the object."""
    code = main([*arguments, "--json"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert captured.out.count("\n") == 1
    return json.loads(captured.out)
