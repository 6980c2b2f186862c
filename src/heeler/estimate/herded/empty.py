"""Herded Gibbs of independent variables: Lemma 3 for each, Theorem 1 for all together."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.estimate.herded.complete import UNIT, Discrepancy
from heeler.estimate.herded.relations import Independence, rational_independence

ONE = 1 << 32


@dataclass(frozen=True)
class EmptyBounds:
    """What is proved of herded Gibbs on independent binary variables.

    Made by `heeler.herded_bounds`.

    Attributes
    ----------
    variables
        The indices of the free variables.
    probabilities
        P(x_i = 1) of each of them.
    independence
        Theorem 1's condition: whether 1 and the probabilities are rationally independent.
    """

    variables: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    independence: Independence

    theorem = "Lemma 3 and Theorem 1"

    @property
    def period(self) -> int:
        """The sweeps after which the machine's run repeats itself, at most 2^32.

        The weights are fixed-point numbers: the probabilities that are herded are multiples of
        2^-32, so the condition of Theorem 1, which speaks of real numbers, never holds for them,
        and what a run converges to is the average over one period.
        """
        whole = np.rint(self.probabilities * ONE).astype(np.int64).clip(0, ONE)
        return ONE // gcd(ONE, *whole.tolist())

    @property
    def converges(self) -> bool | None:
        """Whether Theorem 1 says that the joint distribution converges; None where undecided."""
        return self.independence.independent

    def marginal(self) -> Discrepancy:
        """Bound the distance of the marginal of any one variable.

        Returns
        -------
        Discrepancy
            1 / T (Lemma 3) for every T and burn-in, and the rounding of the probability.
        """
        return Discrepancy(1.0, UNIT)

    def to_dict(self) -> dict[str, Any]:
        """Give what is known by name.

        Returns
        -------
        dict
            Plain numbers and texts.
        """
        found = self.independence
        return {
            "theorem": self.theorem,
            "variables": len(self.variables),
            "marginal": {"constant": 1.0, "bias": UNIT},
            "rationally_independent": found.independent,
            "relation": None if found.relation is None else list(found.relation),
            "denominator": found.denominator,
            "tolerance": found.tolerance,
            "period": self.period,
        }

    def __repr__(self) -> str:
        """Show what holds."""
        what = {
            True: "converges (Theorem 1, no rate)",
            False: "need not converge: Theorem 1's condition fails",
            None: "unknown: Theorem 1's condition was not decided",
        }[self.converges]
        return (
            f"herded Gibbs of {len(self.variables)} independent binary variables\n"
            f"  every marginal: distance <= 1 / T + {UNIT:.1e} (Lemma 3)\n"
            f"  joint: {what}\n"
            f"  probabilities: {self.independence!r}\n"
            f"  in the machine's fixed point the run repeats itself after {self.period} sweeps"
        )


def empty_bounds(model: Any, temperature: float, denominator: int, tolerance: float) -> EmptyBounds:
    """Read the probabilities and decide Theorem 1's condition.

    Parameters
    ----------
    model
        A binary model without edges between free variables.
    temperature
        The temperature.
    denominator, tolerance
        As in `rational_independence`.

    Returns
    -------
    EmptyBounds
        The bounds.
    """
    free = model.free
    state = np.zeros(model.n_variables, np.int64)
    if model.evidence is not None:
        state = np.where(model.evidence >= 0, model.evidence, 0)
    p = np.array([_tempered(model.conditional(i, state), temperature) for i in free])
    # A variable that never changes is independent of all others, whatever Theorem 1 says of it.
    moving = p[(p > 0) & (p < 1)].tolist()
    return EmptyBounds(free, p, rational_independence(moving, denominator, tolerance))


def _tempered(p: NDArray[np.float64], temperature: float) -> float:
    """Give P(x = 1) at a temperature."""
    with np.errstate(divide="ignore"):
        weights = np.log(p) / temperature
    weights = np.exp(weights - weights.max())
    return float(weights[1] / weights.sum())
