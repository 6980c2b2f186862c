"""Runs of one model with one setting, and their errors at several numbers of sweeps."""

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import heeler


@dataclass(frozen=True)
class Setting:
    """How a model is sampled.

    Attributes
    ----------
    driver
        "random", "herded" or "quasi".
    context
        Of herding.
    scan
        The order of updates.
    start
        First weights of herding: "half", or "random" ones.
    """

    driver: str
    context: str | None = None
    scan: str = "systematic"
    start: str = "half"

    @property
    def label(self) -> str:
        """The name of a row of a table."""
        words = "herded " + self.context if self.context else self.driver
        if self.start == "random":
            words += ", random weights"
        return words if self.scan == "systematic" else f"{words}, {self.scan} scan"


RANDOM = Setting("random")
QUASI = Setting("quasi")
CONTEXTS = ("neighbours", "shared", "binned(4)", "binned(16)", "binned(64)", "radius(2)", "full")
HERDED = {context: Setting("herded", context) for context in CONTEXTS}

# A quasi run takes a whole period: the power of two nearest to a decade, from 2^8 on.
PERIODS = {100: 2**8, 1_000: 2**10, 10_000: 2**13, 100_000: 2**17, 1_000_000: 2**20}


@dataclass(frozen=True)
class Target:
    """Exact answers of a model.

    Attributes
    ----------
    marginals
        (n, K), short rows padded with NaN.
    pairs
        Edge -> table, or None.
    joint
        Probabilities of all states, or None.
    """

    marginals: np.ndarray
    pairs: dict[tuple[int, int], np.ndarray] | None = None
    joint: np.ndarray | None = None


def target_of(model: heeler.Model, keep: tuple[str, ...] = ()) -> Target:
    """Compute the exact answers of a model.

    Parameters
    ----------
    model
        The model.
    keep
        "pairs" and "joint" ask for those too.

    Returns
    -------
    Target
        The answers.
    """
    exact = heeler.exact
    pairs = None
    if "pairs" in keep:
        pointer, index = model.adjacency()
        row = np.repeat(np.arange(model.n_variables), np.diff(pointer))
        edges = [(int(u), int(v)) for u, v in zip(row, index, strict=True) if u < v]
        tables = exact.pairs(model, edges)
        pairs = {edge: tables[edge] for edge in edges}
    joint = exact.enumerate(model) if "joint" in keep else None
    return Target(exact.marginals(model).array, pairs, joint)


def curve(
    model: heeler.Model,
    target: Target,
    setting: Setting,
    sweeps: tuple[int, ...],
    *,
    seed: int = 1,
    burn_in: int = 0,
) -> list[dict[str, float]]:
    """Run a model and look at the errors on the way.

    Parameters
    ----------
    model
        The model.
    target
        Its exact answers; pairs and joint are kept where they are known.
    setting
        How to sample.
    sweeps
        When to look, in growing order.
    seed
        Seed of the run: first state, random words, and random first weights of herding.
    burn_in
        Sweeps before averages begin.

    Returns
    -------
    list of dict
        For each number of sweeps: "sweeps", "seconds", and the errors that `errors` gives.
    """
    names = {"pairs": target.pairs, "joint": target.joint}
    driver: Any = setting.driver
    if driver == "herded":
        driver = heeler.driver.Herded(start=setting.start)
    options: dict[str, Any] = {
        "driver": driver,
        "scan": setting.scan,
        "chains": 1,
        "seed": seed,
        "burn_in": burn_in,
        "threads": 1,
        "progress": False,
        "keep": [name for name, value in names.items() if value is not None] or None,
    }
    if setting.context:
        options["context"] = setting.context
    out = []
    run = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of herding with a random scan: that is what is measured
        for count in sweeps:
            if setting.driver == "quasi":
                run = heeler.sample(model, sweeps=PERIODS.get(count, count), **options)
            elif run is None:
                run = heeler.sample(model, sweeps=count, **options)
            else:
                run = run.resume(sweeps=count - run.stats["sweeps"], progress=False)
            seen = {name: run.stats[name] for name in ("sweeps", "seconds")}
            out.append(seen | errors(run, target))
    return out


def total_variation(estimate: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Half the summed absolute difference along the last axis, NaN padding left out."""
    return 0.5 * np.nansum(np.abs(estimate - exact), axis=-1)


def errors(run: heeler.Run, target: Target) -> dict[str, float]:
    """Measure a run against the exact answers.

    Parameters
    ----------
    run
        The run.
    target
        The answers.

    Returns
    -------
    dict
        "site": mean total variation of the free variables' marginals, Rao-Blackwellised;
        "plain": the same from counted states; "pair": mean error of P(x_u = x_v) over edges;
        "joint": total variation of the joint.
    """
    free = run.model.free
    estimate = run.marginals.array[free]
    out = {"site": float(total_variation(estimate, target.marginals[free]).mean())}
    if target.joint is not None:
        out["joint"] = float(total_variation(run.joint.ravel(), target.joint.ravel()))
        axes = range(run.joint.ndim)
        counted = [run.joint.sum(axis=tuple(a for a in axes if a != i)) for i in axes]
        exact = [row[: len(c)] for row, c in zip(target.marginals, counted, strict=True)]
        out["plain"] = float(np.mean(list(map(total_variation, counted, exact))))
    if target.pairs is not None:
        gaps = [np.trace(run.pairs[e]) - np.trace(table) for e, table in target.pairs.items()]
        out["pair"] = float(np.mean(np.abs(gaps)))
        if "plain" not in out:
            counted = {}
            for u, v in target.pairs:
                counted[u], counted[v] = run.pairs[u, v].sum(axis=1), run.pairs[u, v].sum(axis=0)
            gaps = [total_variation(c, target.marginals[i][: len(c)]) for i, c in counted.items()]
            out["plain"] = float(np.mean(gaps))
    return out


def summarise(curves: list[list[dict[str, float]]]) -> dict[str, list[float]]:
    """Take medians over instances.

    Parameters
    ----------
    curves
        One list per instance, as `curve` gives them.

    Returns
    -------
    dict
        Name -> medians at the numbers of sweeps; "site low" and "site high" are quartiles.
    """
    names = list(curves[0][0])
    stack = {name: np.array([[row[name] for row in c] for c in curves]) for name in names}
    out = {name: np.median(values, axis=0).tolist() for name, values in stack.items()}
    out["sweeps"] = [int(count) for count in out["sweeps"]]
    for name, share in (("site low", 0.25), ("site high", 0.75)):
        out[name] = np.quantile(stack["site"], share, axis=0).tolist()
    out["instances"] = [len(curves)]
    return out


def slope(sweeps: list[float], values: list[float], least: float = 1_000) -> float:
    """Fit the power of the number of sweeps by which an error falls.

    Parameters
    ----------
    sweeps, values
        A curve.
    least
        Sweeps from which to fit.

    Returns
    -------
    float
        The slope of log error against log sweeps: -0.5 for independent noise, -1 at best.
    """
    kept = [(t, v) for t, v in zip(sweeps, values, strict=True) if t >= least and v > 0]
    if len(kept) < 2:
        return float("nan")
    logs = np.log(np.array(kept))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


class Clock:
    """Say how long the parts of a study take.

    Attributes
    ----------
    spent
        Seconds so far.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the clock was made."""
        return time.perf_counter() - self._start


def as_row(setting: Setting) -> dict[str, Any]:
    """Describe a setting in a record."""
    return {"label": setting.label} | asdict(setting)
