"""Parallel tempering: the right distribution, also where single-site chains are stuck."""

from unittest.mock import patch

import numpy as np
import pytest

import heeler
from heeler.kernel.tempering import TemperingEngine
from zoo import ZOO


def stuck(strength=1.2):
    """Two modes far apart: six spins that all pull at each other, a little field."""
    return heeler.ising([(i, j, strength) for i in range(6) for j in range(i)], 0.02)


def test_it_moves_where_single_sites_are_stuck():
    model = stuck()
    exact = heeler.exact.marginals(model)[0][1]
    plain = heeler.sample(model, "gibbs", sweeps=2000, chains=4, seed=1)
    run = heeler.sample(model, heeler.Tempering(6), sweeps=2000, chains=4, burn_in=100, seed=1)
    # Never once across, in any chain: an average of 0, 1/4, 1/2, 3/4 or 1.
    assert np.abs(plain.marginals[0][1] * 4 - round(plain.marginals[0][1] * 4)) < 1e-3
    # Some 3000 round trips, each an independent draw of the mode: 6 standard deviations.
    assert run.stats["round_trips"] > 400
    assert abs(run.marginals[0][1] - exact) < 6 * 0.5 / np.sqrt(run.stats["round_trips"])
    assert len(run.stats["swap_rates"]) == 5
    assert min(run.stats["swap_rates"]) > 0.3
    assert run.stats["temperatures"][0] == 1.0


@pytest.mark.parametrize("kind", ["ising", "potts"])
def test_joint_distribution(kind):
    # 8 chains of 3000 passes; the counts of joint states against their probabilities within 8
    # standard deviations of independent draws, passes being correlated but little on these models.
    model = ZOO[kind](np.random.default_rng(5))
    run = heeler.sample(
        model, heeler.Tempering([1.0, 2.0, 5.0]), sweeps=3000, chains=8, burn_in=50, seed=2,
        keep="joint",
    )  # fmt: skip
    p = heeler.exact.enumerate(model).ravel()
    draws = 8 * 3000
    spread = np.sqrt(p * (1 - p) / draws)
    assert (np.abs(run.joint.ravel() - p) < 8 * spread + 2 / draws).all()


def test_wrong_swaps_would_show():
    # The same bound catches swaps that are always taken: what the test above is worth.
    model = ZOO["ising"](np.random.default_rng(5))
    ladder = TemperingEngine.__init__

    def careless(self, parts, ratios, *others):
        ladder(self, parts, np.ones_like(ratios), *others)

    with patch.object(TemperingEngine, "__init__", careless):
        run = heeler.sample(
            model, heeler.Tempering([1.0, 2.0, 5.0]), sweeps=3000, chains=8, burn_in=50, seed=2,
            keep="joint",
        )  # fmt: skip
    p = heeler.exact.enumerate(model).ravel()
    spread = np.sqrt(p * (1 - p) / (8 * 3000))
    assert (np.abs(run.joint.ravel() - p) > 20 * spread).any()


def test_pieces_files_and_temperatures(tmp_path):
    model = stuck(0.4)
    kernel = heeler.Tempering(3, "metropolis", every=2)
    whole = heeler.sample(model, kernel, sweeps=40, burn_in=5, chains=3, seed=3, temperature=1.3)
    part = heeler.sample(model, kernel, sweeps=17, burn_in=5, chains=3, seed=3, temperature=1.3)
    part.save(tmp_path / "run.npz")
    again = heeler.load(tmp_path / "run.npz").resume(sweeps=23)
    np.testing.assert_array_equal(whole.marginals.array, again.marginals.array)
    np.testing.assert_array_equal(whole.log_scores, again.log_scores)
    assert whole.stats["swap_rates"] == again.stats["swap_rates"]
    assert whole.settings["kernel"]["name"] == "tempering"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: heeler.Tempering(1), "'temperatures' parameter must be a number from 2"),
        (lambda: heeler.Tempering([2.0, 3.0]), "1 and higher temperatures that rise"),
        (lambda: heeler.Tempering([1.0, 3.0, 2.0]), "1 and higher temperatures that rise"),
        (lambda: heeler.Tempering([1.0, np.inf]), "1 and higher temperatures that rise"),
        (lambda: heeler.Tempering("many"), "'temperatures' parameter"),
        (lambda: heeler.Tempering(4, "herded"), "'kernel' of parallel tempering must be"),
        (lambda: heeler.Tempering(4, heeler.Tempering(2)), "'kernel' of parallel tempering"),
        (lambda: heeler.Tempering(4, every=0), "'every' parameter"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
