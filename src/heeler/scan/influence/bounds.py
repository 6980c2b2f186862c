"""`heeler.influence`: bounds on how much each variable acts on each other one."""

from typing import Any

import numpy as np

from heeler.model.base import Model

METHODS = ("auto", "exact", "binary", "oscillation", "theorem 12")
# About a second of one core.
BUDGET = 1 << 28
SPINS = ("ising", "lattice", "boltzmann", "rbm")


def influence(
    model: Model, method: str = "auto", temperature: float = 1.0, *, budget: int = BUDGET
) -> Any:
    """Bound the influence of every variable on every other one from above.

    The influence of j on i is the largest total variation distance between the conditionals of
    variable i in two contexts that differ at j only. Where a norm of the matrix is below 1, the
    bounds of `heeler.variation` go to zero as a scan gets longer.

    Parameters
    ----------
    model
        The model. Clamped variables have no influence and feel none.
    method
        ``"exact"``: enumeration of every variable's blanket (for pairs of binary variables by
        sums of signs). ``"binary"``: Theorem 11 of the paper, for binary variables with pairs
        only, and a tighter form of its Theorem 12 with larger factors. ``"oscillation"``: Theorem
        10, for any values, extended to larger factors. ``"theorem 12"``: as in the paper, for
        comparison; may be above 1. ``"auto"``: row by row the tightest that the budget allows,
        which is ``"exact"``, then ``"binary"`` where it applies, then ``"oscillation"``.
    temperature
        The distribution scanned is p^(1/temperature).
    budget
        Elementary steps that ``"auto"`` may spend on exact rows, the cheapest rows first, and
        that ``"exact"`` may need at most.

    Returns
    -------
    Influence
        A `scipy.sparse.csr_array`, entry [i, j] for the influence of j on i, with the attributes
        ``method``, ``methods`` (how many rows each gave), ``extension`` and the method ``norms``.

    Notes
    -----
    With zeros in its factors a model does not define all conditionals. A context in which at least
    one value has positive weight gets the normalised weights of the variable's own factors, also
    where the others contradict each other; values that a factor of one variable forbids take no
    part; a context that leaves no value gets the uniform distribution over the others. This
    leaves the model invariant and moves no state out of its support, so the bounds hold for chains
    that start in it. Where a factor of several variables has zeros, ``"exact"`` looks at these
    conditionals, and the other methods give 1.

    References
    ----------
    Mitliagkas and Mackey, "Improving Gibbs Sampler Scan Quality with DoGS", ICML 2017, Theorems 10,
    11 and 12. Liu and Domke, "Projecting Markov random field parameters for fast mixing", 2014.
    """
    if not isinstance(model, Model):
        raise TypeError(f"The 'model' parameter must be a model. Got {type(model)!r} instead.")
    if method not in METHODS:
        raise ValueError(
            f"The 'method' parameter must be one of {', '.join(map(repr, METHODS))}. "
            f"Got {method!r} instead."
        )
    beta = 1.0 / positive("temperature", temperature)
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 0:
        raise ValueError(
            f"The 'budget' parameter must be a whole number of at least 0. Got {budget!r} instead."
        )
    if method == "theorem 12":
        from heeler.scan.influence.walsh import theorem_12

        return theorem_12(model, beta)
    if model.kind in SPINS:
        from heeler.scan.influence.spins import spin_influence

        return spin_influence(model, method, beta, int(budget))
    from heeler.scan.influence.factors import factor_influence

    return factor_influence(model, method, beta, int(budget))


def positive(name: str, value: Any) -> float:
    """Check a positive number.

    Parameters
    ----------
    name
        The parameter's name.
    value
        What came.

    Returns
    -------
    float
        The number.
    """
    fine = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not fine or not np.isfinite(value) or value <= 0:
        raise ValueError(
            f"The '{name}' parameter must be a positive number. Got {value!r} instead."
        )
    return float(value)
