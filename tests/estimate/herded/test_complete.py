"""Theorem 2 and its sharper form: constants from their definitions, truth from actual runs."""

import itertools
import math

import numpy as np
import pytest

import heeler

SWEEPS = (1, 7, 50, 1000, 20_000)


def complete_model(variables, seed, strength=0.5):
    """Make a complete Ising graph with random couplings and fields."""
    rng = np.random.default_rng(seed)
    coupling = np.triu(rng.uniform(-strength, strength, (variables, variables)), 1)
    return heeler.ising(coupling, rng.uniform(-strength, strength, variables))


def joint_of(model):
    """Give the joint distribution."""
    return heeler.exact.enumerate(model)


def distance(p, q):
    """Compute the total variation distance."""
    return float(np.abs(np.asarray(p) - np.asarray(q)).sum() / 2)


def run_of(model, sweeps, context="neighbours", **more):
    """Herd one chain and keep its joint distribution."""
    return heeler.sample(
        model, driver="herded", scan="systematic", context=context, chains=1, sweeps=sweeps,
        keep="joint", progress=False, **more,
    )  # fmt: skip


@pytest.mark.parametrize("variables", [2, 3, 4])
def test_constants_from_their_definitions(variables):
    model = complete_model(variables, 1)
    bounds = heeler.herded_bounds(model)
    states = list(itertools.product((0, 1), repeat=variables))
    least = min(model.conditional(v, np.array(s)).min() for v in range(variables) for s in states)
    assert bounds.least_conditional == pytest.approx(least, rel=1e-8)
    assert bounds.l == pytest.approx(least**variables, rel=1e-7)
    b = bounds.l + sum(least**j * 2 ** min(variables, j) for j in range(variables))
    assert bounds.b == pytest.approx(b, rel=1e-7)
    kernel = bounds.kernel()
    eta = max(distance(x, y) for x, y in itertools.combinations(kernel, 2))
    assert bounds.eta == pytest.approx(eta, abs=1e-11)
    assert bounds.t_star == pytest.approx(2 * b / bounds.l, rel=1e-7)
    lam = 2 * variables * (1 + eta) / (bounds.l * (1 - eta))
    assert bounds.lam == pytest.approx(lam, rel=1e-7)
    sweeps = 100 * bounds.lam
    tau = math.log((1 - eta) * bounds.l * sweeps / (4 * variables), 2 / (1 + eta))
    assert tau + 1 <= bounds.tau_star(sweeps) <= tau + 2 + 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("variables", [2, 3, 4])
def test_no_run_is_farther_than_its_bounds(variables, seed):
    model = complete_model(variables, seed, 0.2 + 0.2 * seed)
    bounds, joint = heeler.herded_bounds(model), joint_of(model)
    marginals = [bounds.marginal([v]) for v in range(variables)]
    for sweeps in SWEEPS:
        for burn_in in (0, 3):
            run = run_of(model, sweeps, burn_in=burn_in)
            assert distance(run.joint, joint) <= bounds.joint.bound(sweeps)
            for v, bound in enumerate(marginals):
                axes = tuple(k for k in range(variables) if k != v)
                apart = distance(run.joint.sum(axis=axes), joint.sum(axis=axes))
                assert apart <= bound.bound(sweeps)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_2_and_corollary_10_where_they_speak(seed):
    model = complete_model(2, seed, 0.4)
    bounds, joint = heeler.herded_bounds(model), joint_of(model)
    spoken = 0
    for sweeps in (50, 500, 5000, 50_000):
        late = bounds.theorem_2(sweeps)
        if late is not None:
            run = run_of(model, sweeps, burn_in=bounds.tau_star(sweeps))
            assert distance(run.joint, joint) <= late
            spoken += late < 1.0
        whole = bounds.corollary_10(sweeps)
        if whole is not None:
            assert distance(run_of(model, sweeps).joint, joint) <= whole
            assert not bounds.vacuous(sweeps) or whole >= 1.0
    assert spoken >= 2
    assert bounds.vacuous(10)
    assert bounds.theorem_2(10) is None


def test_every_start_of_states_and_weights():
    """The bounds hold for any first state and weights: 40 random ones, one chain each."""
    model = complete_model(3, 5)
    bounds, joint = heeler.herded_bounds(model), joint_of(model)
    driver = heeler.driver.Herded("neighbours", start="random")
    for seed in range(40):
        run = heeler.sample(
            model, driver=driver, scan="systematic", chains=1, sweeps=60, seed=seed, keep="joint",
            progress=False,
        )  # fmt: skip
        assert distance(run.joint, joint) <= bounds.joint.bound(60)


def test_full_contexts_on_a_ring():
    ring = heeler.ising([(0, 1, 0.6), (1, 2, 0.6), (2, 3, -0.6), (3, 0, 0.6)], 0.2)
    with pytest.raises(ValueError, match="not complete"):
        heeler.herded_bounds(ring)
    bounds, joint = heeler.herded_bounds(ring, context="full"), joint_of(ring)
    for sweeps in SWEEPS:
        apart = distance(run_of(ring, sweeps, context="full").joint, joint)
        assert apart <= bounds.joint.bound(sweeps)
    assert bounds.joint.bound(20_000) < 0.01


def test_hard_zeros_where_every_state_can_be_reached():
    hard = heeler.factor_graph(
        [2, 2, 2],
        [((i, j), [[1.0, 0.7], [1.2, 0.0]]) for i, j in ((0, 1), (1, 2), (0, 2))],
    )
    bounds, joint = heeler.herded_bounds(hard), joint_of(hard)
    assert bounds.steps > 3
    for sweeps in SWEEPS:
        assert distance(run_of(hard, sweeps).joint, joint) <= bounds.joint.bound(sweeps)
    stuck = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    with pytest.raises(ValueError, match="zeros keep single updates"):
        heeler.herded_bounds(stuck)


def test_proposition_7_beside_the_empirical_kernel():
    model = complete_model(2, 3, 0.4)
    bounds = heeler.herded_bounds(model)
    spoken = 0
    for sweeps in (200, 2000, 20_000):
        run = heeler.sample(
            model, driver="herded", scan="systematic", context="neighbours", chains=1,
            sweeps=sweeps + 1, keep="samples", progress=False,
        )  # fmt: skip
        states = np.asarray(run.samples).reshape(-1, 2)
        apart = np.abs(bounds.empirical_kernel(states) - bounds.kernel()).sum(axis=1).max()
        limit = bounds.proposition_7(sweeps)
        assert limit is not None
        assert apart <= limit
        spoken += limit < 2.0
    assert spoken >= 2
    assert bounds.proposition_7(5) is None


def test_sweeps_needed_are_the_fewest():
    bounds = heeler.herded_bounds(complete_model(3, 2))
    for epsilon in (0.3, 0.01, 1e-5):
        needed = bounds.joint.sweeps(epsilon)
        assert needed is not None
        assert bounds.joint.bound(needed) <= epsilon < bounds.joint.bound(needed - 1)
    assert bounds.joint.sweeps(1e-12) is None
    needed = bounds.sweeps_of_theorem_2(0.05)
    assert bounds.theorem_2(needed) <= 0.05


def test_a_marginal_costs_less_than_the_joint():
    bounds = heeler.herded_bounds(complete_model(4, 4))
    assert bounds.marginal([0]).constant < bounds.marginal([0, 2]).constant
    assert bounds.marginal([0, 2]).constant < bounds.joint.constant
    assert bounds.marginal(range(4)).constant == pytest.approx(bounds.joint.constant)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scan": "uniform"}, "fixed order"),
        ({"scan": [0, 1, 1, 2]}, "exactly once"),
        ({"context": "binned(8)"}, "binned"),
        ({"context": "shared"}, "shared"),
        ({"temperature": [1.0, 2.0]}, "one temperature"),
    ],
)
def test_reasons(options, message):
    with pytest.raises(ValueError, match=message):
        heeler.herded_bounds(complete_model(3, 0), **options)


def test_clamped_models_are_refused():
    with pytest.raises(ValueError, match="all variables are clamped"):
        heeler.herded_bounds(complete_model(2, 0).given({0: 0, 1: 1}))
    with pytest.raises(TypeError, match="model"):
        heeler.herded_bounds("model")


def test_text_and_dictionary():
    bounds = heeler.herded_bounds(complete_model(3, 2))
    assert "Theorem 2" in repr(bounds)
    assert "vacuous before" in repr(bounds)
    content = bounds.to_dict()
    assert content["lambda"] == bounds.lam
    assert content["discrepancy"]["constant"] == bounds.joint.constant
