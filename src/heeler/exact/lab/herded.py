"""The empirical kernel of a herded run: appendix B of the herding paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heeler.exact.lab.limits import DEFAULT_LIMIT, check_size
from heeler.exact.lab.matrix import TransitionMatrix
from heeler.exact.lab.passes import Updates
from heeler.exact.lab.space import Space
from heeler.exact.lab.spectrum import dobrushin
from heeler.exact.oracle import check_limit
from heeler.model import Model


@dataclass(frozen=True, eq=False)
class HerdedKernel:
    """What a herded run did, as if it were a Markov chain; made by `heeler.lab`.

    Attributes
    ----------
    matrix : TransitionMatrix
        The empirical kernel of a sweep, equations 22 and 23 of the paper: in every situation, how
        often each value was taken. Situations that never occurred have the Gibbs kernel's rows.
    gibbs : TransitionMatrix
        The Gibbs kernel of the same sweep.
    sweeps, burn_in : int
        T, the sweeps that were counted, and tau, the sweeps before them.
    before, after : ndarray
        The empirical distributions P_T of T states, beginning with sweep tau and with tau + 1:
        ``after`` is ``before`` times the matrix.
    """

    matrix: TransitionMatrix
    gibbs: TransitionMatrix
    sweeps: int
    burn_in: int
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @property
    def target(self) -> NDArray[np.float64]:
        """The model's probability of each state."""
        assert self.gibbs.target is not None
        return self.gibbs.target

    @cached_property
    def distance(self) -> float:
        """The largest sum of absolute differences in a row: 4 N / (l T) at most on full graphs."""
        return float(np.abs(self.matrix.toarray() - self.gibbs.toarray()).sum(axis=1).max())

    @property
    def error(self) -> float:
        """Total variation between the empirical distribution of the run and the target."""
        return float(0.5 * np.abs(self.after - self.target).sum())

    @cached_property
    def dobrushin(self) -> float:
        """The Dobrushin coefficient eta of the Gibbs kernel."""
        return dobrushin(self.gibbs)

    @property
    def bound(self) -> float:
        """What equation 43 says of the error: distance / 2 + eta times the error before."""
        before = 0.5 * np.abs(self.before - self.target).sum()
        return float(self.distance / 2 + self.dobrushin * before)

    def __repr__(self) -> str:
        """Say how far the run was from Gibbs."""
        return (
            f"HerdedKernel({self.sweeps} sweeps after {self.burn_in}: rows within "
            f"{self.distance:.3g} of the Gibbs kernel, error {self.error:.3g} "
            f"<= {self.bound:.3g} by equation 43)"
        )


def herded_kernel(
    model: Model,
    sweeps: int,
    *,
    burn_in: int = 0,
    scan: Any = "systematic",
    context: Any = "full",
    seed: int = 0,
    init: Any = None,
    memory_limit: int = DEFAULT_LIMIT,
) -> HerdedKernel:
    """Run herded Gibbs and compute the empirical kernel that the run is equivalent to.

    Herded Gibbs is deterministic, so it has no transition matrix. The paper's proof (appendix B)
    looks at what it did in T sweeps as a kernel, which carries the empirical distribution from one
    sweep to the next exactly, and shows that it approaches the Gibbs kernel like 1/T.

    Parameters
    ----------
    model : Model
        A small model.
    sweeps : int
        T, the sweeps that are counted.
    burn_in : int
        tau, the sweeps before them.
    scan : str or scan
        A deterministic one that visits each free variable once.
    context : str
        Which updates share a weight; the paper's proof is about ``"full"``.
    seed : int
        Of the first state.
    init : sequence of int, optional
        The first state.
    memory_limit : int
        Bytes that matrices may take.

    Returns
    -------
    HerdedKernel
        The kernel beside that of Gibbs sampling.

    Examples
    --------
    >>> import heeler
    >>> model = heeler.ising([(0, 1, 0.5), (1, 2, -0.3), (0, 2, 0.2)], [0.1, 0.0, 0.3])
    >>> short, long = (heeler.lab.herded_kernel(model, n) for n in (100, 10_000))
    >>> long.distance < short.distance / 20
    True
    """
    from heeler.kernel.orders import order_of
    from heeler.run.sample import sample, whole
    from heeler.scan import as_scan

    limit = check_limit(memory_limit)
    sweeps, burn_in = whole("sweeps", sweeps, 1), whole("burn_in", burn_in, 0)
    if not isinstance(model, Model):
        raise TypeError(
            f"The 'model' parameter must be a heeler model. Got {type(model).__name__} instead."
        )
    resolved = as_scan(scan)
    order = [int(i) for i in order_of(resolved, model)[0]] if resolved.deterministic else []
    if sorted(order) != model.free.tolist() or resolved.name == "jacobi":
        raise ValueError(
            "The 'scan' parameter must visit each free variable once a sweep, in a fixed order. "
            f"Got {scan!r} instead."
        )
    space = Space(model, 1.0, limit)
    size = len(space)
    check_size("the kernels", size, 5 * 8 * size**2, limit)
    check_size("the run", size, (sweeps + 1) * model.n_variables * 12, limit)
    run = sample(
        model, driver="herded", scan=resolved, context=context, sweeps=sweeps + 1, chains=1,
        burn_in=burn_in, keep="samples", seed=seed, init=init, progress=False,
    )  # fmt: skip
    states = run.samples[0].astype(np.int64)
    updates = Updates(space, "random", quantised=True)
    empirical: Any = None
    gibbs: Any = None
    now = states[:-1].copy()
    for i in order:
        here = space.index(now)
        now[:, i] = states[1:, i]
        step = _counted(space, updates, i, here, now[:, i])
        empirical = step if empirical is None else empirical @ step
        gibbs = updates[i] if gibbs is None else gibbs @ updates[i]
    known = {
        "states": space.states,
        "target": space.target,
        "labels": space.labels,
        "updates": len(order),
        "model": model,
    }
    words = f"{resolved.name} scan of {len(order)} updates"
    return HerdedKernel(
        TransitionMatrix.of(empirical, description=f"herded, {words}", **known),
        TransitionMatrix.of(
            gibbs,
            description=f"Gibbs, {words}",
            tolerance=len(order) * space.tolerance(quantised=True),
            **known,
        ),
        sweeps,
        burn_in,
        np.bincount(space.index(states[:-1]), minlength=size) / sweeps,
        np.bincount(space.index(states[1:]), minlength=size) / sweeps,
    )


def _counted(
    space: Space, updates: Updates, i: int, here: NDArray[np.int64], value: NDArray[np.int64]
) -> csr_array:
    """Count what was done in every situation: the values of all other variables."""
    rows = updates.rows(i)
    count = rows.shape[1]
    # All states that differ at i only are one situation; the first of them stands for it.
    moved = space.neighbours(i, count)
    first = np.where(moved >= 0, moved, len(space)).min(axis=1)
    counts = np.zeros((len(space), count))
    np.add.at(counts, (first[here], value), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        frequency = np.where(total[first] > 0, counts[first] / total[first], rows)
    return space.update(i, frequency)
