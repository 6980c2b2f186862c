"""Assertions on a part of the study: orderings with wide margins, herded numbers pinned.

Herded runs are deterministic, so their errors are compared with stored ones to 1 %; the orderings
of random runs were seen with at least twice the margin asked for here, and seeds are fixed.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import heeler
from accuracy_study import families, torus
from accuracy_study.measure import HERDED, QUASI, RANDOM, Clock, curve, target_of

PINNED = 0.01  # relative
Finding = tuple[str, float, float, float]  # what, value, least, most
# Error of marginals of 3x3 grid number 1 after 10,000 sweeps from the seed's first state.
GOLDEN = {"neighbours": 1.96664e-4, "binned(16)": 1.76311e-4}


def run() -> int:
    """Make all checks and print them.

    Returns
    -------
    int
        Exit code: 1 if a value is outside its range.
    """
    clock = Clock()
    failed = 0
    for part in (grids, dense, lattice, deterministic):
        for what, value, least, most in part():
            good = least <= value <= most
            failed += not good
            mark = "ok  " if good else "FAIL"
            print(f"{mark} {what}: {value:.4g} in [{least:.4g}, {most:.4g}]", flush=True)
    print(f"{'all good' if not failed else f'{failed} failed'} in {clock.spent:.0f} s")
    return int(failed > 0)


def grids() -> Iterator[Finding]:
    """Check 3x3 grids: marginals, joint, scan."""
    settings = {
        "random": RANDOM,
        "quasi": QUASI,
        "neighbours": HERDED["neighbours"],
        "binned(16)": HERDED["binned(16)"],
        "full": HERDED["full"],
        "uniform": replace(HERDED["neighbours"], scan="uniform"),
    }
    site, joint = {}, {}
    for name, setting in settings.items():
        found = []
        for seed in range(1, 6):
            model = families.signed("3x3 grid", 0.5, seed)
            target = target_of(model, ("joint",))
            found.append(curve(model, target, setting, (10_000,), seed=seed)[0])
        site[name] = float(np.median([f["site"] for f in found]))
        joint[name] = float(np.median([f["joint"] for f in found]))
        if name in GOLDEN:
            known = GOLDEN[name]
            yield (
                f"3x3 grid 1, herded {name}",
                found[0]["site"],
                known * (1 - PINNED),
                known * (1 + PINNED),
            )
    yield "3x3 grids, random", site["random"], 5e-4, 6e-3
    yield "3x3 grids, random / neighbours", site["random"] / site["neighbours"], 3, 100
    yield "3x3 grids, random / quasi", site["random"] / site["quasi"], 1, 20
    yield (
        "3x3 grids, neighbours by a random scan / systematic",
        site["uniform"] / site["neighbours"],
        3,
        100,
    )
    yield "3x3 grids, joint: random / full", joint["random"] / joint["full"], 4, 40
    yield "3x3 grids, joint: random / neighbours", joint["random"] / joint["neighbours"], 0.5, 2


def dense() -> Iterator[Finding]:
    """Check a complete graph, where bins win and the paper's contexts are too many."""
    error = {}
    for name, setting in (("random", RANDOM), ("binned", HERDED["binned(16)"])):
        found = []
        for seed in range(1, 6):
            # Spins of scale 1/4 are units of scale 1: their kernels are compiled already.
            model = families.dense(16, 0.25, seed, units=False)
            found.append(curve(model, target_of(model), setting, (1_000,), seed=seed)[0]["site"])
        error[name] = float(np.median(found))
    yield "complete graph, random / binned(16)", error["random"] / error["binned"], 3, 50


def lattice() -> Iterator[Finding]:
    """Check that homogeneous lattices are herding's worst case."""
    model = heeler.lattice((64, 64), coupling=0.3, periodic=True)
    exact = torus.exact_energy(64, 0.3)
    sites = model.n_variables
    bias = {}
    for setting in (RANDOM, HERDED["shared"]):
        score = torus.one_energy(model, setting, 2**12, 1)
        bias[setting.label] = score / -(0.3 * sites) - exact
    yield "torus, beta 0.3, random: bias of the energy", bias["random"], -3e-3, 3e-3
    yield "torus, beta 0.3, shared: bias of the energy", bias["herded shared"], 5e-3, 12e-3


def deterministic() -> Iterator[Finding]:
    """Check that a chain of single updates does not leave a deterministic table's corner."""
    gate = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]  # c = a or b
    model = heeler.factor_graph(
        [2, 2, 2], [((0,), [0.9, 0.1]), ((1,), [0.5, 0.5]), ((0, 1, 2), gate)]
    )
    target = target_of(model)
    yield "an or-gate, random", curve(model, target, RANDOM, (10_000,))[0]["site"], 0.05, 1.0
