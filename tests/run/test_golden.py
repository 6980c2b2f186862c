"""Runs have the bits that they had: a change of any of them must be meant.

``python tests/run/test_golden.py`` writes the file again, for changes that are.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import heeler
from heeler.scan import Uniform, Weighted

FILE = Path(__file__).with_name("golden.json")
SWEEPS = 60


def sparse(n, seed):
    """Make spins on a random graph, two pairs a variable."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n, (2 * n, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return heeler.ising((ends[:, 0], ends[:, 1], rng.normal(size=len(ends))), rng.normal(size=n))


def factors():
    """Make a factor graph of mixed numbers of values, with a zero."""
    rng = np.random.default_rng(5)
    cards = [2, 3, 4, 2, 5, 3]
    scopes = [(0,), (0, 1), (1, 2, 3), (3, 4), (4, 5), (0, 5)]
    tables = [rng.random([cards[i] for i in scope]) + 0.05 for scope in scopes]
    tables[3][1, 0] = 0.0
    return heeler.factor_graph(cards, list(zip(scopes, tables, strict=True)))


def dense(n):
    """Make a Boltzmann machine."""
    upper = np.triu(np.random.default_rng(7).normal(size=(n, n)), 1)
    return heeler.boltzmann(upper + upper.T, np.linspace(-1, 1, n))


def field(shape):
    """Make one field a site."""
    return np.random.default_rng(8).normal(size=shape)


MODELS = {
    "sparse": lambda: sparse(40, 3),
    "factors": factors,
    "dense": lambda: dense(9),
    "potts": lambda: heeler.potts([(0, 1, 0.6), (1, 2, -0.4), (0, 2, 0.2)], 3, field((3, 3))),
    "lattice": lambda: heeler.lattice((70, 66), 0.35, field((70, 66)), periodic=True),
    "3-D lattice": lambda: heeler.lattice((6, 8, 66), 0.2, 0.1),
}
CASES = {
    "random": {"driver": "random"},
    "random, many lanes": {"driver": "random", "chains": 40},
    "random, by colours": {"driver": "random", "scan": "chromatic"},
    "random, shuffled": {"driver": "random", "scan": "shuffled"},
    "random, any site": {"driver": "random", "scan": Uniform()},
    "random, weighted": {"driver": "random", "scan": "weights"},
    "random, cooling": {"driver": "random", "temperature": np.geomspace(3.0, 0.5, SWEEPS)},
    "herded": {"driver": "herded"},
    "herded, by colours": {"driver": "herded", "scan": "chromatic"},
    "herded, binned": {"driver": "herded", "context": "binned(8)"},
    "herded, everything": {"driver": "herded", "context": "full"},
    "quasi": {"driver": "quasi", "sweeps": 1024},
    "greedy": {"driver": "greedy"},
}
LARGE = ("herded, everything", "quasi")  # not for lattices


def trajectory(kind, case):
    """Hash the states of a run, its sums and its scores."""
    model, options = MODELS[kind](), {"sweeps": SWEEPS, "chains": 3, "keep": "samples"}
    options |= CASES[case]
    if isinstance(options.get("scan"), str) and options["scan"] == "weights":
        options["scan"] = Weighted(np.arange(model.n_variables) % 3 + 0.5)
    run = heeler.sample(model, seed=2026, progress=False, **options)
    digest = hashlib.sha256(np.ascontiguousarray(run.samples, "<u2").tobytes())
    for array in (run.marginals.array, run.log_scores, np.array(run.best.log_score)):
        # Averages and scores are sums of integers in the end; twelve digits are the same anywhere.
        digest.update(np.array2string(array.ravel(), precision=9, threshold=10**9).encode())
    return digest.hexdigest()[:24]


NAMES = [
    (kind, case) for kind in MODELS for case in CASES if "lattice" not in kind or case not in LARGE
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("kind", "case"), NAMES, ids=lambda part: part)
def test_trajectory(kind, case):
    assert trajectory(kind, case) == json.loads(FILE.read_text(encoding="utf-8"))[kind][case]


if __name__ == "__main__":
    found = {kind: {c: trajectory(k, c) for k, c in NAMES if k == kind} for kind in MODELS}
    FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
