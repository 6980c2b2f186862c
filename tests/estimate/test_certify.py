"""Certificates: never below the exact distance, the right theorem, a reason where there is none."""

import itertools
import json

import numpy as np
import pytest

import heeler
from heeler.estimate.small import SmallChain
from heeler.estimate.target import asked_of
from heeler.exact.sweep import small_model
from heeler.scan.plan import as_plan

GRID = heeler.lattice((3, 3), coupling=0.2, field=0.1)
STRONG = heeler.lattice((3, 3), coupling=0.6)
WIDE = heeler.lattice((12, 12), coupling=0.6)
EQUAL = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])


def worst_distance(model, scan, sweeps, members=None):
    """Evolve every start by every step in turn; the largest distance of the marginal."""
    small = small_model(model)
    place = {int(v): k for k, v in enumerate(small.problem.free)}
    rows = np.eye(len(small.target))[small.support]
    for _ in range(sweeps):
        for step in scan:
            shares = {step: 1.0} if isinstance(step, int) else dict(enumerate(step))
            rows = sum(share * small.update(place[v], rows) for v, share in shares.items() if share)
    axes = [place[v] for v in (place if members is None else members)]
    others = tuple(k + 1 for k in range(len(place)) if k not in axes)
    apart = (rows - small.target).reshape(-1, *small.shape).sum(axis=others)
    return np.abs(apart.reshape(len(apart), -1)).sum(axis=1).max() / 2


def random_models():
    """Make models whose influences are weak."""
    rng = np.random.default_rng(2)
    for _ in range(4):
        edges = list(itertools.combinations(range(5), 2))
        picked = rng.choice(len(edges), 6, replace=False)
        couplings = [(*edges[k], rng.normal(0, 0.25)) for k in picked]
        yield heeler.ising(couplings, rng.normal(size=5), n_variables=5)
        factors = [(edges[k], np.exp(rng.normal(0, 0.25, (2, 2)))) for k in picked]
        factors.append(((0, 2, 4), np.exp(rng.normal(0, 0.1, (2, 2, 2)))))
        yield heeler.factor_graph([2] * 5, factors)
    yield heeler.potts([(0, 1, 0.3), (1, 2, -0.4), (2, 3, 0.2)], 3)


@pytest.mark.parametrize("model", list(random_models()), ids=lambda m: m.kind)
@pytest.mark.parametrize("kind", ["systematic", "uniform", "sequence"])
def test_never_below_the_distance_from_the_worst_start(model, kind):
    n = model.n_variables
    uniform = [1 / n] * n
    sequence = np.random.default_rng(n).integers(0, n, 12).tolist()
    scan, steps = {
        "systematic": ("systematic", list(range(n))),
        "uniform": ("uniform", [uniform] * n),
        "sequence": (sequence, sequence),
    }[kind]
    for sweeps, target in itertools.product((1, 2, 5), (None, [0], [1, 3])):
        found = heeler.certify(model, scan=scan, sweeps=sweeps, target=target)
        exact = worst_distance(model, steps, sweeps, target)
        assert found.bound >= exact - 1e-12
        plan = as_plan(scan, heeler.influence(model))
        computed = SmallChain(model, plan, asked_of(target, model), 1.0).after(sweeps)
        assert computed == pytest.approx(exact, abs=1e-10)
        assert computed >= exact - 1e-14
    assert found.certified
    assert "Theorem 8" in found.theorem or "enumeration" in found.theorem


@pytest.mark.parametrize("target", [None, 4, [0, 8]])
@pytest.mark.parametrize("scan", ["auto", "uniform", [4, 1, 3, 5, 7, 0, 2, 6, 8, 4]])
def test_sweeps_and_steps_for_an_accuracy_are_enough(scan, target):
    found = heeler.certify(GRID, scan=scan, target=target, epsilon=0.02)
    assert found.certified
    assert found.bound <= 0.02
    assert found.steps <= found.sweeps * len(scan if isinstance(scan, list) else range(9))
    whole = "chromatic" if scan == "auto" else scan
    matrix = heeler.influence(GRID)
    assert heeler.variation(matrix, whole, target, length=found.steps) <= 0.02
    assert heeler.variation(matrix, whole, target, passes=found.sweeps - 1) > 0.02
    after = heeler.certify(GRID, scan=scan, target=target, sweeps=found.sweeps)
    assert after.bound == pytest.approx(found.bound)


def test_few_states_are_computed_where_influences_are_strong():
    found = heeler.certify(STRONG, scan="systematic", epsilon=0.01)
    assert found.certified
    assert "enumeration" in found.theorem
    assert worst_distance(STRONG, range(9), found.sweeps) <= found.bound <= 0.01
    assert worst_distance(STRONG, range(9), found.sweeps - 1) > 0.01
    one = heeler.certify(STRONG, scan="systematic", target=4, epsilon=0.01)
    assert worst_distance(STRONG, range(9), one.sweeps, [4]) <= one.bound <= 0.01


def test_strong_influences_of_many_variables_have_no_certificate_but_an_estimate():
    found = heeler.certify(WIDE, epsilon=0.01)
    assert not found.certified
    assert found.vacuous
    assert "no norm of the influence is below 1" in found.reason
    assert min(found.details["norms"].values()) >= 1.0
    assert ".couple()" in repr(found)
    coupled = found.couple(pairs=16, most_sweeps=3)
    assert "did not meet" in repr(coupled)
    hot = heeler.certify(WIDE, epsilon=0.1, temperature=2.0)
    assert hot.couple(pairs=64).sweeps(0.2) is not None


def test_scans_that_leave_variables_out():
    found = heeler.certify(heeler.lattice((12, 12), coupling=0.2), scan=[0, 1, 2], epsilon=0.01)
    assert not found.certified
    assert "leaves variables out" in found.reason
    corner = heeler.certify(
        heeler.lattice((12, 12), coupling=0.2), scan=[0, 1, 2], target=0, epsilon=0.01
    )
    assert not corner.vacuous
    assert 0.01 < corner.bound < 1
    assert "more than 0.01" in repr(corner)


def test_too_few_sweeps_are_vacuous():
    found = heeler.certify(heeler.lattice((12, 12), coupling=0.2), sweeps=1)
    assert found.vacuous
    assert not found.certified
    assert found.bound > 1.0
    assert "so few sweeps" in found.reason


def test_hard_zeros():
    """The hard-core model at fugacity 1: zeros, weak enough on a path to be certified."""
    table = [[1.0, 1.0], [1.0, 0.0]]
    path = heeler.factor_graph([2] * 5, [((k, k + 1), table) for k in range(4)])
    found = heeler.certify(path, scan="systematic", sweeps=12)
    assert found.certified
    assert found.bound >= worst_distance(path, range(5), 12)
    stuck = heeler.certify(EQUAL, epsilon=0.1)
    assert not stuck.certified
    assert stuck.vacuous


def test_evidence_weights_and_temperature():
    clamped = GRID.given({4: 1})
    found = heeler.certify(clamped, scan="systematic", sweeps=4)
    order = [v for v in range(9) if v != 4]
    assert found.bound >= worst_distance(clamped, order, 4)
    weights = np.zeros(9)
    weights[[0, 1]] = 3.0, 0.5
    weighted = heeler.certify(GRID, target=weights, sweeps=3)
    single = [heeler.certify(GRID, target=v, sweeps=3).bound for v in (0, 1)]
    assert weighted.bound == pytest.approx(3.0 * single[0] + 0.5 * single[1])
    cold = heeler.certify(GRID, sweeps=3)
    hot = heeler.certify(GRID, sweeps=3, temperature=4.0)
    assert hot.bound < cold.bound
    assert hot.settings["temperature"] == 4.0


def test_a_matrix_of_ones_own():
    matrix = heeler.influence(GRID)
    assert heeler.certify(GRID, sweeps=3, influence=matrix).bound == pytest.approx(
        heeler.certify(GRID, sweeps=3).bound
    )
    with pytest.raises(ValueError, match="'influence'"):
        heeler.certify(GRID, influence=np.zeros((3, 3)))


def complete(n):
    """Make a complete graph."""
    return heeler.ising([(i, j, 0.2) for i, j in itertools.combinations(range(n), 2)], 0.1)


@pytest.mark.parametrize("epsilon", [0.1, 0.003])
def test_herded_runs_of_complete_graphs(epsilon):
    model = complete(4)
    found = heeler.certify(model, driver="herded", epsilon=epsilon)
    assert found.certified
    assert "Lemma 3" in found.theorem
    assert found.details["theorem_2"] is None or found.details["theorem_2"] > found.bound
    run = heeler.sample(
        model, driver="herded", scan="systematic", context="neighbours", sweeps=found.sweeps,
        chains=1, keep="joint", progress=False,
    )  # fmt: skip
    exact = heeler.exact.enumerate(model)
    assert np.abs(run.joint - exact).sum() / 2 <= found.bound <= epsilon
    target = heeler.certify(model, driver="herded", target=[0, 1], epsilon=epsilon)
    assert target.sweeps < found.sweeps
    pair = np.abs((run.joint - exact).sum(axis=(2, 3))).sum() / 2
    assert pair <= heeler.certify(model, driver="herded", target=[0, 1], sweeps=found.sweeps).bound


def test_run_marginals_differ_by_what_the_note_says():
    model = complete(4)
    found = heeler.certify(model, driver="herded", target=0, sweeps=500)
    run = heeler.sample(model, driver="herded", chains=1, sweeps=500, progress=False)
    exact = heeler.exact.marginals(model)[0][1]
    assert "8 / sweeps" in found.notes[0]
    assert abs(run.marginals[0][1] - exact) <= found.bound + 8 / 500


@pytest.mark.parametrize(
    ("model", "options", "reason"),
    [
        (GRID, {"driver": "herded"}, "open question"),
        (GRID, {"driver": "herded", "context": "binned(8)"}, "not complete"),
        (complete(4), {"driver": "herded", "scan": "shuffled"}, "fixed order"),
        (complete(12), {"driver": "herded", "context": "full"}, "at most 1024 joint states"),
        (GRID, {"driver": "quasi"}, "'quasi'"),
        (GRID, {"driver": "greedy"}, "'greedy'"),
        (GRID, {"scan": "jacobi"}, "Jacobi"),
        (GRID, {"temperature": [2.0, 1.0]}, "temperature varies"),
        (GRID, {"driver": heeler.Herded(bits=16)}, "16 bits"),
        (heeler.ising([], [0.1, 0.2]), {"driver": "herded"}, "gives no rate"),
        (heeler.ising([], [0.0, 0.2]), {"driver": "herded"}, "condition fails"),
    ],
)
@pytest.mark.filterwarnings("ignore:Herding loses")
def test_reasons(model, options, reason):
    found = heeler.certify(model, epsilon=0.1, **options)
    assert not found.certified
    assert found.bound is None
    assert reason in found.reason
    assert reason in repr(found)


def test_lone_variables_have_lemma_3_in_any_model():
    model = heeler.ising([(0, 1, 0.5)], [0.3, -0.1, 0.4], n_variables=3)
    found = heeler.certify(model, driver="herded", target=2, epsilon=0.01)
    assert found.certified
    assert found.theorem == "Lemma 3"
    assert found.sweeps == 101
    assert not heeler.certify(model, driver="herded", target=1, epsilon=0.01).certified
    wide = heeler.certify(model, driver="herded", target=2, context="radius(2)", epsilon=0.01)
    assert not wide.certified


def test_accuracy_beyond_rounding_is_refused():
    found = heeler.certify(complete(3), driver="herded", epsilon=1e-12)
    assert not found.certified
    assert "rounding" in found.reason


def test_text_and_dictionary():
    for found in (
        heeler.certify(GRID, epsilon=0.1),
        heeler.certify(WIDE),
        heeler.certify(complete(3), driver="herded", epsilon=0.1),
    ):
        content = json.loads(json.dumps(found.to_dict()))
        assert content["certified"] is found.certified
        assert found.settings["driver"] in repr(found)
    with pytest.raises(ValueError, match="'driver'"):
        found.couple()


def test_other_drivers_that_draw_have_estimates():
    model = heeler.ising([(0, 1, 0.5), (1, 2, -0.3)], [0.3, -0.5, 0.2])
    found = heeler.certify(model, driver="metropolis", scan="systematic", epsilon=0.05)
    assert not found.certified
    assert ".couple()" in repr(found)
    coupled = found.couple(pairs=200, seed=1)
    assert coupled.settings["driver"] == "metropolis"
    assert coupled.sweeps(0.05) > 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epsilon": 0.1, "sweeps": 3}, ValueError, "'epsilon' or 'sweeps'"),
        ({"epsilon": 0.0}, ValueError, "'epsilon'"),
        ({"epsilon": np.nan}, ValueError, "'epsilon'"),
        ({"epsilon": "small"}, TypeError, "'epsilon'"),
        ({"sweeps": -1}, ValueError, "'sweeps'"),
        ({"target": 9}, (ValueError, KeyError, IndexError), "variable"),
        ({"target": np.ones(4)}, ValueError, "'target'"),
        ({"target": np.zeros(9)}, ValueError, "'target'"),
        ({"scan": [0, 99]}, ValueError, "variable"),
        ({"context": "full"}, ValueError, "'context'"),
        ({"driver": "dice"}, ValueError, "'driver'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        heeler.certify(GRID, **options)


def test_bad_models():
    with pytest.raises(TypeError, match="'model'"):
        heeler.certify("model")
    with pytest.raises(ValueError, match="clamped"):
        heeler.certify(heeler.ising([(0, 1, 0.1)]).given({0: 1, 1: 1}))
    with pytest.raises(ValueError, match="clamped"):
        heeler.certify(GRID.given({3: 0}), target=3)
