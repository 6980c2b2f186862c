"""From a model and settings to an engine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import (
    Binned,
    Full,
    Greedy,
    Herded,
    Metropolis,
    Modified,
    Neighbours,
    Quasi,
    Radius,
    Random,
    as_context,
)
from heeler.driver.drivers import Driver
from heeler.model.base import Model
from heeler.run.settings import Settings
from heeler.scan import Chromatic, Jacobi, Systematic

LATTICE_SITES = 1024  # below this the lattice engine's set-up costs more than its rows save
LEAST_LANES = 8  # from here on lanes go side by side in vectors


def build_engine(model: Model, settings: Settings, states: NDArray[Any], sweeps: int | None) -> Any:
    """Make the engine that runs a model.

    Parameters
    ----------
    model
        The model, evidence included.
    settings
        The run's settings.
    states
        First states (lanes, n).
    sweeps
        Passes after burn-in, where known; the quasi driver needs it.

    Returns
    -------
    engine
        See the engine's contract in the design page.
    """
    if settings.kernel is not None:
        return settings.kernel.engine(model, settings, states, sweeps)
    engine = _lattice_engine(model, settings, states)
    if engine is not None:
        return engine
    if isinstance(settings.driver, Herded) and settings.driver.bits == 16:
        raise ValueError(
            "The 'bits' parameter may be 16 only on a lattice with context='shared', with neither "
            "evidence, pairs nor a schedule. Use bits=32."
        )
    return _general_engine(model, settings, states, sweeps)


def _lattice_engine(model: Model, settings: Settings, states: NDArray[Any]) -> Any:
    """Make the engine of lattices where it applies, else None."""
    keep = settings.keep
    driver, scan = settings.driver, settings.scan
    plain = (
        model.kind == "lattice"
        and model.evidence is None
        and isinstance(scan, (Systematic, Chromatic))
        and settings.beta is not None
        and not (settings.restart or keep.joint or len(keep.pairs))
        and settings.context in (None, "shared", "neighbours")
        and not isinstance(driver, Quasi)
        and not (isinstance(driver, Herded) and driver.rule == "tijdeman")
        and (model.n_variables >= LATTICE_SITES or getattr(driver, "bits", 32) == 16)
    )
    if not plain:
        return None
    from heeler.kernel.lattice_engine import LatticeEngine, refusal

    bits = driver.bits if isinstance(driver, Herded) else 32
    what = {
        "driver": driver.name,
        "scan": scan.name,
        "context": settings.context or "shared",
        "bits": bits,
    }
    lattice: Any = model
    if refusal(lattice, **what) is not None:
        return None
    more: dict[str, Any] = {}
    if isinstance(driver, Random):
        more["generator"] = driver.generator
    if isinstance(driver, Herded) and (settings.lanes > 1 or driver.start == "random"):
        from heeler.kernel.memory import first_weights

        random = [lane for lane in range(settings.lanes) if lane > 0 or driver.start == "random"]
        key = np.uint64(settings.seed)
        more["initial_weights"] = lambda contexts: (
            first_weights(True, settings.lanes, contexts, random, key) >> np.uint32(32 - bits)
        ).astype(f"uint{bits}")
    temperature: Any = settings.temperature  # one number, as `beta` is not None
    return LatticeEngine(
        lattice, states, key=settings.seed, temperature=temperature, **what, **more
    )


def _general_engine(
    model: Model, settings: Settings, states: NDArray[Any], sweeps: int | None
) -> Any:
    """Make the engine that takes any model."""
    from heeler.kernel.choice import engine_for

    return engine_for(general_plan(model, settings, states, sweeps))


def general_plan(model: Model, settings: Settings, states: NDArray[Any], sweeps: int | None) -> Any:
    """Make the plan that any engine but the lattices' can run.

    Parameters
    ----------
    model, settings, states, sweeps
        As in `build_engine`.

    Returns
    -------
    Plan
        The model lowered, scan and driver compiled.
    """
    from heeler.kernel.general import Plan, counts_visits
    from heeler.kernel.orders import compile_scan

    scan, steps = compile_scan(settings.scan, model, settings.seed)
    lowered = lowered_for(model, settings, scan)
    visits = None if counts_visits(scan) else np.bincount(scan.order, minlength=model.n_variables)
    scores = np.atleast_1d(model.log_score(states)).astype(np.float64).reshape(-1, 1)
    return Plan(
        lowered,
        scan,
        steps,
        visits,
        make_memory(model, lowered, settings, steps, np.array([settings.seed], np.uint64), sweeps),
        settings.betas,
        states,
        scores,
        np.array([0, model.n_variables]),
        settings.restart,
        settings.keep.pairs,
        settings.keep.joint,
    )


def lowered_for(model: Model, settings: Settings, scan: Any) -> Any:
    """Lower a model, once for all runs at the same temperature.

    Parameters
    ----------
    model
        The model.
    settings
        The run's settings.
    scan
        The compiled scan.

    Returns
    -------
    Lowered
        Flat arrays.
    """
    from heeler.kernel.choice import in_classes
    from heeler.kernel.lowered import lower, lower_couplings

    context = settings.context or ""  # only herding has one
    contexts = isinstance(settings.driver, Herded) and not context.startswith(
        ("binned", "radius", "full")
    )
    kind = model.kind
    if isinstance(settings.scan, Jacobi) and kind in ("boltzmann", "rbm"):
        # Kept local fields belong to one order of updates; all at once goes through the factor
        # graph.
        model, kind = model.to_factor_graph(), "factor_graph"
    if kind in ("boltzmann", "rbm"):  # keeps fields for every lane, so it belongs to the run
        return lower(model, settings.beta, settings.lanes, contexts)
    if (
        kind in ("ising", "lattice")
        and in_classes(scan)
        and settings.lanes < LEAST_LANES
        and not settings.restart
    ):
        graph: Any = model.to_ising() if kind == "lattice" else model  # type: ignore[attr-defined]
        arrays = (graph.pointer, graph.column, graph.coupling, graph.field)
        return lower_couplings(*arrays, settings.beta, contexts, scan.order)
    # The cache travels with `given`: all evidence sets share one lowering.
    return model._cached(
        f"_lowered_{settings.beta}_{contexts}",
        lambda: lower(model, settings.beta, settings.lanes, contexts),
    )


def make_memory(
    model: Model,
    lowered: Any,
    settings: Settings,
    steps: int,
    keys: NDArray[np.uint64],
    sweeps: int | None,
) -> Any:
    """Make the compiled driver with its memory.

    Parameters
    ----------
    model
        The model.
    lowered
        The model as flat arrays.
    settings
        The run's settings.
    steps
        Updates of a pass.
    keys
        The components' keys.
    sweeps
        Passes after burn-in, where known.

    Returns
    -------
    Memory
        The driver's memory.
    """
    from heeler.compiled import drivers as compiled
    from heeler.kernel import memory

    driver: Driver = settings.driver
    if isinstance(driver, Random):
        return memory.Memory(compiled.Random(keys))
    if isinstance(driver, (Metropolis, Modified)):
        # With two values Liu's rule is Metropolis: one piece of compiled code for both.
        metropolis = lowered.binary or isinstance(driver, Metropolis)
        kind: Any = compiled.Metropolis if metropolis else compiled.Modified
        # A cache line for each lane's counter, as lanes may run in different threads.
        return memory.MovesMemory(kind(keys, np.zeros((settings.lanes, 8), np.int64)))
    if isinstance(driver, Greedy):
        return memory.Memory(compiled.Greedy(0))
    if isinstance(driver, Quasi):
        return memory.Memory(_quasi(settings, steps, keys, sweeps))
    if not isinstance(driver, Herded):
        raise TypeError(
            f"The 'driver' parameter must be a driver of heeler.driver. Got {driver!r} instead."
        )
    context = as_context(settings.context)
    if isinstance(context, Neighbours) and (lowered.base < 0).any():
        context = Radius(1)  # the same contexts, kept as they are visited
    if isinstance(context, (Radius, Full)):
        if settings.beta is None:
            raise ValueError(
                f"The context {context.name!r} needs one temperature. Use context='binned(64)'."
            )
        balls = (np.empty(0, np.int64), np.empty(0, np.int32))
        if isinstance(context, Radius):
            balls = memory.balls_of(*model.adjacency(), context.radius)
        return memory.HashMemory(lowered, driver, context, settings.lanes, keys[0], balls)
    if settings.beta is None and not isinstance(context, Binned):
        context = Binned()  # a weight per context would see many probabilities
    return memory.TableMemory(lowered, driver, context, settings.lanes, keys[0])


def _quasi(settings: Settings, steps: int, keys: NDArray[np.uint64], sweeps: int | None) -> Any:
    """Choose the generator whose period is the run."""
    from heeler.compiled import drivers as compiled
    from heeler.kernel.tausworthe import degree_for, period_of, stride_for

    if sweeps is None:
        raise ValueError(
            "The quasi driver needs 'sweeps': it must run a generator's whole period, e.g. "
            "sweeps=2**13."
        )
    degree, with_zero = degree_for(sweeps)
    sequence = period_of(degree)
    return compiled.Quasi(
        keys, sequence, stride_for(steps, len(sequence)), settings.burn_in, int(with_zero)
    )
