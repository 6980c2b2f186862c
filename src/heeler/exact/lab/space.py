"""The states of a small model, its distribution over them, and the matrix of one update."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heeler.exact.lab.limits import check_size
from heeler.model import Model

_BINARY_ONE = 2.0**32
_KARY_ONE = 2.0**30
# Rounding of a dense model's weights to whole steps moves a probability by the steps it adds up,
# half of one each, times the steepest slope of a sigmoid.
_SLOPE = 0.25


class Space:
    """The states that a small model makes possible, in order, the last variable fastest.

    Parameters
    ----------
    model
        The model; clamped variables keep their place in a state.
    temperature
        The distribution is p^(1/temperature).
    memory_limit
        Bytes that the list of states may take.
    """

    def __init__(self, model: Model, temperature: float, memory_limit: int) -> None:
        """List the states and their probabilities."""
        self.model = model
        self.temperature = temperature
        self.memory_limit = memory_limit
        cards = np.asarray(model.cardinalities)
        sizes = [int(cards[i]) for i in model.free]
        raw = math.prod(sizes)
        # A state takes a number a variable, its score and what computing the score takes.
        check_size("the list", raw, raw * (3 * model.n_variables + 32), memory_limit)
        states = np.zeros((raw, model.n_variables), np.uint8 if cards.max() <= 256 else np.uint16)
        if model.evidence is not None:
            states[:] = np.maximum(model.evidence, 0)
        number = np.arange(raw)
        for i, size in zip(model.free[::-1].tolist(), sizes[::-1], strict=True):
            states[:, i] = number % size
            number //= size
        score = np.atleast_1d(np.asarray(model.log_score(states), np.float64))
        possible = score > -np.inf
        if not possible.any():
            from heeler.model import NoStateFound

            raise NoStateFound("No state of the model has positive probability.")
        self.states = np.ascontiguousarray(states[possible])
        self.states.flags.writeable = False
        score = score[possible]
        weight = np.exp((score - score.max()) / temperature)
        self.target: NDArray[np.float64] = weight / weight.sum()
        self._stride = _strides(model, sizes)
        self._place = np.full(raw, -1, np.int64)
        self._place[np.flatnonzero(possible)] = np.arange(len(self.states))
        self._number = np.flatnonzero(possible)

    def __len__(self) -> int:
        """Count the states."""
        return len(self.states)

    def index(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """Find states in the list; -1 for those that are impossible.

        Parameters
        ----------
        states
            (m, n) values.

        Returns
        -------
        ndarray
            int64 (m,).
        """
        return self._place[states.astype(np.int64) @ self._stride]

    def conditionals(self, i: int, quantised: bool) -> tuple[NDArray[np.float64], float]:
        """Give P(x_i = v | the rest) in every state, and the unit that it was rounded to.

        Parameters
        ----------
        i
            The variable.
        quantised
            Whether to take the integers that the compiled loop compares its words with.

        Returns
        -------
        rows : ndarray
            (states, values).
        unit : float
            1 for exact ones.
        """
        if quantised:
            return quantised_conditionals(self.model, i, self.states, self.temperature)
        count = int(np.asarray(self.model.cardinalities)[i])
        log_weights = np.full((len(self), count), -np.inf)
        place = self.neighbours(i, count)
        known = place >= 0
        # The list holds every possible state, and so every possible value of a variable.
        log_target = np.log(self.target)
        log_weights[known] = log_target[place[known]]
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True), 1.0

    def update(self, i: int, rows: NDArray[np.float64]) -> csr_array:
        """Make the matrix of one update from the probabilities of its values.

        Parameters
        ----------
        i
            The variable.
        rows
            (states, values): what the update does in every state.

        Returns
        -------
        csr_array
            (states, states).
        """
        place = self.neighbours(i, rows.shape[1])
        start = np.broadcast_to(np.arange(len(self))[:, None], place.shape)
        kept = rows > 0
        if (place[kept] < 0).any():
            raise ArithmeticError("an update gives a positive probability to an impossible state")
        matrix = csr_array((rows[kept], (start[kept], place[kept])), shape=(len(self),) * 2)
        matrix.sum_duplicates()
        return matrix

    def neighbours(self, i: int, count: int) -> NDArray[np.int64]:
        """Find the states that differ at one variable.

        Parameters
        ----------
        i
            The variable.
        count
            Its number of values.

        Returns
        -------
        ndarray
            int64 (states, values), -1 where impossible.
        """
        stride = int(self._stride[i])
        values = np.arange(count)
        base = self._number - self.states[:, i].astype(np.int64) * stride
        if stride == 0:  # clamped, or with one value
            return np.broadcast_to(self._place[self._number][:, None], (len(self), count))
        return self._place[base[:, None] + values * stride]

    def tolerance(self, quantised: bool) -> float:
        """Say how far rounding may move the distribution in one update, in total.

        Parameters
        ----------
        quantised
            Whether updates use the compiled loop's integers.

        Returns
        -------
        float
            A bound on the sum over states.
        """
        cards = np.asarray(self.model.cardinalities)
        if not quantised:
            return 1e-14 * len(self)
        off = 1 / _BINARY_ONE if (cards == 2).all() else cards.max() / _KARY_ONE
        return 2 * (off + _SLOPE * self._steps() * (len(cards) + 1) / 2)

    def _steps(self) -> float:
        """Give the steps that dense models round their weights to, as log-odds."""
        if self.model.kind not in ("boltzmann", "rbm"):
            return 0.0
        from heeler.kernel.lowered import lower

        return lower(self.model, 1 / self.temperature, 1).unit / self.temperature

    @property
    def labels(self) -> Sequence[str]:
        """A short name of every state."""
        return Labels(self.model, self.states)


class Labels(Sequence[str]):
    """Names of states: digits where variables and values have no names, else ``a=yes, b=no``.

    Parameters
    ----------
    model
        Gives names.
    states
        (m, n) values.
    """

    def __init__(self, model: Model, states: NDArray[Any]) -> None:
        """Remember both; names are made when asked for."""
        self._states = states
        self._model = model
        names, values = model.names, model.value_names
        n = model.n_variables
        self._plain = int(np.max(model.cardinalities)) <= 10 and all(
            names[i] == str(i) and list(values[i]) == [str(v) for v in range(len(values[i]))]
            for i in range(n)
        )

    def __len__(self) -> int:
        """Count the states."""
        return len(self._states)

    def __getitem__(self, k: Any) -> Any:
        """Name one state, or several."""
        if isinstance(k, slice):
            return [self[j] for j in range(*k.indices(len(self)))]
        state = self._states[k].tolist()
        if self._plain:
            return "".join(map(str, state))
        names, values = self._model.names, self._model.value_names
        return ", ".join(f"{names[i]}={values[i][v]}" for i, v in enumerate(state))


def _strides(model: Model, sizes: list[int]) -> NDArray[np.int64]:
    """Give each variable's weight in a state's number; clamped ones have none."""
    stride: NDArray[np.int64] = np.zeros(model.n_variables, np.int64)
    step = 1
    for i, size in zip(model.free[::-1].tolist(), sizes[::-1], strict=True):
        stride[i] = step if size > 1 else 0
        step *= size
    return stride


def quantised_conditionals(
    model: Model, i: int, states: NDArray[Any], temperature: float
) -> tuple[NDArray[np.float64], float]:
    """Read the conditionals that compiled code uses off an engine whose chains are the states.

    After one update of every chain the Rao-Blackwell sums are the integers that random words are
    compared with.

    Parameters
    ----------
    model
        The model.
    i
        The variable.
    states
        (m, n) possible states.
    temperature
        The temperature.

    Returns
    -------
    rows : ndarray
        (m, values), whole multiples of 1 / unit.
    unit : float
        2^32 or 2^30.
    """
    from heeler.driver import Random
    from heeler.kernel.general import GeneralEngine
    from heeler.run.build import general_plan
    from heeler.run.settings import Settings
    from heeler.scan import Sequence as Order

    scan = Order(np.array([i]))
    settings = Settings(Random(), scan, None, len(states), 0, temperature=temperature)
    engine = GeneralEngine(general_plan(model, settings, states, None))
    engine.advance(1)
    sums = engine.sums()
    if engine.binary:
        return np.column_stack([1.0 - sums[:, i], sums[:, i]]), _BINARY_ONE
    first = int(engine.entry[i])
    count = int(np.asarray(model.cardinalities)[i])
    return sums[:, first : first + count], _KARY_ONE
