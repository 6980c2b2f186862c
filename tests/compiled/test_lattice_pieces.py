"""A lattice run gives the same bits in pieces, on any number of threads and for any window."""

from types import SimpleNamespace

import numpy as np
import pytest

from heeler.compiled.lattice_schedule import SCORE, plain, skewed
from heeler.kernel.lattice_engine import LatticeEngine

SETTINGS = [
    {"driver": "random", "scan": "chromatic"},
    {"driver": "random", "scan": "chromatic", "generator": "fast"},
    {"driver": "random", "scan": "systematic", "generator": "fast"},
    {"driver": "herded", "scan": "chromatic", "bits": 16},
    {"driver": "herded", "scan": "chromatic", "context": "neighbours"},
    {"driver": "herded", "scan": "systematic"},
]


def make(settings, *, shape=(96, 100), neighbours=4, periodic=True, field=False, lanes=1):
    rng = np.random.default_rng(2)
    model = SimpleNamespace(
        shape=shape,
        coupling=0.4,
        field=rng.normal(0, 0.3, shape) if field else np.float64(0),
        periodic=periodic,
        neighbours=neighbours,
    )
    states = rng.integers(0, 2, (lanes, int(np.prod(shape)))).astype(np.uint8)
    return LatticeEngine(model, states, key=99, **settings)


def run(engine, pieces, threads=1, tiles=None):
    if tiles is not None:
        engine._tiles, engine._made = tiles, {}
    scores = np.empty((sum(pieces), engine.lanes))
    at = 0
    for count in pieces:
        engine.advance(count, scores[at : at + count], threads)
        at += count
    return {
        "scores": scores,
        "states": engine.states(),
        "best": engine.best_states(),
        "best_scores": engine.best_scores(),
        "sums": engine.integer_sums(),
    }


def assert_same(one, other):
    for name, value in one.items():
        assert np.array_equal(value, other[name]), name


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(str(v) for v in s.values()))
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("field", [True, False])
def test_pieces_threads_and_windows(settings, periodic, field):
    expected = run(make(settings, periodic=periodic, field=field), [37], tiles=(1, 1))
    for pieces, threads, tiles in (
        ([1, 5, 20, 11], 1, (1, 1)),
        ([37], 2, (1, 1)),
        ([37], 1, (8, 1)),
        ([9, 28], 2, (8, 1)),
        ([37], 2, (4, 3)),
        ([30, 7], 3, (4, 1)),
    ):
        if settings["scan"] == "systematic" and tiles != (1, 1):
            continue
        assert_same(
            expected, run(make(settings, periodic=periodic, field=field), pieces, threads, tiles)
        )


@pytest.mark.parametrize("shape", [(3000, 6), (40, 16, 18), (1, 20000)])
def test_windows_of_other_shapes(shape):
    settings = {"driver": "herded", "scan": "chromatic", "bits": 16}
    neighbours = 2 * len(shape)
    periodic = shape[0] > 1
    expected = run(
        make(settings, shape=shape, neighbours=neighbours, periodic=periodic), [13], tiles=(1, 1)
    )
    for threads, tiles in ((1, (4, 2)), (2, (4, 1)), (2, (1, 1))):
        found = run(
            make(settings, shape=shape, neighbours=neighbours, periodic=periodic),
            [13],
            threads,
            tiles,
        )
        assert_same(expected, found)


@pytest.mark.parametrize(
    "settings", SETTINGS[::2], ids=lambda s: "-".join(str(v) for v in s.values())
)
def test_lanes_are_single_runs_and_threads_share_them(settings):
    together = run(make(settings, lanes=3), [9], threads=2)
    alone = run(make(settings, lanes=3), [9])
    assert_same(together, alone)


def test_counters_are_emptied_without_a_trace():
    for settings in (SETTINGS[0], SETTINGS[3]):
        whole = run(make(settings, shape=(20, 20)), [1000])
        assert_same(whole, run(make(settings, shape=(20, 20)), [239, 2, 400, 359]))
        p = whole["sums"] / 1000
        unit = 2.0**-16 if settings["driver"] == "herded" else 2.0**-24
        assert 0 < p.min() * unit < p.max() * unit < 1


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(str(v) for v in s.values()))
def test_checkpoint_goes_on_to_the_same_bits(settings):
    whole = make(settings)
    first = run(whole, [12])
    kept = {name: value.copy() for name, value in whole.arrays().items()}
    rest = run(whole, [12])
    again = make(settings)
    run(again, [3])
    again.load(kept)
    assert again.passes == 12
    assert np.array_equal(again.states(), first["states"])
    assert_same(rest, run(again, [12]))


def test_reset_forgets_burn_in():
    for settings in (SETTINGS[0], SETTINGS[3], SETTINGS[4]):
        engine = make(settings)
        run(engine, [5])
        engine.reset_sums()
        assert engine.visits().tolist() == [0] * engine.n
        assert not engine.integer_sums().any()
        before = engine.states()
        scores = np.empty((1, 1))
        engine.advance(1, scores)
        p = engine.sums()
        assert engine.visits()[0] == 1
        assert 0 < p.min() < p.max() < 1
        assert before.shape == p.shape


def test_load_refuses_other_arrays():
    engine = make(SETTINGS[0])
    with pytest.raises(ValueError, match="names"):
        engine.load({})
    arrays = dict(engine.arrays())
    arrays["states"] = arrays["states"][:, :-1]
    with pytest.raises(ValueError, match="states"):
        engine.load(arrays)


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("bands", [1, 2, 3])
def test_schedule_respects_what_updates_need(wraps, bands):
    """Replay the jobs: each finds the units beside it done as far as it needs, no further."""
    units, window = 53, 4
    schedule = skewed(units, 1, 1, window, bands, wraps)
    done = np.zeros((2, units), int)  # half passes of each colour
    for stage in range((schedule.pointer.size - 1) // bands):
        written, read = {}, {}
        for band in range(bands):
            at = stage * bands + band
            for step, row, end, *_ in schedule.jobs[
                schedule.pointer[at] : schedule.pointer[at + 1]
            ].tolist():
                colour, line = divmod(row, units)
                assert end == row + 1
                assert colour == step % 2
                assert done[colour, line] == step // 2
                for near in (line - 1, line, line + 1):
                    if not wraps and not 0 <= near < units:
                        continue
                    assert done[1 - colour, near % units] == (step + 1) // 2
                    read.setdefault((1 - colour, near % units), set()).add(band)
                done[colour, line] += 1
                written.setdefault((colour, line), set()).add(band)
        for cell, writers in written.items():
            # Within a stage bands do not wait for each other: nobody else may write or read the
            # row.
            assert len(writers | read.get(cell, set())) == 1
    assert (done == window).all()


def test_short_lattices_have_no_window():
    assert skewed(20, 1, 1, 8, 1, True) is None
    plan = SimpleNamespace(phase=np.array([0, 4, 8]))
    schedule = plain(plan, 2, fused=False)
    assert schedule.jobs[:, 0].tolist() == [0, 0, 1, 1, SCORE, SCORE]
