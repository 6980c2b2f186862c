"""Kernels for a user's log density: random walk, global proposals, slices."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import as_finite, shown
from heeler.run.settings import Settings
from heeler.run.step import Kernel


class OnDensity(Kernel):
    """What the kernels for log densities have in common: some of the continuous variables move.

    `variables` are names or indices; None stands for all continuous ones.
    """

    variables: Any

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            A `heeler.Density`.
        settings
            Chains, seed, temperature, burn-in.
        states
            First states (lanes, dim).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        del sweeps
        chosen = self._chosen(model)
        kind, options = self._move(len(chosen), settings.burn_in)
        return make_engine(model, settings, states, kind, chosen, **options)

    def _move(self, count: int, burn_in: int) -> tuple[int, dict[str, Any]]:
        """Give the number of the move, and the engine's options for so many variables."""
        raise NotImplementedError(f"{type(self).__name__} must define _move")

    def _chosen(self, model: Any) -> NDArray[np.int64]:
        """Resolve the variables."""
        if getattr(model, "kind", None) != "density":
            raise ValueError(
                f"The kernel {self.name!r} is for a heeler.Density. Got {model!r} instead."
            )
        if self.variables is None:
            chosen = np.flatnonzero(model.values == 0)
        else:
            chosen = np.array([model.index(v) for v in self.variables], np.int64)
        if len(chosen) == 0:
            raise ValueError(f"The kernel {self.name!r} has no continuous variable to move.")
        if len(set(chosen.tolist())) < len(chosen):
            raise ValueError(
                f"The 'variables' parameter must name variables once. Got {shown(self.variables)}."
            )
        discrete = np.flatnonzero(model.values[chosen])
        if len(discrete):
            raise ValueError(
                f"The kernel {self.name!r} moves continuous variables. Got "
                f"{model.names[int(chosen[discrete[0]])]!r}, which is discrete."
            )
        return chosen

    def _words(self) -> dict[str, Any]:
        """Describe the fields that all have."""
        variables = self.variables
        if variables is not None:
            variables = [v if isinstance(v, str) else int(v) for v in variables]
        return {"name": self.name, "variables": variables}


def _as_variables(kernel: Any) -> None:
    """Check and freeze a kernel's list of variables."""
    variables = kernel.variables
    if variables is None:
        return
    if isinstance(variables, (str, int, np.integer)):
        variables = [variables]
    try:
        object.__setattr__(kernel, "variables", tuple(variables))
    except TypeError:
        raise TypeError(
            "The 'variables' parameter must be names or indices of variables. "
            f"Got {shown(variables)} instead."
        ) from None


def _as_steps(kernel: Any, field: str) -> None:
    """Check and freeze a step: None, a positive number, or one for each variable."""
    step = getattr(kernel, field)
    if step is None:
        return
    array = as_finite(step, field)
    if array.ndim > 1 or array.size == 0 or not (array > 0).all():
        raise ValueError(
            f"The {field!r} parameter must be a positive number or one for each variable. "
            f"Got {shown(step)} instead."
        )
    value = float(array) if array.ndim == 0 else tuple(array.tolist())
    object.__setattr__(kernel, field, value)


def _steps_of(step: Any, count: int, field: str, default: float) -> NDArray[np.float64]:
    """Give one step for each variable."""
    if step is not None and np.ndim(step) == 1 and len(step) != count:
        raise ValueError(
            f"The {field!r} parameter must be one number or {count} of them, one for each variable "
            f"that moves. Got {len(step)} instead."
        )
    return np.broadcast_to(np.float64(default) if step is None else np.asarray(step), (count,))


@dataclass(frozen=True)
class Walk(OnDensity):
    """A Gaussian random walk, all variables together: Metropolis on a log density.

    A pass is one proposal x + step * N(0, 1), accepted with probability min(1, f(new) / f(old)).
    Where steps are adapted (during burn-in only, each chain by itself) they become 2.38 / sqrt(d)
    standard deviations of each variable, then whatever gives the acceptance rate that is aimed at.
    Leaves p invariant once the burn-in is over, in detailed balance; one evaluation a pass.

    Parameters
    ----------
    step
        Standard deviation of the proposals: one number or one for each variable. None starts from
        2.38 / sqrt(d) and adapts.
    variables
        Which variables move, names or indices; None moves all continuous ones.
    adapt
        Whether steps are adapted during burn-in; None adapts where no step is given.
    acceptance
        The rate aimed at; None stands for 0.44 in one dimension, falling to 0.234 in many.
    """

    name: ClassVar[str] = "walk"
    step: Any = None
    variables: Any = None
    adapt: bool | None = None
    acceptance: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _as_variables(self)
        _as_steps(self, "step")
        rate = self.acceptance
        if rate is not None and not (isinstance(rate, (int, float)) and 0 < rate < 1):
            raise ValueError(
                f"The 'acceptance' parameter must lie between 0 and 1. Got {rate!r} instead."
            )

    def _move(self, count: int, burn_in: int) -> tuple[int, dict[str, Any]]:
        """Give the steps, and whether and to what they are adapted."""
        from heeler.kernel.density_engine import WALK

        adapt = self.step is None if self.adapt is None else self.adapt
        target = 0.234 + 0.206 / count if self.acceptance is None else self.acceptance
        steps = _steps_of(self.step, count, "step", 2.38 / np.sqrt(count))
        return WALK, {"steps": steps, "adapt": adapt and burn_in > 0, "target": target}

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        step = list(self.step) if isinstance(self.step, tuple) else self.step
        return self._words() | {
            "step": step, "adapt": self.adapt, "acceptance": self.acceptance,
        }  # fmt: skip

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Walk":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Walk
            The kernel.
        """
        return Walk(words["step"], words["variables"], words["adapt"], words["acceptance"])


@dataclass(frozen=True)
class Slice(OnDensity):
    """Slice sampling, one variable after the other: no step to choose, nothing is rejected.

    A pass updates every variable: a height under the density, an interval that steps out to both
    sides, points in it until one is under the curve (Neal 2003, stepping out and shrinkage).
    Leaves p invariant; about five evaluations a variable.

    Parameters
    ----------
    width
        First width of the interval: one number or one for each variable. None starts from 1 and
        adapts to the variables' spreads during burn-in.
    variables
        Which variables move, names or indices; None moves all continuous ones.
    adapt
        Whether widths are adapted during burn-in; None adapts where no width is given.

    References
    ----------
    R. M. Neal, "Slice sampling", Annals of Statistics 31, 2003.
    """

    name: ClassVar[str] = "slice"
    width: Any = None
    variables: Any = None
    adapt: bool | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _as_variables(self)
        _as_steps(self, "width")

    def _move(self, count: int, burn_in: int) -> tuple[int, dict[str, Any]]:
        """Give the first widths, and whether they are adapted."""
        from heeler.kernel.density_engine import SLICE

        adapt = self.width is None if self.adapt is None else self.adapt
        steps = _steps_of(self.width, count, "width", 1.0)
        return SLICE, {"steps": steps, "adapt": adapt and burn_in > 0}

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        width = list(self.width) if isinstance(self.width, tuple) else self.width
        return self._words() | {"width": width, "adapt": self.adapt}

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Slice":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Slice
            The kernel.
        """
        return Slice(words["width"], words["variables"], words["adapt"])


@dataclass(frozen=True)
class Global(OnDensity):
    """Proposals from one Gaussian, wherever the chain is: the independence sampler.

    A pass is one proposal y ~ q = N(mean, covariance), accepted with probability
    min(1, f(y) q(x) / (f(x) q(y))). Reaches separate modes that a walk does not; works where q
    covers p, and in few dimensions. Leaves p invariant, in detailed balance; one evaluation a pass.
    For another q write a `Proposal`.

    Parameters
    ----------
    mean
        One number or one for each variable.
    covariance
        A variance, one for each variable, or a positive definite matrix.
    variables
        Which variables move, names or indices; None moves all continuous ones.
    """

    name: ClassVar[str] = "global"
    mean: Any = 0.0
    covariance: Any = 1.0
    variables: Any = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _as_variables(self)
        mean = as_finite(self.mean, "mean")
        covariance = as_finite(self.covariance, "covariance")
        if mean.ndim > 1 or covariance.ndim > 2:
            raise ValueError(
                "The 'mean' parameter must be a number or one for each variable, 'covariance' a "
                f"number, one for each variable or a matrix. Got shapes {mean.shape} and "
                f"{covariance.shape}."
            )
        object.__setattr__(self, "mean", mean.tolist())
        object.__setattr__(self, "covariance", covariance.tolist())
        if covariance.ndim < 2 and not (covariance > 0).all():
            raise ValueError(
                f"The 'covariance' parameter must be positive. Got {shown(self.covariance)}."
            )

    def _move(self, count: int, burn_in: int) -> tuple[int, dict[str, Any]]:
        """Give the centre, and the root of the covariance."""
        del burn_in
        from heeler.kernel.density_engine import GLOBAL

        mean, covariance = np.asarray(self.mean), np.asarray(self.covariance)
        if mean.shape not in ((), (count,)) or covariance.shape not in (
            (),
            (count,),
            (count, count),
        ):
            raise ValueError(
                f"The 'mean' and 'covariance' parameters must fit the {count} variables that move. "
                f"Got shapes {mean.shape} and {covariance.shape}."
            )
        if covariance.ndim < 2:
            covariance = np.diag(np.broadcast_to(covariance, (count,)))
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            root = np.full((count, count), np.nan)
        if not np.isfinite(root).all() or not np.allclose(covariance, covariance.T):
            raise ValueError(
                "The 'covariance' parameter must be a symmetric positive definite matrix."
            )
        return GLOBAL, {"centre": np.broadcast_to(mean, (count,)), "root": root}

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        return self._words() | {"mean": self.mean, "covariance": self.covariance}

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Global":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Global
            The kernel.
        """
        return Global(words["mean"], words["covariance"], words["variables"])


def make_engine(
    model: Any,
    settings: Settings,
    states: NDArray[Any],
    kind: int,
    variables: NDArray[np.int64],
    **more: Any,
) -> Any:
    """Make the engine of a move on a log density.

    Parameters
    ----------
    model
        The density.
    settings
        Seed and temperature.
    states
        First states (lanes, dim).
    kind
        The move's number.
    variables
        Which variables move.
    **more
        As `DensityEngine` takes it.

    Returns
    -------
    DensityEngine
        Running chains.
    """
    from heeler.kernel.density_engine import DensityEngine

    states = np.asarray(states, np.float64)
    scores = np.atleast_1d(model.log_score(states))
    return DensityEngine(
        model, kind, variables, states, scores, settings.betas, settings.seed, **more
    )


def default_kernel(model: Any, name: str | None) -> Kernel:
    """Choose the kernel of a density by a name.

    Parameters
    ----------
    model
        The density.
    name
        ``"slice"`` or None, ``"metropolis"``, ``"walk"``, ``"gibbs"``.

    Returns
    -------
    Kernel
        Its part for the continuous variables, and one for the discrete ones.
    """
    from heeler.run.kernels.composite import Cycle
    from heeler.run.kernels.single_site import SingleSite

    discrete = bool((model.values > 0).any())
    continuous = bool((model.values == 0).any())
    if name == "gibbs" and continuous:
        raise ValueError(
            "The 'kernel' parameter 'gibbs' needs the conditionals of continuous variables: use "
            "heeler.Conditionals({variable: draw}), kernel='slice' or kernel='metropolis'."
        )
    if name not in (None, "slice", "metropolis", "walk", "gibbs"):
        raise ValueError(
            "The 'kernel' parameter for a density must be 'slice', 'metropolis', 'walk', 'gibbs' "
            f"or a kernel. Got {name!r} instead."
        )
    walks = name in ("metropolis", "walk")
    parts: list[Kernel] = []
    if continuous:
        parts.append(Walk() if walks else Slice())
    if discrete:
        parts.append(SingleSite("metropolis" if walks else "gibbs"))
    return parts[0] if len(parts) == 1 else Cycle(parts)
