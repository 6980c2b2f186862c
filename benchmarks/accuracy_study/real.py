"""Studies on models of others: Bayesian networks, competition instances, sentences."""

from dataclasses import replace
from typing import Any

import numpy as np

import heeler
from accuracy_study import families
from accuracy_study.measure import (
    HERDED,
    PERIODS,
    QUASI,
    RANDOM,
    Setting,
    as_row,
    curve,
    summarise,
    target_of,
)

Record = dict[str, Any]
HERDED_AUTO = Setting("herded", "auto")
DRIVERS = (RANDOM, QUASI, HERDED_AUTO, HERDED["neighbours"], HERDED["binned(64)"])
MOST_STATES = 1 << 18  # up to which the context "full" is tried
MOST_UPDATES = 4_000_000  # of one run; larger models stop at fewer sweeps


def each(
    models: list[tuple[str, heeler.Model]], decades: tuple[int, ...], repeats: int
) -> list[Record]:
    """Run all drivers on each model from several seeds.

    Parameters
    ----------
    models
        Names and models.
    decades
        When to look.
    repeats
        Seeds; herded runs take their first weights from the seed, the first one takes one half.

    Returns
    -------
    list of dict
        Records.
    """
    records = []
    for name, model in models:
        target = target_of(model)
        free = len(model.free)
        facts = {
            "variables": model.n_variables,
            "values": int(np.max(model.cardinalities)),
            "zeros": bool(model.has_zeros),
            "auto": chosen_by_auto(model),
        }
        sweeps = tuple(t for t in decades if t * free <= MOST_UPDATES or t == decades[0])
        states = np.prod(np.asarray(model.cardinalities, np.float64))
        small = (HERDED["full"],) if states <= MOST_STATES else ()
        for setting in DRIVERS + small:
            seeds = range(1, repeats + 1)
            # Replicates of herding differ by first state and weights; the first is the default.
            ways = [replace(setting, start="half" if k == 1 else "random") for k in seeds]
            curves = [
                curve(model, target, w, sweeps, seed=k) for k, w in zip(seeds, ways, strict=True)
            ]
            records.append({"model": name} | facts | as_row(setting) | summarise(curves))
    return records


def chosen_by_auto(model: heeler.Model) -> str:
    """Ask which driver `heeler.sample` takes when it is not told.

    Parameters
    ----------
    model
        The model.

    Returns
    -------
    str
        The driver's name.
    """
    run = heeler.sample(model, sweeps=1, chains=1, threads=1, progress=False)
    return run.settings["driver"]


def networks(quick: bool) -> list[Record]:
    """Measure marginals of Bayesian networks, prior and posterior.

    Parameters
    ----------
    quick
        Whether to take the small networks only.

    Returns
    -------
    list of dict
        Records.
    """
    models = families.networks()
    if quick:
        models = [(name, model) for name, model in models if model.n_variables <= 11]
    return each(models, (1_000,) if quick else (100, 1_000, 10_000, 100_000), 5)


def competition(quick: bool) -> list[Record]:
    """Measure marginals of competition instances.

    Parameters
    ----------
    quick
        Whether to leave them out: exact answers alone take longer.

    Returns
    -------
    list of dict
        Records.
    """
    return [] if quick else each(families.competition(), (100, 1_000, 10_000), 5)


def named_entities(quick: bool) -> list[Record]:
    """Measure marginals and best states of sentences, in five groups.

    Parameters
    ----------
    quick
        Whether to take fewer sentences and sweeps.

    Returns
    -------
    list of dict
        Records.
    """
    chains = families.sentences(140 if quick else 28)
    if not chains:
        return []
    sweeps = (10, 100) if quick else (10, 30, 100, 1_000, 10_000)
    best = [heeler.exact.viterbi(chain)[1] for chain in chains]
    targets = [target_of(chain) for chain in chains]
    records = []
    for setting in (RANDOM, QUASI, HERDED["neighbours"], HERDED["binned(64)"]):
        looks = tuple(t for t in sweeps if setting.driver != "quasi" or t in PERIODS)
        groups: list[list[list[dict[str, float]]]] = [[] for _ in range(5)]
        for k, (chain, target) in enumerate(zip(chains, targets, strict=True)):
            groups[k % 5].append(curve(chain, target, setting, looks, seed=k + 1))
        curves = [mean_curve(group) for group in groups]
        found = [
            found_best(chain, setting, b, k)
            for k, (chain, b) in enumerate(zip(chains, best, strict=True))
        ]
        records.append(
            {"model": f"{len(chains)} sentences", "values": 4, "found": float(np.mean(found))}
            | as_row(setting)
            | summarise(curves)
        )
    return records


def mean_curve(curves: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Average curves point by point."""
    return [
        {name: float(np.mean([c[k][name] for c in curves])) for name in point}
        for k, point in enumerate(curves[0])
    ]


def found_best(chain: heeler.Model, setting: Setting, best: float, number: int) -> bool:
    """Say whether 100 sweeps (quasi: 256) meet the best labelling.

    Parameters
    ----------
    chain
        The sentence.
    setting
        How to sample.
    best
        The best score.
    number
        Which sentence: its seed.

    Returns
    -------
    bool
        Whether the score was reached.
    """
    more = {"context": setting.context} if setting.context else {}
    run = heeler.sample(
        chain,
        driver=setting.driver,
        sweeps=256 if setting.driver == "quasi" else 100,
        chains=1,
        seed=number + 1,
        threads=1,
        progress=False,
        **more,
    )
    return bool(run.best.log_score >= best - 1e-6 * max(1.0, abs(best)))
