"""The same bits in pieces, on two threads and after saving, for every kind of memory."""

import io

import numpy as np
import pytest

from engines import general
from heeler.driver import Herded
from heeler.kernel import memory
from heeler.scan import Uniform
from loop_models import make

PASSES, RESET = 37, 10
# (model, driver, context): random words; tables by neighbours, shared, bins; maps; integer fields;
# rows of K values.
CASES = [
    ("couplings", "random", None),
    ("couplings", "herded", "neighbours"),
    ("couplings", "herded", "shared"),
    ("couplings", "herded", "full"),
    ("dense", "herded", "binned(8)"),
    ("bipartite", "random", None),
    ("couplings", "quasi", None),
    ("factors", "herded", "neighbours"),
    ("factors", "herded", "radius(2)"),
    ("potts", "random", None),
]
NAMES = ["-".join(map(str, case)) for case in CASES]


def engine_of(case, scan="systematic", lanes=3, **options):
    """Make an engine with everything counted."""
    kind, driver, context = case
    model = make(kind)[0].given({1: 0})
    more = {} if context is None else {"context": context}
    driver = Herded(start="random") if driver == "herded" else driver
    return general(
        model,
        driver,
        scan,
        lanes=lanes,
        seed=77,
        sweeps=256,
        pairs=[(0, 2), (3, 1)],
        joint=True,
        **more,
        **options,
    )


def follow(engine, cuts, threads=1):
    """Run to the end with stops; forget the sums at a fixed pass. Give the scores."""
    scores = np.empty((PASSES, engine.lanes))
    stops = sorted({RESET, PASSES, *cuts})
    for begin, end in zip([0, *stops], stops, strict=False):
        engine.advance(end - begin, scores[begin:end], threads)
        if end == RESET:
            engine.reset_sums()
    return scores


def everything(engine, scores):
    """Collect all that an engine tells."""
    told = {
        "scores": scores,
        "states": engine.states(),
        "best": engine.best_states(),
        "best scores": engine.best_scores(),
    }
    told |= {
        "sums": engine.sums(),
        "visits": engine.visits(),
        "pairs": engine.watch.pairs,
        "joint": engine.watch.joint,
    }
    return {name: np.array(value) for name, value in (told | engine.arrays()).items()}


def assert_same(first, second):
    """Compare what two engines tell, bit for bit."""
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert value.dtype == second[name].dtype
        assert np.array_equal(value, second[name]), name


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_cut(case):
    engine = engine_of(case)
    whole = everything(engine, follow(engine, []))
    for cut in range(1, PASSES):
        engine = engine_of(case)
        assert_same(whole, everything(engine, follow(engine, [cut])))
    engine = engine_of(case)
    assert_same(whole, everything(engine, follow(engine, range(1, PASSES), threads=2)))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_arrays_are_all_there_is(case):
    engine = engine_of(case)
    whole = everything(engine, follow(engine, []))
    for cut in (4, RESET, 23):
        engine = engine_of(case)
        scores = np.empty((PASSES, engine.lanes))
        engine.advance(min(cut, RESET), scores[: min(cut, RESET)])
        if cut >= RESET:
            engine.reset_sums()
            engine.advance(cut - RESET, scores[RESET:cut])
        file = io.BytesIO()
        np.savez(file, **engine.arrays())
        engine.advance(5)  # what was saved must not follow the engine
        file.seek(0)
        other = engine_of(case)
        other.advance(3)  # whatever the other has done is forgotten
        other.load(dict(np.load(file)))
        assert other.passes == cut
        if cut < RESET:
            other.advance(RESET - cut, scores[cut:RESET])
            other.reset_sums()
        other.advance(PASSES - max(cut, RESET), scores[max(cut, RESET) :])
        assert_same(whole, everything(other, scores))


@pytest.mark.parametrize("scan", ["shuffled", Uniform(5)])
def test_cuts_with_random_scans(scan):
    engine = engine_of(CASES[0], scan)
    whole = everything(engine, follow(engine, []))
    engine = engine_of(CASES[0], scan)
    assert_same(whole, everything(engine, follow(engine, [1, 2, 3, 30], threads=2)))


def test_cuts_with_restart_and_schedule():
    for options in ({"restart": True}, {"temperature": np.geomspace(3.0, 0.5, 20)}):
        engine = engine_of(CASES[0], **options)
        whole = everything(engine, follow(engine, []))
        engine = engine_of(CASES[0], **options)
        assert_same(whole, everything(engine, follow(engine, [7, 19, 20, 21])))


@pytest.mark.parametrize("case", [CASES[3], CASES[8]], ids=["binary", "K values"])
def test_growing_maps_do_not_show(case, monkeypatch):
    engine = engine_of(case)
    scores = follow(engine, [])
    slots = engine.plan.memory.driver.keys.shape[1]
    for first in (1, 2, 16, 1 << 14):
        monkeypatch.setattr(memory, "FIRST_SLOTS", first)
        other = engine_of(case)
        assert np.array_equal(follow(other, [11], threads=2), scores)
        keys = other.plan.memory.driver.keys
        assert (
            first == 1 << 14 or first < keys.shape[1] < slots
        )  # it has grown, and never more than needed
        assert (other.plan.memory.driver.used == engine.plan.memory.driver.used).all()
        assert (np.count_nonzero(keys, axis=1) == other.plan.memory.driver.used).all()
        for name in ("sums", "states", "best_states"):
            assert np.array_equal(getattr(other, name)(), getattr(engine, name)())


def test_lanes_do_not_know_each_other():
    for case in CASES:
        if case[1] == "herded":  # the number of lanes has no part in a lane's first weights either
            wide, narrow = engine_of(case, lanes=5), engine_of(case, lanes=2)
        else:
            wide, narrow = engine_of(case, lanes=5), engine_of(case, lanes=2)
        first = narrow.states()
        wide_first = wide.states()
        assert np.array_equal(wide_first[:2], first)
        wide.advance(20)
        narrow.advance(20)
        assert np.array_equal(wide.states()[:2], narrow.states())
        assert np.array_equal(wide.sums()[:2], narrow.sums())
