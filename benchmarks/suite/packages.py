"""Other packages on the same models, where they are installed."""

import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from functools import partial
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np

import heeler
from suite.figure import Case, Figure
from suite.graphs import random_graph
from suite.timing import Speed

SIDES = (32, 256)
GRAPHS = (10_000, 100_000)
UPDATES = 30_000_000  # of the difference of two timed calls


def cases(speed: Speed, *, quick: bool) -> Iterator[Case]:
    """List the measurements of packages that can be imported.

    Parameters
    ----------
    speed
        The stopwatch beside the reference.
    quick
        Whether to take a small one.

    Yields
    ------
    Case
        Measurements.
    """
    if installed("dwave.samplers"):
        for side in SIDES[:1] if quick else SIDES:
            call = partial(annealer, speed, f"lattice {side}", partial(torus, side), quick=quick)
            yield Case(f"dwave-samplers Gibbs lattice {side}", call)
        for n in () if quick else GRAPHS:
            call = partial(annealer, speed, f"graph {n}", partial(random_graph, n), quick=quick)
            yield Case(f"dwave-samplers Gibbs graph {n}", call)
    if installed("pgmpy.sampling") and not quick:
        yield Case("pgmpy Gibbs lattice 3", partial(whole_tables, speed))


def installed(package: str) -> bool:
    """Say whether a package can be imported, without importing more than its parents."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def torus(side: int) -> heeler.Model:
    """Make a periodic square lattice at beta 0.4."""
    lattice: Any = heeler.lattice((side, side), 0.4, periodic=True)
    return lattice.to_ising()


def annealer(speed: Speed, name: str, build: Any, *, quick: bool) -> list[Figure]:
    """Measure the annealer of dwave-samplers at one temperature, in the order of variables."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    model = build()
    row = np.repeat(np.arange(model.n_variables), np.diff(model.pointer))
    once = row < model.column
    # Energies are minimised there: signs turn.
    energies = dimod.BinaryQuadraticModel.from_numpy_vectors(
        -np.broadcast_to(model.field, model.n_variables).astype(float),
        (row[once], model.column[once], -model.coupling[once]),
        0.0,
        "SPIN",
    )
    sampler = SimulatedAnnealingSampler()

    def run(sweeps: int) -> object:
        return sampler.sample(
            energies,
            num_reads=1,
            beta_schedule_type="custom",
            beta_schedule=[1.0],
            num_sweeps_per_beta=sweeps,
            proposal_acceptance_criteria="Gibbs",
            seed=1,
        )

    sweeps = max(2, (UPDATES // 50 if quick else UPDATES) // model.n_variables)
    n = model.n_variables
    return [speed.of_sweeps(f"dwave-samplers Gibbs {name}", run, (2, 2 + sweeps), n)]


def whole_tables(speed: Speed) -> list[Figure]:
    """Measure the Gibbs sampler of pgmpy on nine variables; its tables allow few more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
        from pgmpy.sampling import GibbsSampling

    names = [f"v{i}" for i in range(9)]
    pairs = [(i, i + 1) for i in range(9) if i % 3 < 2] + [(i, i + 3) for i in range(6)]
    network = DiscreteMarkovNetwork([(names[i], names[j]) for i, j in pairs])
    table = np.exp(0.4 * np.array([1.0, -1.0, -1.0, 1.0]))
    network.add_factors(*(DiscreteFactor([names[i], names[j]], [2, 2], table) for i, j in pairs))
    sampler = GibbsSampling(network)

    def run(sweeps: int) -> None:
        with redirect_stderr(StringIO()):  # it shows progress and cannot be told not to
            sampler.sample(size=sweeps)

    return [speed.of_sweeps("pgmpy Gibbs lattice 3", run, (50, 1_050), len(names))]
