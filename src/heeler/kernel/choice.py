"""Which engine runs a plan: the fastest that can."""

from typing import Any

from heeler.compiled.conditionals import Sparse
from heeler.compiled.drivers import Greedy, Herded, Metropolis, Modified, Quasi, Random
from heeler.compiled.scans import Fixed, Jacobi
from heeler.kernel.coloured_engine import ColouredEngine
from heeler.kernel.general import GeneralEngine, Plan
from heeler.kernel.lanes_engine import LEAST_LANES, LanesEngine


def in_classes(scan: Any) -> bool:
    """Say whether a compiled scan goes class by class.

    Parameters
    ----------
    scan
        A tuple of `heeler.compiled.scans`.

    Returns
    -------
    bool
        True for more than one class.
    """
    return isinstance(scan, Fixed) and len(scan.class_pointer) > 2


def engine_for(plan: Plan) -> Any:
    """Make the engine for a plan.

    Parameters
    ----------
    plan
        What to run.

    Returns
    -------
    engine
        See the engine's contract in the design page.
    """
    conditional, driver = plan.lowered.conditional, plan.memory.driver
    if not isinstance(conditional, Sparse) or plan.restart or plan.scores.shape[1] > 1:
        return GeneralEngine(plan)
    lanes = len(plan.scores)
    side_by_side = isinstance(driver, (Random, Quasi)) or (
        # With two values Liu's rule is Metropolis; vectors of 8 lanes must not overlap.
        isinstance(driver, (Metropolis, Modified)) and lanes % LEAST_LANES == 0
    )
    if lanes >= LEAST_LANES and side_by_side and not isinstance(plan.scan, Jacobi):
        return LanesEngine(plan)
    coupled = conditional.coupling.size == conditional.index.size
    known = (Random, Quasi, Herded, Greedy, Metropolis, Modified)
    if coupled and in_classes(plan.scan) and isinstance(driver, known):
        return ColouredEngine(plan)
    return GeneralEngine(plan)
