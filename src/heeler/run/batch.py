"""Many small models in one call: side by side in one compiled loop."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from heeler.driver import Greedy, Herded, Random, as_driver
from heeler.driver.contexts import Binned, Neighbours, as_context
from heeler.model.base import Model
from heeler.model.start import first_state
from heeler.model.union import component_scores, unite
from heeler.run.build import make_memory
from heeler.run.describe import LazyDigest, settle
from heeler.run.interrupt import Interrupt
from heeler.run.result import Best, Errors, Marginals, Pairs, Run
from heeler.run.session import Limits
from heeler.run.settings import Settings
from heeler.run.spread import across_lanes
from heeler.scan import Reversed

BATCH_CHUNK_SECONDS = 0.2  # longer than a run's chunk: each model is in the cache once a chunk
MOST_VARIABLES = 1 << 20


def same_shape(models: Sequence[Model], options: dict[str, Any], limits: Limits) -> bool:
    """Say whether a list of models can share the batched loop.

    Parameters
    ----------
    models
        The models.
    options
        The checked arguments of `heeler.sample`.
    limits
        When to stop.

    Returns
    -------
    bool
        Otherwise they are sampled one after the other, with the same results.
    """
    plain = (
        limits.sweeps is not None
        and limits.seconds is None
        and limits.error is None
        and options["keep"] is None
        and options.get("kernel") is None
        and options["init"] is None
        and not options["restart"]
        and isinstance(options["temperature"], (int, float))
        and options["scan"] in ("auto", "systematic", "reversed")
    )
    if not plain or len(models) < 2 or not all(len(m.free) for m in models):
        return False
    kinds = {m.kind for m in models}
    if not (kinds <= {"chain"} or kinds <= {"factor_graph", "bayes_net"}):
        return False
    if sum(m.n_variables for m in models) > MOST_VARIABLES:
        return False
    # One loop serves one kind of conditional and, for "auto", one choice of driver.
    if (
        len({bool((m.cardinalities == 2).all()) for m in models}) > 1
        or len({m.has_zeros for m in models}) > 1
    ):
        return False
    if options["driver"] == "auto":
        return options["context"] == "auto"
    driver = as_driver(options["driver"])
    if isinstance(driver, Herded):
        context = as_context(options["context"] if driver.context is None else driver.context)
        return context is None or isinstance(context, (Neighbours, Binned))
    return isinstance(driver, (Random, Greedy))


def sample_batch(
    models: Sequence[Model], options: dict[str, Any], limits: Limits
) -> list[Run] | None:
    """Sample models side by side.

    Parameters
    ----------
    models
        Models that `same_shape` accepted.
    options
        The checked arguments of `heeler.sample`.
    limits
        When to stop.

    Returns
    -------
    list of Run or None
        One run a model; None when the models turn out to need different loops.
    """
    from heeler.run.sample import describe, model_seeds, resolve

    start = time.perf_counter()
    settings = resolve(models[0], options, limits)
    seeds = model_seeds(options["seed"], len(models))
    engine = _engine(models, settings, seeds)
    if engine is None:
        return None
    sweeps = limits.sweeps or 0
    threads = options["threads"]
    with Interrupt() as interrupt:
        _advance(engine, settings.burn_in, threads, interrupt)
        engine.reset_sums()
        _advance(engine, sweeps, threads, interrupt)
    seconds = time.perf_counter() - start
    described = describe(models[0], settings)
    return _collect(engine, models, settings, seeds, described, seconds)


def _advance(engine: Any, passes: int, threads: int, interrupt: Interrupt) -> None:
    """Run passes in chunks, so that Ctrl-C is seen."""
    chunk = 1
    while passes > 0 and not interrupt.pressed:
        count = min(chunk, passes)
        begin = time.perf_counter()
        engine.advance(count, None, threads)
        took = time.perf_counter() - begin
        passes -= count
        # Long chunks keep one small model in the cache for many passes.
        chunk = max(1, int(count * min(BATCH_CHUNK_SECONDS / max(took, 1e-6), 16)))


def _engine(models: Sequence[Model], settings: Settings, seeds: list[int]) -> Any:
    """Make one engine for all models, a component each."""
    from heeler.compiled.scans import Fixed
    from heeler.kernel.general import GeneralEngine, Plan
    from heeler.kernel.lowered import lower_slots
    from heeler.kernel.memory import TableMemory
    from heeler.kernel.slots import slots_of

    union, variables = unite(models)
    herded = isinstance(settings.driver, Herded)
    contexts = herded and not isinstance(as_context(settings.context), Binned)
    lowered = lower_slots(slots_of(union), settings.beta, contexts, union.has_zeros)
    if not lowered.binary and bool((union.cardinalities == 2).all()):
        return None  # alone, some of these would go through the binary loop
    backwards = isinstance(settings.scan, Reversed)
    orders = [
        (m.free[::-1] if backwards else m.free) + v for m, v in zip(models, variables, strict=False)
    ]
    sites = np.concatenate(orders).astype(np.uint32)
    begin = np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64)
    keys = np.array(seeds, np.uint64)
    memory = make_memory(union, lowered, settings, len(sites), keys, None)
    if isinstance(memory, TableMemory) and settings.lanes > 1:
        memory.start_components(variables, keys)
    states = np.concatenate(
        [first_state(m, s, settings.lanes) for m, s in zip(models, seeds, strict=True)], axis=1
    )
    visits = np.zeros(len(union.cardinalities), np.int64)
    visits[sites] = 1
    return GeneralEngine(
        Plan(
            lowered,
            Fixed(sites, begin, np.array([0, len(sites)])),
            len(sites),
            visits,
            memory,
            settings.betas,
            states,
            component_scores(union, variables, states),
            variables,
        )
    )


def _collect(
    engine: Any,
    models: Sequence[Model],
    settings: Settings,
    seeds: list[int],
    described: Any,
    seconds: float,
) -> list[Run]:
    """Cut the results into one run a model."""
    binary = engine.binary
    sums, visits = engine.sums(), engine.visits()
    if not binary:
        visits = np.repeat(visits, np.concatenate([m.cardinalities for m in models]))
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = sums.sum(axis=0) / (visits * float(engine.lanes))
    greedy = isinstance(settings.driver, Greedy)
    errors = np.full(len(columns), np.nan) if greedy else across_lanes(sums, visits)
    label = (
        f"standard error across {engine.lanes} chains"
        if engine.lanes > 1 and not greedy
        else "none"
    )
    best_lane = engine.best_scores().argmax(axis=0)
    best = engine.best_states()
    ends = engine.plan.variables
    entry = ends if binary else np.append(engine.entry, engine.entries)[ends]
    none, no_pairs = np.empty(0, np.int64), np.empty((0, 2), np.int64)
    share = seconds / len(models)
    runs = []
    for k, model in enumerate(models):
        a, b = int(ends[k]), int(ends[k + 1])
        mine, my_errors = columns[entry[k] : entry[k + 1]], errors[entry[k] : entry[k + 1]]
        if model.evidence is not None:
            settle(mine, my_errors, model, binary)
        updates = len(model.free) * engine.passes * engine.lanes
        parts = {
            "marginals": Marginals(model, mine, binary, True),
            "errors": Errors(label, model, my_errors, binary, False),
            "best": Best(model, best[best_lane[k], a:b].copy()),
            "functions": {},
            "log_scores": np.empty((engine.lanes, 0)),
            "log_score_passes": none,
            "settings": described | {"seed": seeds[k], "model": LazyDigest(model)},
            "stats": {
                "sweeps": engine.passes - settings.burn_in,
                "updates": updates,
                "seconds": share,
                "updates_per_second": updates / share,
                "stopped_by": "sweeps",
                "engine": "GeneralEngine, batched",
            },
            "pairs": Pairs(model, no_pairs, none),
            "joint": None,
            "_kept": None,
        }
        runs.append(Run(model, parts, None))
    return runs
