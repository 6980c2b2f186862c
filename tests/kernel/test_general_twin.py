"""The compiled loop gives the bits of a slow twin: every conditional, driver and scan."""

import numpy as np
import pytest

import heeler
import naive_loop as naive
from engines import general
from heeler.driver import Herded
from heeler.kernel.lowered import lower_slots
from heeler.kernel.orders import alias_table, compile_scan
from heeler.kernel.slots import slots_of
from heeler.kernel.tausworthe import GENERATORS, stride_for
from heeler.scan import Sequence, Uniform, Weighted, as_scan
from loop_models import make

SEED = 0x9E3779B97F4A7C15  # both words of the key are in use


def twin_driver(name, context, rule, cond, beta, steps):
    """Make the twin of a driver."""
    if name == "random":
        return naive.Random(SEED)
    if name == "greedy":
        return naive.Greedy()
    if name in ("metropolis", "modified"):
        return (naive.Metropolis if name == "metropolis" else naive.Modified)(SEED)
    if name == "quasi":
        taps, sigma = GENERATORS[8]
        return naive.Quasi(SEED, taps, 8, sigma, stride_for(steps, 255), 5, 1)
    if context == "auto" and isinstance(cond, (naive.Units, naive.PottsOnTheFly)):
        context = "binned(64)"
    if context == "auto":
        first = naive.table_first(SEED, naive.place_of_neighbours_or_bins(64))
        return naive.Herded(naive.neighbours_or_bins(64), first, rule)
    if context == "neighbours":
        return naive.Herded(
            naive.neighbours, naive.table_first(SEED, naive.place_of_neighbours), rule
        )
    if context == "shared":
        return naive.Herded(
            naive.shared, naive.table_first(SEED, naive.place_of_shared(beta)), rule
        )
    if context == "full":
        return naive.Herded(naive.full, naive.hashed_first(SEED), rule)
    number = int(context[context.index("(") + 1 : -1])
    if context.startswith("binned"):
        return naive.Herded(
            naive.binned(number), naive.table_first(SEED, naive.place_of_bins(number)), rule
        )
    return naive.Herded(naive.within(number), naive.hashed_first(SEED), rule)


def twin_scan(scan, model, engine):
    """Make the twin of a scan."""
    free = model.free.tolist()
    if scan.name in ("systematic", "reversed"):
        return naive.Fixed(free if scan.name == "systematic" else free[::-1])
    if scan.name == "sequence":
        return naive.Fixed(scan.order)
    if scan.name == "jacobi":
        return naive.Jacobi(free)
    if scan.name == "shuffled":
        return naive.Shuffled(free, SEED)
    if scan.name == "chromatic":
        order = engine.plan.scan.order.tolist()
        assert sorted(order) == free
        return naive.Fixed(order)
    compiled, steps = compile_scan(scan, model, SEED)
    return naive.Weighted(
        compiled.order.tolist(), SEED, compiled.accept.tolist(), compiled.alias.tolist(), steps
    )


def check(
    kind, driver="random", scan="systematic", context="auto", rule="argmax", *,
    passes=24, lanes=2, temperature=1.3, evidence=None, restart=False, threads=1,
):  # fmt: skip
    """Run engine and twin side by side and compare everything."""
    model, cond, on_the_fly = make(kind)
    if evidence:
        model = model.given(evidence)
    schedule = isinstance(temperature, np.ndarray)
    cond = on_the_fly if schedule else cond
    scan = as_scan(scan)
    burn_in = 5 if driver == "quasi" else 0
    pairs = [(0, 1), (3, 0)]
    engine = general(
        model,
        Herded(rule=rule) if driver == "herded" else driver,
        scan,
        lanes=lanes,
        seed=SEED,
        sweeps=256,
        burn_in=burn_in,
        pairs=pairs,
        joint=len(cond.cards) < 8,
        temperature=temperature,
        restart=restart,
        **({"context": context} if driver == "herded" else {}),
    )
    assert engine.binary == cond.binary
    betas = [1 / t for t in (temperature if schedule else [temperature] * passes)]
    if scan.name == "chromatic" and model.kind == "ising":
        # Contexts are numbered in the order of the pass, so that it reads memory forwards.
        order = engine.plan.scan.order.tolist()
        cond.numbering = order + [i for i in range(model.n_variables) if i not in order]
    first = engine.states().copy()
    offset = np.atleast_1d(model.log_score(first))
    scores = np.empty((passes, lanes))
    engine.advance(passes, scores, threads)
    if schedule and context in ("auto", "neighbours"):
        context = "binned(64)"
    seen = naive.run(
        cond,
        twin_driver(driver, context, rule, cond, betas[0], engine.plan.steps),
        twin_scan(scan, model, engine),
        first,
        betas,
        restart,
    )
    unit = 1.0 / cond.scale
    assert engine.states().tolist() == [lane.x for lane in seen]
    assert np.array_equal(scores, np.array([lane.scores for lane in seen]).T * unit + offset)
    assert engine.best_states().tolist() == [lane.best for lane in seen]
    assert engine.best_scores().ravel().tolist() == [
        b + s.best_score * unit for b, s in zip(offset, seen, strict=True)
    ]
    one = 1 if restart else naive.BINARY_ONE if engine.binary else naive.KARY_ONE
    kept = slice(1, 2) if engine.binary else slice(None)
    sums = [[cell for row in lane.sums for cell in row[kept]] for lane in seen]
    if driver != "greedy":
        assert (engine.sums() * one).tolist() == sums
    states = np.array([lane.states for lane in seen])
    for at, (u, v) in enumerate(pairs):
        cells = cond.cards[u] * cond.cards[v]
        start = sum(cond.cards[a] * cond.cards[b] for a, b in pairs[:at])
        counts = [np.bincount(s[:, u] * cond.cards[v] + s[:, v], minlength=cells) for s in states]
        assert engine.watch.pairs[:, start : start + cells].tolist() == np.array(counts).tolist()
    if len(cond.cards) < 8:
        number = np.ravel_multi_index(tuple(np.moveaxis(states, 2, 0)), cond.cards)
        for lane in range(lanes):
            expected = np.bincount(number[lane], minlength=int(np.prod(cond.cards)))
            assert engine.watch.joint[lane].tolist() == expected.tolist()


BINARY = ["couplings", "many couplings", "dense", "bipartite", "odds", "hard odds"]
KARY = ["potts", "factors", "many factors", "wide factors"]


@pytest.mark.parametrize("kind", BINARY + KARY)
def test_random(kind):
    check(kind)


@pytest.mark.parametrize(
    "kind", [*(k for k in BINARY if k not in ("many couplings", "bipartite")), *KARY]
)
def test_herded_auto(kind):
    check(kind, "herded")


@pytest.mark.parametrize(
    "context", ["neighbours", "shared", "binned(1)", "binned(7)", "radius(1)", "radius(2)", "full"]
)
@pytest.mark.parametrize("kind", ["couplings", "factors"])
def test_herded_contexts(kind, context):
    check(kind, "herded", context=context, passes=60, lanes=3)


def test_tijdeman():
    check("factors", "herded", context="neighbours", rule="tijdeman", passes=60)
    check("factors", "herded", context="shared", rule="tijdeman", passes=60)


@pytest.mark.parametrize("kind", ["couplings", "factors"])
@pytest.mark.parametrize("driver", ["quasi", "greedy"])
def test_other_drivers(kind, driver):
    check(kind, driver, passes=40)


@pytest.mark.parametrize("kind", ["couplings", "hard odds", "dense", "factors", "potts"])
@pytest.mark.parametrize("driver", ["metropolis", "modified"])
def test_metropolis(kind, driver):
    check(kind, driver, passes=40)


@pytest.mark.parametrize("driver", ["metropolis", "modified"])
def test_metropolis_otherwise(driver):
    check("couplings", driver, Uniform(300), passes=3)
    check("couplings", driver, temperature=np.geomspace(5.0, 0.2, 24))
    check("factors", driver, "shuffled", evidence={1: 0, 4: 0})
    check("factors", driver, restart=True, scan=Sequence([0, 5, 1, 0, 3]))
    check("factors", driver, lanes=5, threads=2)


@pytest.mark.parametrize("kind", ["couplings", "factors"])
@pytest.mark.parametrize(
    "scan",
    [
        "reversed",
        "chromatic",
        "shuffled",
        "jacobi",
        Uniform(),
        Uniform(3),
        Weighted([1, 0, 2, 0.5, 3, 1, 0.1][:6]),
        [3, 0, 3, 1],
    ],
    ids=lambda scan: getattr(scan, "name", str(scan)),
)
def test_scans(kind, scan):
    if isinstance(scan, Weighted) and kind == "couplings":
        scan = Weighted([*scan.weights, 0.7])
    check(kind, scan=scan if not isinstance(scan, list) else Sequence(scan))


@pytest.mark.parametrize("kind", ["couplings", "factors"])
def test_more_positions_than_a_block_of_words(kind):
    # 600 updates a pass: words of three blocks, for values, sites and proposals.
    check(kind, scan=Uniform(600), passes=3)
    n = 7 if kind == "couplings" else 6
    check(kind, scan=Sequence(np.arange(600) % n), passes=3)


@pytest.mark.parametrize("kind", ["couplings", "odds", "dense", "potts", "factors"])
def test_temperature_schedule(kind):
    check(kind, temperature=np.geomspace(5.0, 0.2, 24))


@pytest.mark.parametrize("kind", ["potts", "many factors", "wide factors"])
def test_temperatures_with_and_without_logarithms(kind):
    for temperature in (0.1, 500.0, 5000.0):
        check(kind, temperature=temperature, scan="jacobi")


def test_many_variables_have_rows_of_one_length():
    # 40 variables in a ring have two pairs each, but for one that has three: all get three.
    rng = np.random.default_rng(4)
    pairs = [([i, (i + 1) % 40], rng.random((4, 4)) + 0.1) for i in range(40)]
    pairs += [([0, 20], rng.random((4, 4)))]
    model = heeler.factor_graph([4] * 40, pairs)
    lowered = lower_slots(slots_of(model), None)
    assert np.diff(lowered.conditional.pair_pointer).tolist() == [3] * 40
    engine = general(model, temperature=np.ones(12), seed=SEED)
    engine.advance(12)
    cond = naive.Factors(model, varies=True)
    first = heeler.model.first_state(model, SEED)
    seen = naive.run(cond, naive.Random(SEED), naive.Fixed(range(40)), first, [1.0] * 12)
    assert engine.states()[0].tolist() == seen[0].x


@pytest.mark.parametrize("kind", ["couplings", "factors"])
def test_herded_temperature_schedule_uses_bins(kind):
    check(kind, "herded", temperature=np.geomspace(5.0, 0.2, 24), context="binned(64)")


@pytest.mark.parametrize("kind", ["couplings", "hard odds", "dense", "factors"])
def test_evidence(kind):
    check(kind, evidence={1: 0, 4: 0})


@pytest.mark.parametrize("kind", ["couplings", "dense", "bipartite", "factors"])
def test_restart(kind):
    check(kind, restart=True, scan=Sequence([0, 5, 1, 0, 3]))


@pytest.mark.parametrize("kind", ["couplings", "factors"])
def test_restart_with_hashed_contexts(kind):
    check(kind, "herded", context="radius(2)", restart=True, passes=40)


@pytest.mark.parametrize("kind", ["couplings", "factors"])
def test_two_threads(kind):
    check(kind, lanes=5, threads=2)
    check(kind, "herded", context="full", lanes=3, threads=2)


DRIVERS = [
    ("random", "auto", "argmax"),
    ("herded", "auto", "argmax"),
    ("herded", "binned(5)", "argmax"),
    ("herded", "full", "argmax"),
    ("herded", "neighbours", "tijdeman"),
    ("quasi", "auto", "argmax"),
    ("greedy", "auto", "argmax"),
    ("metropolis", "auto", "argmax"),
    ("modified", "auto", "argmax"),
]


@pytest.mark.slow
@pytest.mark.parametrize("scan", ["systematic", "shuffled", "uniform", "chromatic"])
@pytest.mark.parametrize("driver", DRIVERS, ids="-".join)
@pytest.mark.parametrize("kind", BINARY + KARY)
def test_every_combination(kind, driver, scan):
    name, context, rule = driver
    if context == "neighbours" and kind in (
        "many couplings",
        "dense",
        "bipartite",
        "potts",
        "many factors",
        "wide factors",
    ):
        context, rule = "radius(1)", "argmax"
    check(kind, name, scan, context, rule, passes=30, evidence={2: 0})


def test_alias_table_is_exact():
    rng = np.random.default_rng(5)
    for weights in (
        np.ones(1),
        np.ones(2),
        np.array([1e-6, 1.0, 3.0]),
        rng.random(37),
        rng.exponential(size=200) ** 4,
    ):
        accept, alias = alias_table(weights)
        # An accept of 2^32 does not fit a word; 2^32 - 1 loses one draw in 2^32 to an alias that is
        # itself.
        share = np.zeros(len(weights))
        for column, (a, other) in enumerate(zip(accept.tolist(), alias.tolist(), strict=True)):
            share[column] += a / 2**32
            share[other] += 1 - a / 2**32
        assert np.abs(share / len(weights) - weights / weights.sum()).max() < 2**-31
