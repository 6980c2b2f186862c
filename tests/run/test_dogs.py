"""Optimised scans in runs: every driver, restarts, evidence, files."""

import numpy as np
import pytest

import heeler
from heeler.exact.distance import evolved
from heeler.scan.plan import as_plan


def grid():
    """Make a small grid with fields."""
    return heeler.lattice((3, 3), 0.3, np.linspace(-0.4, 0.6, 9))


def test_a_run_is_the_scan_that_is_made():
    model = grid()
    scan = heeler.DoGS(target=4, epsilon=0.2)
    made = heeler.shortest_scan(model, 0.2, 4)
    run = heeler.sample(model, driver="random", scan=scan, restart=True, sweeps=50, seed=3)
    same = heeler.sample(model, driver="random", scan=made.order, restart=True, sweeps=50, seed=3)
    np.testing.assert_array_equal(run.marginals.array, same.marginals.array)
    assert run.settings["scan_steps"] == len(made)
    assert run.settings["scan_guarantee"] == made.guarantee <= 0.2
    assert heeler.variation(model, scan, 4) == pytest.approx(made.guarantee, rel=1e-12)
    assert "scan_steps" not in same.settings


def test_restarted_draws_have_the_distribution_of_the_scan():
    model = grid()
    first = np.zeros(9, np.uint8)
    scan = heeler.optimise_scan(model, "systematic", 4, length=14)
    p = heeler.exact.enumerate(model)
    plan = as_plan(scan, heeler.influence(model))
    after = evolved(p, np.array([0]), plan)[0]
    expected = np.array([after.take(1, axis=v).sum() for v in range(9)])
    draws = 40_000
    run = heeler.sample(
        model, driver="random", scan=scan, restart=True, init=first, sweeps=draws // 4, seed=5
    )
    seen = run.marginals.array[:, 1]
    visited = np.unique(scan.order)
    assert np.isnan(np.delete(seen, visited)).all()
    # Independent draws: six standard deviations, below 2e-9 a variable.
    error = 6 * np.sqrt(expected * (1 - expected) / draws)
    assert (abs(seen - expected) <= error)[visited].all()
    truth = p.take(1, axis=4).sum()
    assert abs(expected[4] - truth) <= scan.guarantee


@pytest.mark.parametrize("driver", ["random", "herded", "quasi", "greedy"])
@pytest.mark.parametrize("restart", [False, True])
def test_every_driver(driver, restart):
    model = grid()
    scan = heeler.DoGS(target=[3, 4], epsilon=0.02)
    run = heeler.sample(model, driver=driver, scan=scan, restart=restart, sweeps=1024, seed=1)
    again = heeler.sample(model, driver=driver, scan=scan, restart=restart, sweeps=1024, seed=1)
    np.testing.assert_array_equal(run.marginals.array, again.marginals.array)
    holds = driver == "random"
    assert (run.settings["scan_guarantee"] is not None) == holds
    if driver != "greedy":
        truth = heeler.exact.marginals(model).array[3:5]
        assert abs(run.marginals.array[3:5] - truth).max() < 0.06


def test_many_values_and_evidence():
    model = heeler.potts([(k, k + 1, 0.4) for k in range(7)], 3, [0.0, 0.2, -0.3]).given({3: 2})
    scan = heeler.DoGS(target=[2], epsilon=0.05)
    run = heeler.sample(model, driver="random", scan=scan, restart=True, sweeps=2000, seed=1)
    truth = heeler.exact.marginals(model)[2]
    # 8000 draws: the guarantee and six standard deviations.
    assert abs(run.marginals[2] - truth).max() < 0.05 + 6 * np.sqrt(0.25 / 8000)
    runs = heeler.sample(
        model, scan=scan, driver="random", restart=True, sweeps=10, evidence=[{0: 1}, {7: 0}]
    )
    assert [run.settings["scan_guarantee"] <= 0.05 for run in runs] == [True, True]


def test_step_level_and_files(tmp_path):
    model = grid()
    kernel = heeler.SingleSite(scan=heeler.DoGS(length=20))
    state = kernel.advance(kernel.init(model, lanes=2, seed=1), 5)
    assert state.passes == 5
    run = heeler.sample(model, scan=heeler.DoGS(length=20), sweeps=20, seed=2)
    run.save(tmp_path / "run.npz")
    loaded = heeler.load(tmp_path / "run.npz").resume(sweeps=20)
    whole = heeler.sample(model, scan=heeler.DoGS(length=20), sweeps=40, seed=2)
    np.testing.assert_array_equal(loaded.marginals.array, whole.marginals.array)


def test_what_is_wrong_is_said():
    model = grid()
    with pytest.raises(ValueError, match="one temperature"):
        heeler.sample(model, scan=heeler.DoGS(), sweeps=3, temperature=[2.0, 1.0])
    with pytest.raises(ValueError, match="clamped"):
        heeler.sample(model.given({4: 1}), scan=heeler.DoGS(target=4), sweeps=3)
    with pytest.raises(ValueError, match="'epsilon'"):
        heeler.sample(model, scan=heeler.DoGS(epsilon=-1.0), sweeps=3)
    with pytest.raises(ValueError, match="up to 3 steps"):
        heeler.sample(model, scan=heeler.DoGS(epsilon=1e-3, length=3), sweeps=3)
    with pytest.raises(ValueError, match=r"'scan'.*Weighted"):
        heeler.sample(model, scan=[0, {1: 0.5, 2: 0.5}], driver="random", sweeps=3)
    with pytest.warns(UserWarning, match="never updates"):
        heeler.sample(model, scan=heeler.DoGS(target=0, length=3), sweeps=3)


def test_temperature_and_defaults():
    model = grid()
    hot = heeler.sample(
        model, scan=heeler.DoGS(target=0, epsilon=0.1), driver="random", temperature=4.0,
        restart=True, sweeps=3,
    )  # fmt: skip
    cold = heeler.sample(
        model, scan=heeler.DoGS(target=0, epsilon=0.1), driver="random", restart=True, sweeps=3
    )
    assert hot.settings["scan_steps"] < cold.settings["scan_steps"]
    named = heeler.sample(model, scan="dogs", driver="random", sweeps=3)
    once = heeler.variation(model, "systematic")
    assert named.settings["scan_guarantee"] <= once
    clamped = model.given(dict.fromkeys(range(9), 1))
    assert heeler.sample(clamped, scan="dogs", sweeps=3).marginals[0].tolist() == [0.0, 1.0]
