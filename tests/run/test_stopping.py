"""Runs that are stopped, by the clock, by Ctrl-C or by force, lose nothing of what they have."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import heeler
from heeler.run.progress import Progress
from heeler.run.session import Limits

MODEL = ((0, 1, 0.4), (1, 2, -0.3), (2, 3, 0.5), (0, 3, 0.2))


def model():
    return heeler.ising(list(MODEL), [0.1, -0.2, 0.3, 0.0])


def test_seconds_end_a_run():
    run = heeler.sample(model(), seconds=0.2, driver="random", seed=4)
    assert run.stats["stopped_by"] == "seconds"
    sweeps = run.stats["sweeps"]
    assert sweeps > 100
    again = heeler.sample(model(), sweeps=sweeps, driver="random", seed=4)
    assert np.array_equal(run.marginals.array, again.marginals.array)


def test_the_first_limit_ends_a_run():
    run = heeler.sample(model(), sweeps=50, seconds=600.0, error=1e-9, driver="random")
    assert run.stats["stopped_by"] == "sweeps"
    assert run.stats["sweeps"] == 50


@pytest.mark.skipif(os.name == "nt", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("driver", ["random", "herded"])
def test_ctrl_c_gives_what_exists(driver):
    heeler.sample(model(), sweeps=1, driver=driver)  # compiled
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    run = heeler.sample(model(), seconds=60.0, driver=driver, seed=4, progress=False)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert run.stats["stopped_by"] == "interrupt"
    assert run.stats["interrupted"]
    sweeps = run.stats["sweeps"]
    assert sweeps > 100
    whole = heeler.sample(model(), sweeps=sweeps + 10, driver=driver, seed=4)
    assert np.array_equal(run.resume(sweeps=10).marginals.array, whole.marginals.array)


KILLED = """
import sys, heeler
model = heeler.ising({couplings!r}, [0.1, -0.2, 0.3, 0.0])
heeler.sample(model, seconds=120.0, driver={driver!r}, seed=4, progress=False,
              checkpoint=(sys.argv[1], 1e-6))
"""


@pytest.mark.parametrize("driver", ["random", "herded"])
def test_a_kill_leaves_the_last_good_checkpoint(driver, tmp_path):
    """Saving after every chunk, the process is nearly always killed while it writes."""
    path = tmp_path / "run.npz"
    code = KILLED.format(couplings=list(MODEL), driver=driver)
    for pause in (0.0, 0.013, 0.031):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", code, str(path)])
        try:
            end = time.monotonic() + 100
            while not path.exists():
                assert process.poll() is None, "the run ended by itself"
                assert time.monotonic() < end, "no checkpoint was written"
                time.sleep(0.01)
            time.sleep(pause)
        finally:
            process.kill()
            process.wait()
        run = heeler.load(path)
        sweeps = run.stats["sweeps"]
        assert sweeps > 0
        whole = heeler.sample(model(), sweeps=sweeps + 7, driver=driver, seed=4)
        assert np.array_equal(run.resume(sweeps=7).marginals.array, whole.marginals.array)


def test_checkpoints_are_the_run_itself(tmp_path):
    path = tmp_path / "run.npz"
    run = heeler.sample(model(), sweeps=500, seed=2, driver="random", checkpoint=(path, 1e-6))
    loaded = heeler.load(path)
    assert np.array_equal(loaded.marginals.array, run.marginals.array)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.npz"]  # no temporary file is left


class Terminal(io.StringIO):
    """What the bar writes to: a stream that says it is a terminal."""

    def isatty(self):
        return True


def test_the_bar_shows_rate_and_time_left_and_goes_away(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    heeler.sample(model(), seconds=1.0, driver="random", progress=True)
    text = stream.getvalue()
    assert text.count("updates/s") >= 3  # drawn while it runs, not only at the end
    assert "s left" in text


def test_no_bar_without_a_terminal_or_when_it_is_off(monkeypatch):
    for stream, progress in ((io.StringIO(), None), (Terminal(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        heeler.sample(model(), seconds=0.3, driver="random", progress=progress)
        assert stream.getvalue() == ""


def test_the_bar_is_drawn_ten_times_a_second_at_most(monkeypatch):
    """However many chunks there are: looking at the clock is all that most of them pay."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Progress(Limits(seconds=100.0), True)
    now = [bar.begin]
    monkeypatch.setattr("heeler.run.progress.time.perf_counter", lambda: now[0])
    run = heeler.sample(model(), sweeps=5, driver="random")
    session = run._session
    bar(session)
    drawn = []
    monkeypatch.setattr(bar.bar, "update", lambda *_, **fields: drawn.append(fields))
    for _ in range(1000):  # ten seconds of chunks of ten milliseconds
        now[0] += 0.01
        bar(session)
    bar.close()
    assert 80 <= len(drawn) <= 101
