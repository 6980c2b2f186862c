"""A scan as flat arrays: what the bounds of a scan look at."""

from collections.abc import Sequence as Names
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.names import as_names, resolve
from heeler.scan.dogs import DoGS
from heeler.scan.order import order_of
from heeler.scan.scans import (
    Chromatic,
    Jacobi,
    Reversed,
    Sequence,
    Shuffled,
    Steps,
    Systematic,
    Uniform,
    Weighted,
    as_scan,
)

MOST_STEPS = 1 << 62


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps of a scan, gone through in a circle.

    Attributes
    ----------
    step : ndarray
        int32 (period,): a variable, or -1 - r for a draw from row r.
    length : int
        Steps in all.
    row_pointer, row_index, row_probability : ndarray
        The rows of probabilities in compressed form: int64, int32, float64.
    any_order : bool
        Whether each period visits its variables in an order that is not known.
    """

    step: NDArray[np.int32]
    length: int
    row_pointer: NDArray[np.int64]
    row_index: NDArray[np.int32]
    row_probability: NDArray[np.float64]
    any_order: bool = False

    @property
    def deterministic(self) -> bool:
        """Whether no step draws its variable."""
        return len(self.row_pointer) == 1 and not self.any_order

    def steps(self) -> NDArray[np.int32]:
        """Write all steps out."""
        return np.resize(self.step, self.length)


class Variables:
    """What is known about the variables of a matrix without a model: numbers, and who acts on whom.

    Parameters
    ----------
    influence
        The matrix.
    """

    evidence = None

    def __init__(self, influence: Any) -> None:
        """Keep the matrix."""
        self._influence = influence
        self.n_variables: int = influence.n_variables
        self.names: Names[str] = as_names(None, self.n_variables)

    @property
    def free(self) -> NDArray[np.int64]:
        """All variables."""
        return np.arange(self.n_variables)

    def index(self, variable: Any) -> int:
        """Find a variable.

        Parameters
        ----------
        variable
            Its number.

        Returns
        -------
        int
            The index.
        """
        return resolve(variable, self.names, None, "variable")

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give who touches whom: influence in either direction."""
        rows, columns = self._influence.flat(), self._influence.transposed().flat()
        from heeler.model.graph import compress_rows

        ends = [np.repeat(np.arange(self.n_variables), np.diff(m[0])) for m in (rows, columns)]
        return compress_rows(
            self.n_variables, np.concatenate(ends), np.concatenate((rows[1], columns[1]))
        )


def variables_of(influence: Any) -> Any:
    """Give what names the variables of a matrix.

    Parameters
    ----------
    influence
        An `Influence`.

    Returns
    -------
    Model or Variables
        The model that the matrix belongs to, or a stand-in that knows numbers only.
    """
    return Variables(influence) if influence.model is None else influence.model


def as_plan(scan: Any, influence: Any, length: Any = None, passes: Any = None) -> Plan:
    """Read a scan.

    Parameters
    ----------
    scan
        Whatever `heeler.scan.as_scan` takes.
    influence
        The `Influence` whose variables it visits.
    length
        Steps in all: a scan is repeated or cut; None stands for whole passes.
    passes
        Passes in all; None stands for one. Give length or passes.

    Returns
    -------
    Plan
        The steps.
    """
    if length is not None and passes is not None:
        raise ValueError("Give 'length' or 'passes', not both.")
    scan, variables = as_scan(scan), variables_of(influence)
    wanted = None if length is None else whole("length", length)
    if isinstance(scan, DoGS):
        scan = scan.made(influence)
    if isinstance(scan, Jacobi):
        raise ValueError(  # noqa: TRY004 - a scan, but one that no bound holds for
            "The Jacobi scan updates all variables at once, which does not leave the distribution "
            "invariant: no bound of a scan applies. Use scan='chromatic'."
        )
    empty = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
    if isinstance(scan, Uniform | Weighted):
        plan, period = _draws(scan, variables)
    elif isinstance(scan, Steps):
        plan = _mixed(scan, variables)
        period = len(plan.step)
    else:
        order = _order(scan, variables, wanted)
        plan, period = Plan(order.astype(np.int32), len(order), *empty), len(order)
        if isinstance(scan, Shuffled):
            plan = Plan(plan.step, period, *empty, any_order=True)
            if wanted is not None and wanted % max(period, 1):
                raise ValueError(
                    f"The 'length' parameter must be whole passes of {period} steps for a shuffled "
                    f"scan, whose order is not known. Got {wanted} instead."
                )
    if not period:
        raise ValueError("The 'scan' parameter must visit a free variable. All are clamped.")
    count = 1 if passes is None else whole("passes", passes)
    return Plan(
        plan.step,
        period * count if wanted is None else wanted,
        plan.row_pointer,
        plan.row_index,
        plan.row_probability,
        plan.any_order,
    )


def whole(name: str, value: Any, least: int = 1) -> int:
    """Check a whole number.

    Parameters
    ----------
    name
        The parameter's name.
    value
        What came.
    least
        The smallest allowed.

    Returns
    -------
    int
        The number.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"The '{name}' parameter must be a whole number. Got {value!r} instead.")
    if not least <= value < MOST_STEPS:
        raise ValueError(
            f"The '{name}' parameter must be a whole number of at least {least}. Got {value} "
            "instead."
        )
    return int(value)


def _order(scan: Any, variables: Any, length: int | None) -> NDArray[np.int64]:
    """List the variables of a pass, no more of them than are needed."""
    if isinstance(scan, Systematic | Reversed) and variables.evidence is None:
        n = variables.n_variables
        count = n if length is None else min(n, length)
        return (
            np.arange(count)
            if isinstance(scan, Systematic)
            else np.arange(n - 1, n - 1 - count, -1)
        )
    known = Sequence | Chromatic | Systematic | Reversed | Shuffled
    if not isinstance(scan, known):
        raise TypeError(
            f"The 'scan' parameter must be a scan of heeler.scan. Got {scan!r} instead."
        )
    return order_of(scan, variables)[0]


def _draws(scan: Uniform | Weighted, variables: Any) -> tuple[Plan, int]:
    """Make the plan of a scan that draws every step alike."""
    if isinstance(scan, Weighted):
        weights = scan.checked(variables)
        sites = np.flatnonzero(weights)
        shares = weights[sites] / weights.sum()
    else:
        sites = variables.free
        shares = np.full(len(sites), 1.0 / max(len(sites), 1))
    period = len(variables.free) if scan.steps is None else whole("steps", scan.steps)
    row = np.array([0, len(sites)]), sites.astype(np.int32), shares
    return Plan(np.full(1, -1, np.int32), period, *row), period


def _mixed(scan: Steps, variables: Any) -> Plan:
    """Make the plan of steps of any kind; equal rows that are one object are stored once."""
    known: dict[int, int] = {}
    rows: list[Any] = []
    step = []
    entries = scan.checked(variables)
    for entry in entries:
        if len(entry[0]) == 1:
            step.append(int(entry[0][0]))
            continue
        if id(entry) not in known:
            known[id(entry)] = len(rows)
            rows.append(entry)
        step.append(-1 - known[id(entry)])
    pointer = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(sites) for sites, _ in rows], out=pointer[1:])
    return Plan(
        np.array(step, np.int32),
        len(step),
        pointer,
        np.concatenate([np.empty(0), *(sites for sites, _ in rows)]).astype(np.int32),
        np.concatenate([np.empty(0), *(shares for _, shares in rows)]),
    )
