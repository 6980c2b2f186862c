"""What exact computations return: marginals and pair marginals, addressed by variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np


class Marginals:
    """Probabilities of each variable's values.

    ``m[v]`` takes a name or an index; ``m.array`` has one row per variable, short rows padded
    with NaN.

    Parameters
    ----------
    model : model
        Used to resolve names.
    array : (n, Kmax) float64
    """

    def __init__(self, model: Any, array: np.ndarray) -> None:
        array.setflags(write=False)
        self._model = model
        self.array = array

    def __getitem__(self, variable: int | str) -> np.ndarray:
        """Return the (K,) probabilities of one variable."""
        v = self._model.index(variable)
        return self.array[v, : int(self._model.cardinalities[v])]

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.array)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Iterate over the variables' probabilities in the order of the model."""
        return (self[v] for v in range(len(self)))

    def __repr__(self) -> str:
        """Show the first variables."""
        shown = [
            f"  {self._model.names[v]}: {np.array2string(self[v], precision=6)}"
            for v in range(min(len(self), 10))
        ]
        more = [f"  ... {len(self) - 10} more"] if len(self) > 10 else []
        return "\n".join([f"{type(self).__name__} of {len(self)} variables", *shown, *more])


class Pairs:
    """Joint probabilities of two variables: ``pairs[u, v]`` is a (K_u, K_v) array.

    Iterating gives the index pairs that were asked for; any other pair can be asked for too and is
    computed then (the calibrated tables are kept for that).

    Parameters
    ----------
    model : model
        Used to resolve names.
    listed : sequence of (int, int)
    compute : callable
        From two indices to the joint.
    """

    def __init__(
        self,
        model: Any,
        listed: Sequence[tuple[int, int]],
        compute: Callable[[int, int], np.ndarray],
    ) -> None:
        self._model = model
        self._compute = compute
        self._listed = list(listed)
        self._known: dict[tuple[int, int], np.ndarray] = {}
        # In order of first variables, long walks from one variable are shared.
        for u, v in sorted(self._listed):
            self._get(u, v)

    def _get(self, u: int, v: int) -> np.ndarray:
        joint = self._known.get((u, v))
        if joint is None:
            other = self._known.get((v, u))
            joint = self._compute(u, v) if other is None else other.T
            joint.setflags(write=False)
            self._known[u, v] = joint
        return joint

    def __getitem__(self, pair: tuple[int | str, int | str]) -> np.ndarray:
        """Return P(x_u, x_v) as a (K_u, K_v) array."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"pairs[u, v] needs two variables, got {pair!r}")
        return self._get(self._model.index(pair[0]), self._model.index(pair[1]))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Iterate over the pairs asked for."""
        return iter(self._listed)

    def __len__(self) -> int:
        """Return the number of pairs asked for."""
        return len(self._listed)

    def __repr__(self) -> str:
        """Say how many pairs there are."""
        return f"Pairs({len(self)} pairs of {self._model.n_variables} variables)"
