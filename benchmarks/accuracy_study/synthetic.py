"""Studies on random models: small graphs, 4x4 grids, dense graphs, 10x10 grids."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import heeler
from accuracy_study import families
from accuracy_study.measure import (
    HERDED,
    QUASI,
    RANDOM,
    Setting,
    as_row,
    curve,
    summarise,
    target_of,
)

Record = dict[str, Any]
UNIFORM = replace(RANDOM, scan="uniform")


def medians(
    name: str,
    make: Callable[[int], heeler.Model],
    settings: Iterable[tuple[Setting, tuple[int, ...]]],
    instances: int,
    keep: tuple[str, ...] = (),
) -> list[Record]:
    """Run settings on instances of a family.

    Parameters
    ----------
    name
        The family's name in the tables.
    make
        Makes the instance of a seed.
    settings
        Settings and when to look.
    instances
        How many; seeds are 1, 2, ...
    keep
        "pairs" and "joint" measure those too.

    Returns
    -------
    list of dict
        One record per setting.
    """
    models = [make(seed) for seed in range(1, instances + 1)]
    targets = [target_of(model, keep) for model in models]
    records = []
    for setting, sweeps in settings:
        curves = []
        for number, (model, target) in enumerate(zip(models, targets, strict=True), start=1):
            curves.append(curve(model, target, setting, sweeps, seed=number))
        records.append({"model": name} | as_row(setting) | summarise(curves))
    return records


def small(quick: bool) -> list[Record]:
    """Measure marginals and joints of graphs of 4 to 9 variables, couplings and fields +-0.5.

    Parameters
    ----------
    quick
        Whether to leave out the long runs.

    Returns
    -------
    list of dict
        Records.
    """
    sweeps = (100, 1_000, 10_000) if quick else (100, 1_000, 10_000, 100_000, 1_000_000)
    longest = sweeps if quick else (*sweeps, 10_000_000)
    records = []
    for graph in ("K6", "3x3 grid", "chain of 8", "4-cycle"):
        settings = [(RANDOM, sweeps), (UNIFORM, sweeps), (QUASI, sweeps)]
        for context, setting in HERDED.items():
            exact = context in ("neighbours", "radius(2)", "full")
            settings.append((setting, longest if exact and "3x3" in graph else sweeps))
        settings.append((replace(HERDED["full"], start="random"), sweeps))
        settings.append((replace(HERDED["neighbours"], scan="uniform"), sweeps))
        records += medians(
            graph, lambda seed, g=graph: families.signed(g, 0.5, seed), settings, 5, ("joint",)
        )
    return records


def strengths(quick: bool) -> list[Record]:
    """Measure 3x3 grids of growing couplings at the end of long runs.

    Parameters
    ----------
    quick
        Whether to shorten the runs.

    Returns
    -------
    list of dict
        Records.
    """
    sweeps = (10_000,) if quick else (10_000, 1_000_000)
    contexts = ("neighbours", "binned(64)", "radius(2)", "full")
    settings = [(RANDOM, sweeps), (QUASI, sweeps), *((HERDED[c], sweeps) for c in contexts)]
    records = []
    for strength in (0.25, 0.5, 1.0, 2.0):
        records += medians(
            f"3x3 grid +-{strength:g}",
            lambda seed, s=strength: families.signed("3x3 grid", s, seed),
            settings,
            5,
            ("joint",),
        )
    return records


def grids(quick: bool) -> list[Record]:
    """Measure sites and pairs of 4x4 grids and of a complete graph of ten.

    The context "shared" is left out: with couplings drawn one by one it is "neighbours".

    Parameters
    ----------
    quick
        Whether to leave out the long runs.

    Returns
    -------
    list of dict
        Records.
    """
    powers = (7, 10, 13) if quick else (7, 10, 13, 17, 20)
    sweeps = tuple(2**k for k in powers)
    longest = sweeps if quick else (*sweeps, 2**22)
    quasi = tuple(2 ** max(k, 8) for k in powers)
    settings = [(RANDOM, longest), (QUASI, quasi), (HERDED["neighbours"], longest)]
    names = ("binned(64)",) if quick else ("binned(4)", "binned(16)", "binned(64)")
    settings += [(HERDED[name], sweeps) for name in (*names, "radius(2)", "full")]
    settings += [(replace(HERDED[c], start="random"), sweeps) for c in ("neighbours", "full")]
    count = 5 if quick else 8
    records = []
    for graph, strength in [*(("4x4 grid", s) for s in (0.25, 0.5, 1.0, 2.0)), ("K10", 0.25)]:
        records += medians(
            f"{graph} +-{strength:g}",
            lambda seed, g=graph, s=strength: families.signed(g, s, seed),
            settings,
            count,
            ("pairs",),
        )
    return records


def dense(quick: bool) -> list[Record]:
    """Measure complete graphs, where the paper's contexts are too many.

    Parameters
    ----------
    quick
        Whether to leave out the long runs.

    Returns
    -------
    list of dict
        Records.
    """
    sweeps = (100, 1_000) if quick else (100, 1_000, 10_000, 100_000)
    names = ("binned(16)",) if quick else ("neighbours", "binned(4)", "binned(16)", "binned(64)")
    settings = [(s, sweeps) for s in (RANDOM, QUASI, *(HERDED[name] for name in names))]
    settings += [(replace(HERDED["neighbours"], start="random"), sweeps)]
    records = []
    for n, scale, units in ((10, 1.0, 1), (10, 3.0, 1), (16, 1.0, 1), (16, 3.0, 1), (16, 1.0, 0)):
        records += medians(
            f"{'units' if units else 'spins'}, n = {n}, scale {scale:g}",
            lambda seed, n=n, s=scale, u=units: families.dense(n, s, seed, bool(u)),
            settings,
            5,
            ("pairs",),
        )
    return records


def large(quick: bool) -> list[Record]:
    """Measure 10x10 grids with fields +-0.5.

    Parameters
    ----------
    quick
        Whether to leave out the long runs.

    Returns
    -------
    list of dict
        Records.
    """
    sweeps = (1_000,) if quick else (100, 1_000, 10_000, 100_000)
    names = ("neighbours", "binned(64)", "radius(2)")
    settings = [(s, sweeps) for s in (RANDOM, QUASI, *(HERDED[name] for name in names))]
    settings += [(replace(HERDED["radius(2)"], start="random"), sweeps)]
    records = []
    for strength in (0.25, 0.5, 1.0):
        records += medians(
            f"10x10 grid +-{strength:g}",
            lambda seed, s=strength: families.signed("10x10 grid", s, seed, 0.5),
            settings,
            5,
            ("pairs",),
        )
    return records


def fields(quick: bool) -> list[Record]:
    """Measure open 12x12 lattices with one coupling and a field.

    Parameters
    ----------
    quick
        Whether to leave this out.

    Returns
    -------
    list of dict
        Records.
    """
    if quick:
        return []
    names = ("neighbours", "shared")
    settings = [replace(s, scan="chromatic") for s in (RANDOM, *(HERDED[name] for name in names))]
    looks = [(setting, (1_000, 10_000, 100_000)) for setting in settings]
    records = []
    for beta in (0.2, 0.3, 0.4, 0.5):
        for width in (0.0, 0.3):
            records += medians(
                f"beta {beta:g}, field {f'+-{width:g}' if width else '0.1'}",
                lambda seed, b=beta, w=width: families.lattice(b, w, seed),
                looks,
                5,
            )
    return records
