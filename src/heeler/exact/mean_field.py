"""Naive mean field: the product distribution closest to the model, by fixed-point iteration."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.exact.expected import Engine, LatticeEngine, PairEngine, TableEngine
from heeler.exact.result import Marginals
from heeler.model.base import Model
from heeler.model.ising import Ising
from heeler.model.lattice import Lattice
from heeler.model.potts import Potts


class MeanField(Marginals):
    """Mean-field marginals: ``m[v]``, ``m.array``, and how the iteration ended.

    Attributes
    ----------
    converged : bool
        Whether the last sweep wanted to move no probability by more than the tolerance.
    sweeps : int
        Sweeps done.
    change : float
        The largest move that the last sweep wanted to make, before damping.
    """

    def __init__(
        self, model: Any, array: NDArray[np.float64], sweeps: int, change: float, converged: bool
    ) -> None:
        super().__init__(model, array)
        self.sweeps = sweeps
        self.change = change
        self.converged = converged


def mean_field(
    model: Model,
    damping: float = 1.0,
    sweeps: int = 1000,
    *,
    order: str = "sequential",
    tolerance: float = 1e-8,
    start: ArrayLike | None = None,
    floor: float | None = None,
) -> MeanField:
    """Approximate the marginals by the product distribution that mean field settles in.

    A variable's belief moves to q <- (1 - D) q + D exp(E[log f(x)]) / Z, the expectation over the
    beliefs of all others.

    Parameters
    ----------
    model
        Any model.
    damping
        The damping factor D of the herded Gibbs paper, in (0, 1]: 1 is undamped.
    sweeps
        At most that many updates of every variable.
    order
        ``"sequential"``: one set of variables without common factors after the other (on lattices
        the colours of a chessboard), which is updating one by one in that order; ``"parallel"``:
        all at once from the old beliefs, which may oscillate without damping.
    tolerance
        Stop when no belief would move further than this.
    start
        First beliefs, (n, largest cardinality); by default each variable follows its own factors
        alone.
    floor
        A log weight that stands for a zero, for instance -50. By default a zero is a zero: a value
        that has weight zero under any state of positive belief is excluded.

    Returns
    -------
    MeanField
        ``m[v]``, ``m.array``, ``m.converged``, ``m.sweeps``.

    References
    ----------
    Bornn, Chen, de Freitas, Eskelin, Fang, Welling: Herded Gibbs sampling, 2013, section 4.2.
    """
    check_numbers(damping, sweeps, tolerance, floor)
    if order not in ("sequential", "parallel"):
        raise ValueError(
            f"The 'order' parameter must be 'sequential' or 'parallel'. Got {order!r} instead."
        )
    if not isinstance(model, Model):
        raise TypeError(
            f"The 'model' parameter must be a model. Got {type(model).__name__} instead."
        )
    engine, first = engine_of(model, floor)
    beliefs = first_beliefs(model, first, start)
    free = model.free
    done, change = 0, 0.0
    if free.size:
        change = np.inf
        while done < sweeps and change > tolerance:
            change = 0.0
            for number in range(len(engine.groups)) if order == "sequential" else (None,):
                members = free if number is None else engine.groups[number]
                wanted = softmax(engine.weights(number, beliefs), members, model)
                move = wanted - beliefs[members]
                change = max(change, float(np.abs(move).max(initial=0.0)))
                # Whole steps are taken as such: no rounding brings back an excluded value.
                beliefs[members] = wanted if damping == 1 else beliefs[members] + damping * move
            done += 1
    width = beliefs.shape[1]
    beliefs[np.arange(width) >= np.asarray(model.cardinalities)[:, None]] = np.nan
    return MeanField(model, beliefs, done, change, change <= tolerance)


def check_numbers(damping: Any, sweeps: Any, tolerance: Any, floor: Any) -> None:
    """Refuse settings that make no sense."""
    for name, value in (("damping", damping), ("tolerance", tolerance), ("floor", floor)):
        if value is None and name == "floor":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise TypeError(f"The {name!r} parameter must be a number. Got {value!r} instead.")
    if not 0 < damping <= 1:
        raise ValueError(
            "The 'damping' parameter must be above 0 and at most 1 (1 is undamped). "
            f"Got {damping} instead."
        )
    if isinstance(sweeps, bool) or not isinstance(sweeps, int | np.integer):
        raise TypeError(f"The 'sweeps' parameter must be an integer. Got {sweeps!r} instead.")
    if sweeps < 0:
        raise ValueError(f"The 'sweeps' parameter must not be negative. Got {sweeps} instead.")
    if not tolerance >= 0:
        raise ValueError(f"The 'tolerance' parameter must be 0 or more. Got {tolerance} instead.")
    if floor is not None and not -np.inf < floor < np.inf:
        raise ValueError(f"The 'floor' parameter must be finite. Got {floor} instead.")


def first_beliefs(
    model: Model, first: NDArray[np.float64], start: ArrayLike | None
) -> NDArray[np.float64]:
    """Begin with the variables' own factors, or with what the user gives; clamp the evidence."""
    cards = np.asarray(model.cardinalities)
    everything = np.arange(model.n_variables)
    if start is None:
        beliefs = softmax(first, everything, model)
    else:
        beliefs = np.array(start, dtype=np.float64)
        if beliefs.shape != first.shape:
            raise ValueError(
                f"The 'start' parameter must have shape {first.shape}. Got {beliefs.shape} instead."
            )
        beliefs[np.arange(first.shape[1]) >= cards[:, None]] = 0.0
        totals = beliefs.sum(axis=1)
        if not ((beliefs >= 0).all() and (np.abs(totals - 1) < 1e-6).all()):
            raise ValueError("The 'start' parameter must hold rows of probabilities.")
        beliefs /= totals[:, None]
    if model.evidence is not None:
        clamped = np.flatnonzero(model.evidence >= 0)
        beliefs[clamped] = 0.0
        beliefs[clamped, model.evidence[clamped]] = 1.0
    return beliefs


def softmax(
    weights: NDArray[np.float64], members: NDArray[np.int64], model: Model
) -> NDArray[np.float64]:
    """Turn rows of log weights into probabilities; name the variable without a possible value."""
    top = weights.max(axis=1, keepdims=True)
    if (top == -np.inf).any():
        name = model.names[int(members[np.flatnonzero(top[:, 0] == -np.inf)[0]])]
        raise ValueError(
            f"mean field excludes every value of variable {name!r}: hard zeros leave no product "
            "distribution here. Give the 'floor' parameter a log weight for zeros, such as -50."
        )
    result = np.exp(weights - top)
    result /= result.sum(axis=1, keepdims=True)
    return result


def engine_of(model: Model, floor: float | None) -> tuple[Engine, NDArray[np.float64]]:
    """Choose the representation, and give every variable's own log weights."""
    if isinstance(model, Lattice):
        lattice = LatticeEngine(model)
        return lattice, np.stack((-lattice.field, lattice.field), axis=1)
    if isinstance(model, Ising | Potts):
        field = np.array(model.field)
        if isinstance(model, Ising):
            # J s_i s_j = 2 J [x_i = x_j] - J: a Potts model of twice the coupling.
            engine = PairEngine(model, np.stack((-field, field), axis=1), 2.0)
        else:
            if floor is not None:
                field[field == -np.inf] = floor
            engine = PairEngine(model, field, 1.0)
        return engine, engine.field
    tables = TableEngine(model, floor)
    return tables, tables.own()
