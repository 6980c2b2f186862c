"""Every path of the lattice kernels equals a slow twin bit for bit."""

from types import SimpleNamespace

import numpy as np
import pytest

from heeler.kernel.lattice_engine import LatticeEngine, refusal
from naive_lattice import NaiveLattice, adjacency

DRIVERS = [
    {"driver": "random"},
    {"driver": "greedy"},
    {"driver": "herded", "context": "shared", "bits": 16},
    {"driver": "herded", "context": "shared", "bits": 32},
    {"driver": "herded", "context": "neighbours", "bits": 32},
]
# (shape, neighbours, periodic): odd and even widths, one block and several, more than one segment,
# thin ones.
SHAPES = [
    ((4, 6), 4, True),
    ((5, 7), 4, True),
    ((5, 7), 4, False),
    ((1, 9), 4, False),
    ((3, 67), 4, True),
    ((4, 134), 4, True),
    ((6, 65), 4, False),
    ((70, 6), 4, True),
    ((4, 6), 8, True),
    ((5, 5), 8, True),
    ((5, 7), 8, False),
    ((4, 4, 6), 6, True),
    ((3, 5, 5), 6, True),
    ((3, 2, 5), 6, False),
]


def make_model(shape, neighbours, periodic, field, coupling=0.37, seed=5):
    fields = {
        "none": 0.0,
        "uniform": -0.21,
        "site": np.random.default_rng(seed).normal(0, 0.5, shape),
    }
    return SimpleNamespace(
        shape=shape,
        coupling=coupling,
        field=np.asarray(fields[field]),
        periodic=periodic,
        neighbours=neighbours,
    )


def contexts(model, context):
    degree = np.array([len(a) for a in adjacency(model)])
    return int((degree + 1 if context == "shared" else 1 << degree).sum())


def compare(engine, twins, first, scores):
    states = engine.states()
    for lane, twin in enumerate(twins):
        assert states[lane].tolist() == twin.x
        assert engine.integer_sums()[lane].tolist() == twin.sums
        # The best pass by the engine's own fixed-point scores, which are close to the twin's
        # (checked before).
        followed = [first[lane], *scores[:, lane]]
        best = int(np.argmax(followed))
        assert engine.best_scores()[lane] == followed[best]
        assert engine.best_states()[lane].tolist() == twin.history[best][1]


@pytest.mark.parametrize("settings", DRIVERS, ids=lambda s: "-".join(str(v) for v in s.values()))
@pytest.mark.parametrize("scan", ["systematic", "chromatic"])
@pytest.mark.parametrize(("shape", "neighbours", "periodic"), SHAPES, ids=str)
@pytest.mark.parametrize("field", ["none", "uniform", "site"])
def test_engine_equals_twin(shape, neighbours, periodic, field, scan, settings):
    model = make_model(shape, neighbours, periodic, field)
    if refusal(model, scan=scan, **settings) is not None:
        pytest.skip("the engine refuses this combination (test_refusals_say_why)")
    lanes, n = 2, int(np.prod(shape))
    rng = np.random.default_rng(17)
    states = rng.integers(0, 2, (lanes, n)).astype(np.uint8)
    weights = None
    if settings["driver"] == "herded":
        size = contexts(model, settings["context"])
        weights = rng.integers(0, 1 << settings["bits"], (lanes, size)).astype(
            f"uint{settings['bits']}"
        )
    key, passes, temperature = 0x1234567890ABCDEF, 6, 0.9
    engine = LatticeEngine(
        model,
        states,
        scan=scan,
        key=key,
        temperature=temperature,
        initial_weights=None if weights is None else lambda _: weights,
        first_lane=3,
        **settings,
    )
    twins = [
        NaiveLattice(
            model, states[lane], scan=scan, key=key, lane=lane + 3, temperature=temperature,
            weights=None if weights is None else weights[lane], **settings,
        )
        for lane in range(lanes)
    ]  # fmt: skip
    first = engine.best_scores()
    assert first == pytest.approx([twin.history[0][0] for twin in twins], abs=1e-9 * n)
    scores = np.zeros((passes, lanes))
    engine.advance(passes, scores)
    expected = np.array([twin.advance(passes) for twin in twins]).T
    # Fixed-point fields are off by at most 2^-32 of the largest field a site.
    scale = 1e-12 * n + n * 2.0**-32 * 4
    assert np.abs(scores - expected).max() < scale
    compare(engine, twins, first, scores)
    if weights is not None:
        assert engine.natural_weights().tolist() == [twin.weights for twin in twins]
