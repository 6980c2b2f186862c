"""What a run was asked to do: checked once, kept with the result, enough to do it again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Driver
from heeler.model.base import Model
from heeler.scan import Scan

_KEEP = ("best", "functions", "joint", "marginals", "pairs", "samples", "trace")
MOST_JOINT_STATES = 1 << 20
MIN_TEMPERATURE = 1e-300  # one over it is finite


@dataclass(frozen=True)
class Keep:
    """What a run keeps beyond marginals, best state and score trace.

    Attributes
    ----------
    samples
        Whether every thin-th state is kept.
    pairs
        Pairs of variables whose joint marginals are counted, (pairs, 2).
    joint
        Whether whole states are counted (small models).
    functions
        Name -> function of a batch of states (lanes, n) giving (lanes,) or (lanes, d).
    """

    samples: bool = False
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    joint: bool = False
    functions: Mapping[str, Callable[[NDArray], Any]] = field(default_factory=dict)


NOTHING_MORE = Keep()


def as_keep(keep: Any, model: Model) -> Keep:
    """Read the 'keep' parameter.

    Parameters
    ----------
    keep
        None, a name, several names, or a mapping from names to settings: ``"samples"``,
        ``"pairs"`` (``"edges"`` or pairs of variables), ``"joint"``, ``"functions"`` (name ->
        function).
    model
        The model.

    Returns
    -------
    Keep
        What is kept.
    """
    if keep is None:
        return NOTHING_MORE
    if isinstance(keep, str):
        keep = {keep: True}
    elif not isinstance(keep, Mapping):
        try:
            keep = dict.fromkeys(keep, True)
        except TypeError:
            raise TypeError(
                f"The 'keep' parameter must be a name, several names or a mapping. Got {keep!r} "
                "instead."
            ) from None
    unknown = set(keep) - set(_KEEP)
    if unknown:
        raise ValueError(
            f"The 'keep' parameter must name some of {', '.join(_KEEP)}. Got {sorted(unknown)!r} "
            "instead."
        )
    functions = keep.get("functions") or {}
    if not isinstance(functions, Mapping) or not all(callable(f) for f in functions.values()):
        raise TypeError(
            "The 'functions' of the 'keep' parameter must map names to functions of a batch of "
            f"states (lanes, n). Got {functions!r} instead."
        )
    if model.kind == "density" and (keep.get("pairs") or keep.get("joint")):
        raise ValueError(
            "The 'keep' parameter cannot be 'pairs' or 'joint' on a density. Use "
            "keep={'functions': ...} or keep='samples'."
        )
    return Keep(
        bool(keep.get("samples")),
        _pairs(keep.get("pairs"), model),
        _joint(keep, model),
        dict(functions),
    )


def _pairs(wanted: Any, model: Model) -> NDArray[np.int64]:
    """Resolve the pairs to count; a pair is counted once, in the order asked for."""
    if wanted is None or wanted is False:
        return np.empty((0, 2), np.int64)
    if wanted is True or (isinstance(wanted, str) and wanted == "edges"):
        pointer, index = model.adjacency()
        row = np.repeat(np.arange(model.n_variables), np.diff(pointer))
        return np.column_stack([row, index])[row < index].astype(np.int64)
    try:
        pairs = np.array([[model.index(u), model.index(v)] for u, v in wanted], np.int64).reshape(
            -1, 2
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            "The 'pairs' of the 'keep' parameter must be 'edges' or a list of pairs of variables: "
            f"{error}"
        ) from None
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(
            "The 'pairs' of the 'keep' parameter must be pairs of two different variables."
        )
    return pairs


def _joint(keep: Mapping[str, Any], model: Model) -> bool:
    """Check that the joint histogram is affordable."""
    if not keep.get("joint"):
        return False
    states = float(np.prod(np.asarray(model.cardinalities, np.float64)))
    if states > MOST_JOINT_STATES:
        raise ValueError(
            f"The joint histogram needs a model of at most {MOST_JOINT_STATES} states. This one "
            f"has {states:.3g}: keep pairs or functions instead."
        )
    return True


@dataclass(frozen=True)
class Settings:
    """Everything that determines a run.

    Attributes
    ----------
    driver, scan
        As resolved, not "auto".
    context
        Name of the herding context, or None.
    lanes
        Chains.
    seed
        The seed.
    burn_in, thin
        Passes before averages begin; passes between kept states.
    temperature
        A number, or an array of one temperature a pass whose last holds from there on.
    restart
        Whether every pass starts from the first state.
    keep
        What is kept.
    chosen
        What "auto" stood for.
    kernel
        A kernel that is more than single-site updates, or None; driver, scan and context then say
        nothing.
    clock
        (first pass, count) -> inverse temperatures, for a kernel inside another one, whose passes
        the other counts; None for a kernel that runs by itself.
    """

    driver: Driver
    scan: Scan
    context: str | None
    lanes: int
    seed: int
    burn_in: int = 0
    thin: int = 1
    temperature: float | NDArray[np.float64] = 1.0
    restart: bool = False
    keep: Keep = NOTHING_MORE
    chosen: tuple[str, ...] = ()
    kernel: Any = None
    clock: Callable[[int, int], NDArray[np.float64]] | None = None

    @property
    def chance(self) -> str:
        """What the spread of chains means: "random", "quasi", "herded" or "greedy"."""
        return self.driver.chance if self.kernel is None else self.kernel.chance

    def betas(self, first: int, count: int) -> NDArray[np.float64]:
        """Give the inverse temperatures of some passes.

        Parameters
        ----------
        first
            Number of the first pass.
        count
            How many.

        Returns
        -------
        ndarray
            float64 (count,).
        """
        if self.clock is not None:
            return self.clock(first, count)
        if isinstance(self.temperature, np.ndarray):
            at = np.minimum(np.arange(first, first + count), len(self.temperature) - 1)
            return 1.0 / self.temperature[at]
        return np.full(count, 1.0 / self.temperature)

    @property
    def beta(self) -> float | None:
        """The one inverse temperature, or None when it varies."""
        return None if isinstance(self.temperature, np.ndarray) else 1.0 / self.temperature


def as_temperature(temperature: Any, sweeps: int | None) -> float | NDArray[np.float64]:
    """Read the 'temperature' parameter.

    Parameters
    ----------
    temperature
        A positive number, a sequence of one a pass, or a function of the pass's number.
    sweeps
        Passes of the run; a function needs it.

    Returns
    -------
    float or ndarray
        One temperature, or one a pass.
    """
    if type(temperature) is float and MIN_TEMPERATURE < temperature < np.inf:
        return temperature  # what nearly every run has, without the price of an array
    if callable(temperature):
        if sweeps is None:
            raise ValueError(
                "A function as 'temperature' needs 'sweeps': give the number of passes."
            )
        temperature = [temperature(k) for k in range(sweeps)]
    try:
        array = np.asarray(temperature, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    with np.errstate(divide="ignore", over="ignore"):
        fine = np.isfinite(array) & np.isfinite(1.0 / array) & (array > 0)
    if array.ndim > 1 or array.size == 0 or not fine.all():
        raise ValueError(
            "The 'temperature' parameter must be a positive number, one a pass, or a function of "
            f"the pass. Got {temperature!r} instead."
        )
    return float(array) if array.ndim == 0 else array
