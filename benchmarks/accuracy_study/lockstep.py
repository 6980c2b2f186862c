"""Networks with round numbers in their tables, and the same with numbers a little off."""

from typing import Any

import numpy as np

import heeler
from accuracy_study import families
from accuracy_study.measure import HERDED, RANDOM
from accuracy_study.synthetic import medians


def perturbed(model: heeler.Model, width: float, seed: int) -> heeler.Model:
    """Multiply every table entry by a factor near 1.

    Parameters
    ----------
    model
        The network.
    width
        Standard deviation of the factors' logarithms.
    seed
        The instance.

    Returns
    -------
    FactorGraph
        A model with the same graph.
    """
    rng = np.random.default_rng([seed, 4])
    graph: Any = model.to_factor_graph()
    factors = [
        (scope, table + width * rng.normal(size=table.shape)) for scope, table in graph.factors
    ]
    changed = heeler.factor_graph(model.cardinalities, factors, log=True)
    if model.evidence is None:
        return changed
    return changed.given({i: int(v) for i, v in enumerate(model.evidence) if v >= 0})


def round_numbers(quick: bool) -> list[dict[str, Any]]:
    """Measure some networks as they are and with numbers off by one per cent.

    Parameters
    ----------
    quick
        Whether to leave this out.

    Returns
    -------
    list of dict
        Records; none where the data are absent.
    """
    known = {} if quick else dict(families.networks())
    sweeps = (1_000, 10_000, 100_000)
    settings = [(s, sweeps) for s in (RANDOM, HERDED["neighbours"])]
    records = []
    for name in ("cancer", "earthquake", "alarm", "alarm given 5", "insurance given 5"):
        for width in (0.0, 0.01) if name in known else ():
            records += medians(
                f"{name}, tables {'off by 1 %' if width else 'as they are'}",
                lambda seed, m=known[name], w=width: perturbed(m, w, seed),
                settings,
                5,
            )
    return records
