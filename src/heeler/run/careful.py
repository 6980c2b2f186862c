"""Running users' code without losing what there is: a pass that fails is taken back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def advance_or_stop(
    engine: Any, passes: int, scores: NDArray[np.float64], threads: int
) -> tuple[int, Exception | None]:
    """Run passes; where one fails, leave the engine as it was before that pass.

    Parameters
    ----------
    engine
        Chains whose moves call functions of the user's.
    passes
        How many.
    scores
        float64 (passes, lanes): the log score after every pass.
    threads
        How many threads may be used.

    Returns
    -------
    done : int
        The passes that were made.
    failure : Exception or None
        What the pass after them raised.
    """
    # Everything is a function of (seed, pass): what is taken back comes out the same again. Shorter
    # and shorter steps find the pass that fails.
    done, step = 0, passes
    while done < passes:
        step = min(step, passes - done)
        before = _copy(engine)
        try:
            engine.advance(step, scores[done : done + step], threads)
        except Exception as error:  # noqa: BLE001 (it is raised again, with the run)
            engine.load(before)
            if step == 1:
                return done, error
            step = step // 2
        else:
            done += step
    return done, None


def _copy(engine: Any) -> dict[str, NDArray[Any]]:
    """Copy everything that an engine needs to go on."""
    return {name: np.array(array) for name, array in engine.arrays().items()}


class SamplingError(RuntimeError):
    """A function of the user's failed while a run was going on.

    The cause is the function's own error.

    Attributes
    ----------
    run
        What was sampled before: a run like any other, up to the last whole pass. It can be looked
        at, saved and resumed.
    """

    def __init__(self, message: str, run: Any = None) -> None:
        """Keep the run."""
        super().__init__(message)
        self.run = run
