"""`heeler.sample`: a model, and how long; everything else has a default."""

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Random
from heeler.model.base import Model
from heeler.model.check import as_finite
from heeler.model.density import Density
from heeler.run.auto import choose, warn_of, warn_of_stuck
from heeler.run.build import build_engine
from heeler.run.careful import SamplingError
from heeler.run.describe import describe, settle
from heeler.run.progress import Progress
from heeler.run.result import Average, Best, Errors, Marginals, Pairs, Run
from heeler.run.session import Limits, Session
from heeler.run.settings import Keep, Settings, as_keep, as_temperature
from heeler.scan import Systematic

PROCESSORS = os.cpu_count() or 1

MOST_CHAINS = (1 << 32) - 1


def sample(
    models: Any,
    kernel: Any = None,
    *,
    driver: Any = "auto",
    scan: Any = "auto",
    context: Any = "auto",
    sweeps: int | None = None,
    seconds: float | None = None,
    error: float | None = None,
    burn_in: int = 0,
    thin: int = 1,
    chains: int = 4,
    temperature: Any = 1.0,
    evidence: Any = None,
    keep: Any = None,
    init: Any = None,
    restart: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
    checkpoint: Any = None,
) -> Any:
    """Sample a model: marginals, best state and, when asked, states.

    One of sweeps, seconds and error is needed; with several the first one reached ends the run.

    Parameters
    ----------
    models
        A model, or a list of models: small ones then share one compiled loop. Or a `Density`.
    kernel
        A move: ``"gibbs"``, ``"herded"``, ``"metropolis"``, ``"modified"`` or another driver's
        name for single-site updates; a `SingleSite`, which holds driver, scan, context and
        temperature; or another kernel, such as a `Mixture` or a `Cycle`, also as text:
        ``"mixture(gibbs: 1, metropolis: 3)"``. None leaves all to the other arguments.
    driver
        ``"auto"``, ``"random"``, ``"herded"``, ``"quasi"``, ``"greedy"``, ``"metropolis"``,
        ``"modified"`` or an object of `heeler.driver`.
    scan
        ``"auto"``, ``"systematic"``, ``"reversed"``, ``"shuffled"``, ``"uniform"``,
        ``"chromatic"``, ``"jacobi"``, a sequence of variables or an object of `heeler.scan`.
    context
        Which herded updates share a weight: ``"auto"``, ``"neighbours"``, ``"shared"``,
        ``"binned(64)"``, ``"radius(2)"``, ``"full"``.
    sweeps
        Passes of the scan after the burn-in.
    seconds
        Time to spend, burn-in included.
    error
        Largest standard error of a marginal at which to stop.
    burn_in
        Passes before averages begin.
    thin
        Passes from one kept state to the next.
    chains
        Chains run side by side; for herding, replicates with other first weights.
    temperature
        The distribution sampled is p^(1/temperature): a number, one a pass (the last holds from
        there on), or a function of the pass's number.
    evidence
        Variable -> value; a list of such mappings gives a list of runs.
    keep
        More to keep: ``"samples"``, ``"pairs"``, ``"joint"``, several of them, or a mapping
        such as ``{"pairs": [("a", "b")], "functions": {"up": f}}``.
    init
        First state (n,) or states (chains, n); None finds states inside the support.
    restart
        Whether every pass starts again from the first state, so that passes are independent.
    seed
        Whole number from 0 to 2^64 - 1: same seed, same bits.
    threads
        Threads to use; None stands for as many as there are processors.
    progress
        True shows a bar, False never does, None shows one after two seconds on a terminal.
    checkpoint
        A file to save the run to every minute, or ``(file, seconds)``; `heeler.load` reads it.

    Returns
    -------
    Run or list of Run
        Averages with errors, the best state, and what was run.
    """
    if isinstance(models, Density):
        kernel, driver = _density_kernel(models, kernel, driver, evidence), "auto"
    if kernel is not None:
        if driver != "auto":
            raise ValueError("Give 'kernel' or 'driver', not both.")
        from heeler.run.kernels.names import as_kernel
        from heeler.run.kernels.single_site import PLAIN_TEMPERATURE, SingleSite

        kernel = as_kernel(kernel, scan, context)
        if isinstance(kernel, SingleSite) and not isinstance(models, Density):
            driver, scan, context = kernel.driver, kernel.scan, kernel.context
            if kernel.temperature is not PLAIN_TEMPERATURE:
                temperature = kernel.temperature
            kernel = None
    options = {
        "kernel": kernel,
        "driver": driver,
        "scan": scan,
        "context": context,
        "burn_in": whole("burn_in", burn_in, 0),
        "thin": whole("thin", thin, 1),
        "chains": _chains(chains),
        "temperature": temperature,
        "keep": keep,
        "init": init,
        "restart": bool(restart),
        "seed": whole("seed", seed, 0),
        "threads": whole("threads", PROCESSORS if threads is None else threads, 1),
    }
    limits = as_limits(sweeps, seconds, error)
    if isinstance(models, Density):
        return sample_one(models, options, limits, progress, checkpoint)
    if isinstance(models, Model):
        if isinstance(evidence, Sequence) and not isinstance(evidence, str):
            first = models
            models = [first.given(e) for e in evidence]
        else:
            clamped: Any = evidence  # `given` says what is wrong with it
            model = models if evidence is None else models.given(clamped)
            return sample_one(model, options, limits, progress, checkpoint)
    elif evidence is not None:
        raise ValueError(
            "With a list of models, put the evidence into the models: [m.given({...}) for m in "
            "models]."
        )
    return _sample_many(models, options, limits, progress, checkpoint)


def _density_kernel(model: Density, kernel: Any, driver: Any, evidence: Any) -> Any:
    """Choose the kernel of a density, which has no conditionals of its own."""
    if evidence is not None:
        raise ValueError(
            "The 'evidence' parameter is for discrete models: put known values into the density's "
            "function."
        )
    if not (isinstance(driver, str) and driver == "auto"):
        raise ValueError(
            f"The 'driver' parameter is for discrete models. Got {driver!r} for a density: give a "
            "kernel."
        )
    if kernel is None or (isinstance(kernel, str) and "(" not in kernel):
        from heeler.run.kernels.continuous import default_kernel

        return default_kernel(model, kernel)
    return kernel


def _sample_many(
    models: Any, options: dict[str, Any], limits: Limits, progress: Any, checkpoint: Any
) -> list[Run]:
    """Sample a list of models."""
    if not isinstance(models, Sequence) or not all(isinstance(m, Model) for m in models):
        raise TypeError(
            f"The 'models' parameter must be a model or a list of models. Got {type(models)!r} "
            "instead."
        )
    if checkpoint is not None:
        raise ValueError(
            "The 'checkpoint' parameter works with one model. Sample the models one by one."
        )
    if not models:
        return []
    from heeler.run.batch import same_shape, sample_batch

    if same_shape(models, options, limits):
        runs = sample_batch(models, options, limits)
        if runs is not None:
            return runs
    if limits.seconds is not None:
        limits = Limits(limits.sweeps, limits.seconds / len(models), limits.error)
    seeds = model_seeds(options["seed"], len(models))
    return [
        sample_one(m, options | {"seed": s}, limits, progress, None)
        for m, s in zip(models, seeds, strict=True)
    ]


def model_seeds(seed: int, count: int) -> list[int]:
    """Give every model of a list a seed of its own; the first keeps the list's.

    Parameters
    ----------
    seed
        The list's seed.
    count
        Models.

    Returns
    -------
    list of int
        Seeds: the same model with its seed alone gives the same run.
    """
    words = np.random.SeedSequence(seed).generate_state(count, np.uint64)
    return [seed, *(int(w) for w in words[1:])]


def as_limits(sweeps: Any, seconds: Any, error: Any) -> Limits:
    """Check when a run is to stop.

    Parameters
    ----------
    sweeps, seconds, error
        As in `sample`.

    Returns
    -------
    Limits
        The limits.
    """
    if sweeps is None and seconds is None and error is None:
        raise ValueError("Say how long to run: give one of sweeps=..., seconds=... or error=...")
    if sweeps is not None:
        sweeps = whole("sweeps", sweeps, 1)
    for name, value in (("seconds", seconds), ("error", error)):
        if value is not None and (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not np.isfinite(value)
            or value <= 0
        ):
            raise ValueError(
                f"The '{name}' parameter must be a positive number. Got {value!r} instead."
            )
    return Limits(sweeps, seconds, error)


def _chains(chains: Any) -> int:
    """Check the number of chains: words know a lane by 32 bits, and the last one is the scan's."""
    count = whole("chains", chains, 1)
    if count >= MOST_CHAINS:
        raise ValueError(
            f"The 'chains' parameter must be below {MOST_CHAINS}. Got {count} instead."
        )
    return count


def whole(name: str, value: Any, least: int) -> int:
    """Check a whole number.

    Parameters
    ----------
    name
        The parameter's name.
    value
        What came.
    least
        The smallest number allowed.

    Returns
    -------
    int
        The number.
    """
    if isinstance(value, (bool, str)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"The '{name}' parameter must be a whole number. Got {value!r} instead.")
    if value < least or value >= 1 << 64:
        raise ValueError(
            f"The '{name}' parameter must be a whole number of at least {least}. Got {value} "
            "instead."
        )
    return int(value)


def sample_one(
    model: Any, options: dict[str, Any], limits: Limits, progress: Any, checkpoint: Any
) -> Run:
    """Sample one model.

    Parameters
    ----------
    model
        The model, evidence included.
    options
        The checked arguments of `sample`.
    limits
        When to stop.
    progress, checkpoint
        As in `sample`.

    Returns
    -------
    Run
        The result.
    """
    start = time.perf_counter()
    settings = resolve(model, options, limits)
    if not len(model.free):
        return _settled(model, settings)
    states = first_states(model, options["init"], settings)
    engine = build_engine(model, settings, states, limits.sweeps)
    session = Session(model, settings, engine, options["threads"], sweeps=limits.sweeps)
    session.seconds = time.perf_counter() - start
    return drive(session, limits, progress, checkpoint)


def drive(session: Session, limits: Limits, progress: Any, checkpoint: Any) -> Run:
    """Run a session to its limits and collect the result.

    Parameters
    ----------
    session
        The chains.
    limits
        When to stop.
    progress, checkpoint
        As in `sample`.

    Returns
    -------
    Run
        The result.
    """
    only_error = limits.error is not None and limits.sweeps is None and limits.seconds is None
    alone = session.batches is None and session.engine.lanes < 2
    if only_error and (alone or session.settings.chance == "greedy"):
        raise ValueError(
            "The 'error' parameter would never be reached: this run has no error bars. "
            "Use more chains and a driver that averages, or give sweeps=... or seconds=... too."
        )
    watchers: list[Any] = []
    bar = None
    if progress is not False:
        bar = Progress(limits, progress)
        watchers.append(bar)
    if checkpoint is not None:
        from heeler.run.saving import Checkpoint

        watchers.append(Checkpoint(checkpoint))
    try:
        session.run(limits, watchers)
    finally:
        if bar is not None:
            bar.close()
    run = collect(session)
    if checkpoint is not None:
        run.save(checkpoint[0] if isinstance(checkpoint, tuple) else checkpoint)
    failure, session.failure = session.failure, None
    if failure is not None:
        raise SamplingError(
            f"A function of yours failed after {session.engine.passes} passes: "
            f"{str(failure).removesuffix('.')}. What was sampled before is in this error's 'run'.",
            run,
        ) from failure
    return run


def resume(run: Run, sweeps: Any, seconds: Any, error: Any, progress: Any, checkpoint: Any) -> Run:
    """Continue a run; see `Run.resume`.

    Parameters
    ----------
    run
        The run.
    sweeps, seconds, error, progress, checkpoint
        As in `Run.resume`.

    Returns
    -------
    Run
        The longer run.
    """
    limits = as_limits(sweeps, seconds, error)
    session = run._session
    if session is None:
        raise ValueError(
            "This run has nothing to continue: all its variables are clamped, or it was one of a "
            "batch."
        )
    if session.engine.passes != run._passes:
        raise ValueError("This run has been continued already: resume the run that came of it.")
    if session.settings.chance == "quasi":
        raise ValueError(
            "A quasi run takes a generator's whole period and cannot be lengthened: start a longer "
            "one."
        )
    if limits.sweeps is not None:
        limits.sweeps += session.passes
    return drive(session, limits, progress, checkpoint)


def resolve(model: Any, options: dict[str, Any], limits: Limits) -> Settings:
    """Turn the arguments of `sample` into settings without "auto".

    Parameters
    ----------
    model
        The model.
    options
        The checked arguments.
    limits
        When to stop.

    Returns
    -------
    Settings
        What will be run.
    """
    if model.kind == "density" and options.get("kernel") is None:
        raise ValueError(
            "A density needs a kernel such as heeler.Slice() or heeler.Walk(). Got single-site "
            "updates of a discrete model."
        )
    keep = as_keep(options["keep"], model)
    total = None if limits.sweeps is None else limits.sweeps + options["burn_in"]
    temperature = as_temperature(options["temperature"], total)
    if options.get("kernel") is not None:
        return _with_kernel(options, keep, temperature)
    driver, scan, context, chosen = choose(model, options, keep, temperature)
    settings = Settings(
        driver,
        scan,
        context,
        options["chains"],
        options["seed"],
        options["burn_in"],
        options["thin"],
        temperature,
        options["restart"],
        keep,
        chosen,
    )
    warn_of(model, settings)
    return settings


def _with_kernel(
    options: dict[str, Any], keep: Keep, temperature: float | NDArray[np.float64]
) -> Settings:
    """Make the settings of a kernel that is more than single-site updates."""
    kernel = options["kernel"]
    if options["restart"]:
        raise ValueError(
            "The 'restart' parameter works with single-site kernels: a scan that is run from a "
            f"fresh start. The kernel is {kernel.name!r}."
        )
    return Settings(
        Random(),
        Systematic(),
        None,
        options["chains"],
        options["seed"],
        options["burn_in"],
        options["thin"],
        temperature,
        keep=keep,
        kernel=kernel,
    )


def first_states(model: Any, init: Any, settings: Settings) -> NDArray[Any]:
    """Give the chains' first states, inside the support.

    Parameters
    ----------
    model
        The model.
    init
        The user's state or states, or None.
    settings
        The run's settings.

    Returns
    -------
    ndarray
        (lanes, n).
    """
    if model.kind == "density":
        return _density_states(model, init, settings)
    if init is None:
        from heeler.model.start import first_state

        return first_state(model, settings.seed, settings.lanes)
    states = np.atleast_2d(np.asarray(init))
    if states.shape[0] == 1:
        states = np.repeat(states, settings.lanes, axis=0)
    if states.shape != (settings.lanes, model.n_variables):
        raise ValueError(
            f"The 'init' parameter must have shape ({model.n_variables},) or "
            f"({settings.lanes}, {model.n_variables}). Got {np.shape(init)} instead."
        )
    try:
        scores = model.log_score(states)
    except (TypeError, ValueError) as error:
        raise type(error)(f"The 'init' parameter must hold states of the model: {error}") from None
    if np.isneginf(scores).any():
        raise ValueError(
            "The 'init' parameter must be a possible state. Got one of probability zero."
        )
    return states


def _density_states(model: Any, init: Any, settings: Settings) -> NDArray[np.float64]:
    """Give first states of a density's chains: the user's, or the density's own."""
    given = np.asarray(model.start if init is None else as_finite(init, "init"))
    states = np.atleast_2d(given)
    if states.shape[0] == 1:
        states = np.repeat(states, settings.lanes, axis=0)
    if states.shape != (settings.lanes, model.n_variables):
        raise ValueError(
            f"The 'init' parameter must have shape ({model.n_variables},) or "
            f"({settings.lanes}, {model.n_variables}). Got {given.shape} instead."
        )
    model.check(states, "init")
    if np.isneginf(model.log_score(states)).any():
        raise ValueError(
            "The 'init' parameter must be a possible state. Got one of density zero: give init=... "
            "to heeler.sample or start=... to heeler.Density."
        )
    return states


def collect(session: Session) -> Run:
    """Make a run of what a session has seen so far.

    Parameters
    ----------
    session
        The chains.

    Returns
    -------
    Run
        The result; the session can go on.
    """
    model, engine, settings = session.model, session.engine, session.settings
    if model.kind == "density":
        from heeler.run.density_result import collect_density

        return collect_density(session, _stats(session), _functions(session))
    sums, visits = engine.sums(), session.column_visits()
    clamped = model.evidence
    errors, label = session.errors(sums)
    columns = sums.mean(axis=0) if len(sums) > 1 else sums[0]
    del sums  # large models are as large as this
    with np.errstate(invalid="ignore", divide="ignore"):
        columns /= visits
    if model.has_zeros:
        warn_of_stuck(model, columns, session)
    if clamped is not None:
        errors = np.array(errors)
        settle(columns, errors, model, engine.binary)
    best_scores = engine.best_scores()
    lane = int(np.argmax(best_scores.reshape(len(best_scores), -1).sum(axis=1)))
    parts: dict[str, Any] = {
        "marginals": Marginals(model, columns, engine.binary, True),
        "errors": Errors(label, model, errors, engine.binary, False),
        "best": Best(model, engine.best_states()[lane].copy()),
        "functions": _functions(session),
        "log_scores": session.trace.values[: session.trace.count].T.copy(),
        "log_score_passes": session.trace.passes,
        "settings": describe(model, settings),
        "stats": _stats(session),
        "pairs": Pairs(model, settings.keep.pairs, _total(engine, "pairs")),
        "joint": None,
        "_kept": list(session.samples) if settings.keep.samples else None,
    }
    if settings.keep.joint:
        counts = _total(engine, "joint")
        parts["joint"] = (counts / max(counts.sum(), 1)).reshape(np.asarray(model.cardinalities))
    return Run(model, parts, session)


def _total(engine: Any, name: str) -> NDArray[np.int64]:
    """Add a counter over the lanes."""
    watch = getattr(engine, "watch", None)
    return np.empty(0, np.int64) if watch is None else getattr(watch, name).sum(axis=0)


def _functions(session: Session) -> dict[str, Average]:
    """Average the user's functions."""
    result = {}
    for name, total in session.function_sums.items():
        lanes = len(total)
        batches = session.function_batches[name]
        means = total / session.kept
        errors = batches.errors()
        if session.settings.chance != "random":
            spread = (
                means.std(axis=0, ddof=1) / np.sqrt(lanes)
                if lanes > 1
                else np.full(total.shape[1], np.nan)
            )
            errors = spread
        result[name] = Average(means.mean(axis=0), errors)
    return result


def _stats(session: Session) -> dict[str, Any]:
    """Say how much was done and how fast."""
    engine = session.engine
    free = int(engine.visits().sum()) if session.passes else 0
    per_pass = free / session.passes if session.passes else 0.0
    updates = per_pass * engine.passes * engine.lanes
    return {
        "sweeps": session.passes,
        "updates": int(updates),
        "seconds": session.seconds,
        "updates_per_second": updates / session.seconds if session.seconds else 0.0,
        "stopped_by": session.stopped_by,
        "interrupted": session.stopped_by == "interrupt",
        "engine": type(engine).__name__,
        "kept_states": session.kept,
        **engine.statistics(),
    }


def _settled(model: Model, settings: Settings) -> Run:
    """Give the only answer there is when every variable is clamped."""
    evidence = model.evidence
    assert evidence is not None
    if np.isneginf(model.log_score(evidence)):
        from heeler.model.start import NoStateFound

        raise NoStateFound(
            "The evidence clamps every variable, and to a state of probability zero."
        )
    binary = bool((np.asarray(model.cardinalities) == 2).all())
    size = model.n_variables if binary else int(np.asarray(model.cardinalities).sum())
    columns, errors = np.zeros(size), np.zeros(size)
    settle(columns, errors, model, binary)
    none = np.empty((0, 2), np.int64)
    parts = {
        "marginals": Marginals(model, columns, binary, True),
        "errors": Errors("none: every variable is clamped", model, errors, binary, False),
        "best": Best(model, evidence.copy()),
        "functions": {},
        "log_scores": np.empty((settings.lanes, 0)),
        "log_score_passes": np.empty(0, np.int64),
        "settings": describe(model, settings),
        "stats": {
            "sweeps": 0,
            "updates": 0,
            "seconds": 0.0,
            "updates_per_second": 0.0,
            "stopped_by": "nothing free",
        },
        "pairs": Pairs(model, none, np.empty(0, np.int64)),
        "joint": None,
        "_kept": None,
    }
    return Run(model, parts, None)
