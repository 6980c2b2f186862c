"""Energies of the periodic Ising lattice without a field, against the exact finite lattice."""

from dataclasses import replace
from typing import Any

import numpy as np

import heeler
from accuracy_study.measure import HERDED, RANDOM, as_row

SIDE = 64


def log_z(side: int, beta: float) -> float:
    """Compute log Z of the periodic square lattice (Kaufman 1949), coupling beta.

    Parameters
    ----------
    side
        Rows and columns.
    beta
        The coupling.

    Returns
    -------
    float
        log of the sum over states of exp(beta * sum over bonds of s s').
    """
    number = np.arange(2 * side)
    cosh = np.cosh(2 * beta) * np.cosh(2 * beta) / np.sinh(2 * beta)
    gamma = np.arccosh(np.maximum(cosh - np.cos(np.pi * number / side), 1.0))
    # gamma_0 changes its sign at the critical point.
    gamma[0] = 2 * beta + np.log(np.tanh(beta))
    terms = []
    for parity in (1, 0):
        half = 0.5 * side * gamma[parity::2]
        log_cosh = np.abs(half) + np.log1p(np.exp(-2 * np.abs(half)))
        with np.errstate(divide="ignore"):
            log_sinh = np.abs(half) + np.log(-np.expm1(-2 * np.abs(half)))
        sign = -1.0 if parity == 0 and half[0] < 0 else 1.0
        terms += [(1.0, log_cosh.sum()), (sign, log_sinh.sum())]
    top = max(value for _, value in terms)
    total = sum(sign * np.exp(value - top) for sign, value in terms)
    # 2 cosh and 2 sinh: log1p leaves out exactly the factor 2 of each.
    sites = side * side
    return float(-np.log(2) + 0.5 * sites * np.log(2 * np.sinh(2 * beta)) + top + np.log(total))


def exact_energy(side: int, beta: float) -> float:
    """Compute the mean energy per site of the periodic lattice, -sum of s s' / sites.

    Parameters
    ----------
    side
        Rows and columns.
    beta
        The coupling.

    Returns
    -------
    float
        The energy.
    """
    step = 1e-5  # central difference: truncation about 1e-9, rounding about 1e-9
    return -(log_z(side, beta + step) - log_z(side, beta - step)) / (2 * step * side**2)


def energies(quick: bool) -> list[dict[str, Any]]:
    """Measure the bias of the energy per site.

    Parameters
    ----------
    quick
        Whether to shorten the runs.

    Returns
    -------
    list of dict
        One record per coupling and setting.
    """
    sweeps = 2**11 if quick else 2**15
    rows = [(RANDOM, 1 if quick else 5)]
    rows += [(HERDED[c], 1) for c in ("neighbours", "shared", "binned(64)")]
    rows += [(replace(setting, scan="chromatic"), count) for setting, count in rows]
    records = []
    for beta in (0.2, 0.3, 0.4, 0.44):
        exact = exact_energy(SIDE, beta)
        model = heeler.lattice((SIDE, SIDE), coupling=beta, periodic=True)
        for setting, repeats in rows:
            found = [one_energy(model, setting, sweeps, seed) for seed in range(1, repeats + 1)]
            gaps = np.array(found) / -(beta * SIDE**2) - exact
            spread = gaps.std(ddof=1) / np.sqrt(repeats) if repeats > 1 else float("nan")
            records.append(
                {"model": f"torus {SIDE}x{SIDE}, beta {beta:g}"}
                | as_row(setting)
                | {"sweeps": [sweeps], "bias": [float(gaps.mean())], "error": [float(spread)]}
                | {"exact": exact, "instances": [repeats]}
            )
    return records


def one_energy(model: heeler.Model, setting: Any, sweeps: int, seed: int) -> float:
    """Average the log score over a run after a burn-in of an eighth.

    Parameters
    ----------
    model
        The lattice.
    setting
        How to sample.
    sweeps
        Sweeps that are averaged.
    seed
        First state and random words.

    Returns
    -------
    float
        The mean log score.
    """
    more = {"context": setting.context} if setting.context else {}
    run = heeler.sample(
        model,
        driver=setting.driver,
        scan=setting.scan,
        sweeps=sweeps,
        burn_in=sweeps // 8,
        chains=1,
        seed=seed,
        threads=1,
        progress=False,
        keep={"functions": {"score": model.log_score}},
        **more,
    )
    return run.functions["score"].mean
