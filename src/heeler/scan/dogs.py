"""A Dobrushin-optimised scan as a choice: made for the model when a run begins."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from heeler.model.base import Model
from heeler.scan.scans import Scan, Systematic


@dataclass(frozen=True, eq=False)
class DoGS(Scan):
    """The order of updates that is best for what is asked, by bounds of influence.

    A pass of it ends within its guarantee of the target distribution from whatever state it began,
    for the variables asked. Use it with ``restart=True``, where every pass makes an independent
    draw from a fresh start; without, variables that it never updates keep their first values.
    The guarantee holds for Gibbs sampling (the random driver).

    Parameters
    ----------
    target
        The variables asked, as in `heeler.variation`; None for all.
    epsilon
        The guarantee wanted: the scan is then as short as `heeler.shortest_scan` finds.
    length
        Steps of a pass; with epsilon the most that it may take. With neither, the scan is the
        shortest that is as good as one pass of ``scan``.
    scan
        The scan to begin with.
    rounds
        How often all steps are chosen; None iterates.
    method
        How influence is bounded, as in `heeler.influence`.
    """

    target: Any = None
    epsilon: float | None = None
    length: int | None = None
    scan: Any = "systematic"
    rounds: int | None = 1
    method: str = "auto"

    def made(self, matrix: Any) -> Any:
        """Make the scan for a matrix of influence.

        Parameters
        ----------
        matrix
            What `heeler.influence` gives.

        Returns
        -------
        Optimised
            A sequence of variables with a guarantee.
        """
        from heeler.scan.optimise import optimise_scan, shortest_scan
        from heeler.scan.variation import variation

        options: dict[str, Any] = {"rounds": self.rounds}
        if self.length is not None and self.epsilon is None:
            return optimise_scan(matrix, self.scan, self.target, length=self.length, **options)
        if self.epsilon is not None:
            epsilon = self.epsilon
        else:
            epsilon = variation(matrix, self.scan, self.target)
        return shortest_scan(matrix, epsilon, self.target, self.scan, most=self.length, **options)


def made_for(scan: Scan, model: Model, temperature: Any) -> Scan:
    """Make scans that depend on the model; leave others as they are.

    Parameters
    ----------
    scan
        The scan of a run.
    model
        The model.
    temperature
        The run's temperature: a number, or one a pass.

    Returns
    -------
    Scan
        A scan of fixed kind.
    """
    if not isinstance(scan, DoGS):
        return scan
    if isinstance(temperature, np.ndarray):
        raise ValueError(  # noqa: TRY004 - a schedule is a fine temperature, with another scan
            "The scan DoGS needs one temperature: its bounds are those of one distribution. Use "
            "scan='systematic' with a schedule."
        )
    if not len(model.free):
        return Systematic()  # nothing to update in any order
    from heeler.scan.influence.bounds import influence

    return scan.made(influence(model, scan.method, temperature))
