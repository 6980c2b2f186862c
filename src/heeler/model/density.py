"""A user's log density: continuous variables, and discrete ones beside them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.check import as_finite, frozen, shown
from heeler.model.names import as_names, resolve

MOST_VARIABLES = 1 << 20
MOST_VALUES = 1 << 16


class Density:
    """An unnormalised distribution given by the logarithm of its density.

    Variables are real numbers; some may be discrete, with values 0 to K - 1 (stored as floats).

    Parameters
    ----------
    logp
        Function of a float64 array (dim,) that gives the log density up to a constant, -inf outside
        the support. A plain Python function works; one that Numba compiled (``numba.njit``) runs at
        compiled speed and on several threads; it must not write to its argument.
    dim
        Number of variables.
    discrete
        Variable -> number of values, for the discrete ones; None for none.
    names
        Names of the variables; None gives ``"0"``, ``"1"``, ...
    start
        A state inside the support (dim,) that chains start from; None stands for zeros.
    """

    kind: ClassVar[str] = "density"
    evidence: ClassVar[None] = None
    has_zeros: ClassVar[bool] = False

    def __init__(
        self,
        logp: Callable[[NDArray[np.float64]], float],
        dim: int,
        *,
        discrete: Mapping[Any, int] | None = None,
        names: Sequence[str] | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        """Check everything that can be checked without calling the function."""
        if not callable(logp):
            raise TypeError(
                f"The 'logp' parameter must be a function of a state. Got {shown(logp)} instead."
            )
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
            raise TypeError(f"The 'dim' parameter must be a whole number. Got {dim!r} instead.")
        if not 1 <= dim <= MOST_VARIABLES:
            raise ValueError(
                f"The 'dim' parameter must be from 1 to {MOST_VARIABLES}. Got {dim} instead."
            )
        self.logp = logp
        self.n_variables = int(dim)
        self.names = as_names(names, self.n_variables)
        self.values = self._discrete(discrete)
        self.start = self._started(start)
        self._address: Any = None

    def _discrete(self, discrete: Any) -> NDArray[np.int64]:
        """Check the numbers of values; 0 stands for a continuous variable."""
        values = np.zeros(self.n_variables, np.int64)
        if discrete is not None and not isinstance(discrete, Mapping):
            raise TypeError(
                "The 'discrete' parameter must map variables to numbers of values. "
                f"Got {shown(discrete)} instead."
            )
        for variable, count in (discrete or {}).items():
            whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
            if not whole or not 1 <= count <= MOST_VALUES:
                raise ValueError(
                    "The 'discrete' parameter must hold whole numbers of values from 1 to "
                    f"{MOST_VALUES}. Got {shown(count)} for variable {variable!r}."
                )
            values[self.index(variable)] = count
        return frozen(values)

    def _started(self, start: Any) -> NDArray[np.float64]:
        """Check the first state."""
        if start is None:
            return frozen(np.zeros(self.n_variables))
        array = as_finite(start, "start")
        if array.shape != (self.n_variables,):
            raise ValueError(
                f"The 'start' parameter must have shape ({self.n_variables},). "
                f"Got {array.shape} instead."
            )
        self.check(array[None], "start")
        return frozen(np.array(array))

    def check(self, states: NDArray[np.float64], name: str) -> None:
        """Check that discrete variables have values of theirs, and that all numbers are finite.

        Parameters
        ----------
        states
            (m, dim).
        name
            What to call them in an error.
        """
        discrete = np.flatnonzero(self.values)
        part = states[:, discrete]
        bad = (part < 0) | (part >= self.values[discrete]) | (part != np.floor(part))
        if not np.isfinite(states).all() or bad.any():
            row = int(np.flatnonzero(bad.any(axis=1) | ~np.isfinite(states).all(axis=1))[0])
            raise ValueError(
                f"The {name!r} parameter must hold finite numbers, and values from 0 to K - 1 of "
                f"discrete variables. Got {np.array2string(states[row], threshold=10)}."
            )

    @property
    def free(self) -> NDArray[np.int64]:
        """The indices of the variables: none is clamped."""
        return np.arange(self.n_variables)

    @property
    def columns(self) -> NDArray[np.int64]:
        """How many averages each variable has: of x and x^2, and of a discrete one's values."""
        return 2 + self.values

    @property
    def digest(self) -> str:
        """The sha256 of what is known of the density; its function is not part of it."""
        digest = hashlib.sha256(f"heeler density 1 {self.n_variables}\n".encode())
        digest.update(self.values.astype("<i8").tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        """Show the sizes in one line."""
        name = getattr(self.logp, "__name__", type(self.logp).__name__)
        discrete = int((self.values > 0).sum())
        more = f", {discrete} of them discrete" if discrete else ""
        return f"Density({name}, {self.n_variables} variables{more})"

    def index(self, variable: Any) -> int:
        """Find the index of a variable.

        Parameters
        ----------
        variable
            Its name or its index.

        Returns
        -------
        int
            The index, from 0.
        """
        return resolve(variable, self.names, None, "variable")

    def log_score(self, state: ArrayLike) -> Any:
        """Compute the log density of a state or of several.

        Parameters
        ----------
        state
            (dim,) or (m, dim).

        Returns
        -------
        float or ndarray
            One number, or float64 of shape (m,).
        """
        states = np.asarray(state, np.float64)
        if states.ndim not in (1, 2) or states.shape[-1] != self.n_variables:
            raise ValueError(
                f"The 'state' parameter must have shape ({self.n_variables},) or "
                f"(m, {self.n_variables}). Got {states.shape} instead."
            )
        rows = np.ascontiguousarray(np.atleast_2d(states))
        scores = np.array([self._value(row.copy()) for row in rows])
        return float(scores[0]) if states.ndim == 1 else scores

    def _value(self, x: NDArray[np.float64]) -> float:
        """Call the function, and check what it gives."""
        answer = self.logp(x)
        try:
            value = float(answer)
        except (TypeError, ValueError):
            raise TypeError(
                f"The log density 'logp' must give a number. Got {shown(answer)} instead."
            ) from None
        if np.isnan(value) or value == np.inf:
            raise ValueError(
                "The log density 'logp' must be a number, or -inf outside the support. Got "
                f"{value} at x = {np.array2string(x, threshold=10)}."
            )
        return value

    def address(self) -> Any:
        """Give the function as compiled loops call it; made when first needed."""
        if self._address is None:
            from heeler.compiled.callables import density_of

            self._address = density_of(self.logp, self.n_variables)
        return self._address
