"""`heeler.certify`: how far from the target after these steps, and how many steps are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from heeler.driver import Herded, Random
from heeler.estimate.certificate import Certificate
from heeler.estimate.dobrushin import fall
from heeler.estimate.herded import CompleteBounds, Discrepancy, FullBounds, find_bounds
from heeler.estimate.herded.bounds import fixed_order, free_degrees
from heeler.estimate.herded.complete import UNIT
from heeler.estimate.small import SmallChain
from heeler.estimate.target import Asked, asked_of
from heeler.model.base import Model
from heeler.run.auto import choose
from heeler.run.sample import whole
from heeler.run.settings import NOTHING_MORE, as_temperature
from heeler.scan import Jacobi
from heeler.scan.plan import as_plan

BITS = 32  # of herding weights; with 16, probabilities are multiples of 2^-16
EVERY_START = "from every start that the model allows"


@dataclass
class _Answer:
    """What one theorem says: the parts of a certificate."""

    theorem: str | None = None
    bound: float | None = None
    sweeps: int | None = None
    steps: int | None = None
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def certify(
    model: Model,
    *,
    scan: Any = "auto",
    target: Any = None,
    epsilon: float | None = None,
    sweeps: int | None = None,
    driver: Any = "random",
    context: Any = "auto",
    temperature: Any = 1.0,
    influence: Any = None,
) -> Certificate:
    """Say how far a run can be from its target after so many sweeps, or how many it needs.

    With the random driver the distance is that of the chain's state from the model's distribution,
    from every start: by the Dobrushin variation of the scan (Theorem 8 of the paper) where
    influences are weak, by computing it where there are few states. With the herded driver it is
    that of the average over the states of all sweeps: by Lemma 3, Theorem 2 and a sharper bound.
    Where nothing is proved the answer says so, with the reason.

    Parameters
    ----------
    model
        The model, evidence included.
    scan
        As in `heeler.sample`, what `heeler.optimise_scan` makes included.
    target
        What the distance is about, as in `heeler.variation`: None for all variables, a variable or
        several (their marginal distribution), or weights.
    epsilon
        A distance: how many sweeps are enough for it?
    sweeps
        A number of sweeps: how far is it after them? Give one of both; with neither, one sweep.
    driver
        ``"random"`` or ``"herded"`` (or an object of `heeler.driver`); for others no theorem is
        known, and coupled chains estimate those that draw.
    context
        As in `heeler.sample`, for the herded driver.
    temperature
        The distribution is p^(1/temperature).
    influence
        A matrix of bounds of one's own, or one that `heeler.influence` has made; None computes it.

    Returns
    -------
    Certificate
        The bound and its theorem, or the reason why there is none.
    """
    if not isinstance(model, Model):
        raise TypeError(f"The 'model' parameter must be a heeler model. Got {model!r} instead.")
    if epsilon is not None and sweeps is not None:
        raise ValueError("Give 'epsilon' or 'sweeps', not both.")
    if epsilon is not None and not 0 < _number(epsilon) < inf:
        raise ValueError(f"The 'epsilon' parameter must be positive. Got {epsilon!r} instead.")
    if not len(model.free):
        raise ValueError("All variables of the model are clamped: there is nothing to certify.")
    count = whole("sweeps", sweeps, 0) if sweeps is not None else None if epsilon else 1
    asked = asked_of(target, model)
    heat = as_temperature(temperature, None)
    options = {"driver": driver, "scan": scan, "context": context}
    chosen, order, where, _ = choose(model, options, NOTHING_MORE, heat)
    settings: dict[str, Any] = {"driver": chosen.name, "scan": order.name}
    if where is not None:
        settings["context"] = where
    if isinstance(heat, np.ndarray):
        answer = _Answer(reason="the temperature varies: theorems are about one distribution")
    elif isinstance(order, Jacobi):
        answer = _Answer(reason="the Jacobi scan does not leave the distribution invariant")
    elif isinstance(chosen, Random):
        answer = _random(model, order, asked, count, epsilon, heat, influence)
    elif isinstance(chosen, Herded):
        answer = _herded(model, order, chosen, where or "auto", asked, count, epsilon, heat)
    else:
        answer = _Answer(reason=f"no theorem about the driver {chosen.name!r} is known")
    if not isinstance(heat, np.ndarray) and heat != 1.0:
        settings["temperature"] = heat
    return _certificate(model, answer, asked, epsilon, chosen, settings, (order, target, heat))


def _number(epsilon: Any) -> float:
    """Check that a distance is a number."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number):
        raise TypeError(f"The 'epsilon' parameter must be a number. Got {epsilon!r} instead.")
    return float(epsilon)


def _certificate(
    model: Model,
    answer: _Answer,
    asked: Asked,
    epsilon: float | None,
    driver: Any,
    settings: dict[str, Any],
    given: tuple[Any, Any, Any],
) -> Certificate:
    """Put an answer into words."""
    herded = isinstance(driver, Herded)
    what = "the average over the states of all sweeps" if herded else "the state after the last"
    distance = f"{asked.text}, of {what}, {EVERY_START}"
    none = answer.bound is None
    bound = inf if answer.bound is None else answer.bound
    vacuous = not none and bound >= asked.total
    missed = epsilon is not None and bound > epsilon
    reason = answer.reason
    if vacuous and reason is None:
        reason = f"a distance is never larger than {asked.total:g}"
    order, target, heat = given
    again = {"driver": driver, "scan": order, "target": target, "temperature": heat}
    return Certificate(
        not (none or vacuous or missed),
        answer.theorem,
        answer.bound,
        answer.sweeps,
        answer.steps,
        epsilon,
        distance,
        vacuous,
        reason,
        answer.details,
        answer.notes,
        model,
        settings,
        again,
    )


def _random(
    model: Model,
    scan: Any,
    asked: Asked,
    sweeps: int | None,
    epsilon: float | None,
    temperature: float,
    matrix: Any,
) -> _Answer:
    """Try the Dobrushin variation; where that is not enough, all states."""
    from heeler.scan.influence.bounds import influence as influence_of
    from heeler.scan.influence.given import as_influence

    if matrix is None:
        matrix = influence_of(model, temperature=temperature)
    else:
        matrix = as_influence(matrix, model.n_variables)
    plan = as_plan(scan, matrix)
    end = fall(matrix, plan, asked, sweeps, epsilon)
    details = {"influence": matrix.method, "variation": end.value}
    theorem = f"Theorem 8, Dobrushin variation (influence: {matrix.method})"
    notes = () if matrix.extension is None else (f"impossible contexts: {matrix.extension}",)
    goal = asked.total if epsilon is None else epsilon
    if end.value <= goal and end.value < asked.total:
        return _Answer(theorem, end.value, end.passes, end.steps, None, details, notes)
    small = _computed(model, plan, asked, sweeps, epsilon, temperature)
    if small is not None:
        small.details = details | small.details
        return small
    norms = {str(key): value for key, value in matrix.norms().items()}
    details["norms"] = norms
    shown = ", ".join(f"{key}: {value:.4g}" for key, value in norms.items())
    if end.stopped and min(norms.values()) >= 1.0:
        why = f"no norm of the influence is below 1 ({shown})"
    elif end.stopped:
        why = f"the bounds stop falling: the scan leaves variables out (norms {shown})"
    elif sweeps is not None:
        why = f"so few sweeps are not enough for the bound to say anything (norms {shown})"
    else:
        why = f"the bound was {end.value:.3g} after {end.passes} sweeps, where the search ended"
    passes = sweeps if sweeps is not None else end.passes
    return _Answer(theorem, end.value, passes, None, why, details, notes)


def _computed(
    model: Model,
    plan: Any,
    asked: Asked,
    sweeps: int | None,
    epsilon: float | None,
    temperature: float,
) -> _Answer | None:
    """Compute the distance from the worst start where there are few states."""
    try:
        chain = SmallChain(model, plan, asked, temperature)
    except ValueError:
        return None
    passes = chain.enough(epsilon) if epsilon is not None else sweeps
    if passes is None:
        return None
    bound = chain.after(passes)
    if bound >= asked.total:
        return None
    theorem = "enumeration: the transition matrix of all states"
    return _Answer(theorem, bound, passes, plan.length * passes)


def _herded(
    model: Model,
    scan: Any,
    driver: Herded,
    context: str,
    asked: Asked,
    sweeps: int | None,
    epsilon: float | None,
    temperature: float,
) -> _Answer:
    """Look for a theorem about herding."""
    if driver.bits != BITS:
        return _Answer(reason=f"weights of {driver.bits} bits round the probabilities coarsely")
    if driver.rule != "argmax" and (np.asarray(model.cardinalities)[model.free] > 2).any():
        return _Answer(reason=f"nothing is proved here about the rule {driver.rule!r}")
    found = find_bounds(model, scan, context, temperature)
    if isinstance(found, FullBounds):
        everything = len(asked.index) == found.variables
        line = found.joint if everything else found.marginal(asked.index.tolist())
        binary = isinstance(found, CompleteBounds)
        theorem = "Lemma 3 in every context and the fundamental matrix"
        theorem += " (sharper than Theorem 2)" if binary else " (for more than two values)"
        answer = _of_line(line, asked, sweeps, epsilon, theorem)
        answer.details |= found.to_dict()
        note = "this is about averages of states; run.marginals averages conditionals, and differs"
        note += " from that by"
        note += f" {2 ** (found.variables - 1)} / sweeps at most" if binary else " O(1 / sweeps)"
        answer.notes = (note,)
        if answer.sweeps is not None and isinstance(found, CompleteBounds):
            # Theorem 2 speaks of the joint distribution, and so of every marginal.
            answer.details["theorem_2"] = found.theorem_2(max(answer.sweeps, 1))
            answer.details["corollary_10"] = found.corollary_10(max(answer.sweeps, 1))
        return answer
    if _alone(model, scan, context, asked):
        return _of_line(Discrepancy(1.0, UNIT), asked, sweeps, epsilon, "Lemma 3")
    if isinstance(found, str):
        return _Answer(reason=found)
    reason = {
        True: "Theorem 1 says that the average converges, and gives no rate",
        False: f"Theorem 1's condition fails: {found.independence!r}",
        None: f"Theorem 1's condition was not decided: {found.independence!r}",
    }[found.converges]
    reason += "; single variables have certificates, and so has context='full'"
    return _Answer(reason=reason, details=found.to_dict())


def _alone(model: Model, scan: Any, context: str, asked: Asked) -> bool:
    """Say whether one weight makes all choices of the target, a binary variable, once a sweep."""
    variable = int(asked.index[0])
    lonely = int(free_degrees(model)[np.searchsorted(model.free, variable)]) == 0
    # Wider contexts look at variables that are no neighbours.
    own = len(asked.index) == 1 and not context.startswith(("full", "radius"))
    binary = int(model.cardinalities[variable]) == 2
    return own and lonely and binary and not isinstance(fixed_order(model, scan), str)


def _of_line(
    line: Discrepancy, asked: Asked, sweeps: int | None, epsilon: float | None, theorem: str
) -> _Answer:
    """Answer from a bound constant / T + bias on a total variation distance."""
    details: dict[str, Any] = {"constant": line.constant, "bias": line.bias}
    if epsilon is not None:
        sweeps = line.sweeps(epsilon / asked.total)
        if sweeps is None:
            reason = f"rounding to 2^-32 alone may make {line.bias * asked.total:.2g}"
            return _Answer(theorem, reason=reason, details=details)
    assert sweeps is not None
    bound = asked.total * (line.bound(sweeps) if sweeps else 1.0)
    return _Answer(theorem, bound, sweeps, None, None, details)
