"""The commands that sample: right answers, the options' effect, Ctrl-C."""

import csv
import io
import json
import os
import signal
import threading

import numpy as np
import pytest

import heeler
from cli_models import NETWORK, json_of, write_grid
from heeler.cli import main

# Nine spins, 4 * 20000 sweeps, autocorrelation time below 5: one standard error is at most
# .5 * sqrt(5 / 80000) = .004, so .025 is passed by chance with a probability below 1e-7.
SWEEPS = "20000"
TOLERANCE = 0.025


@pytest.mark.parametrize("driver", ["random", "herded"])
def test_marginals_are_right(tmp_path, capsys, driver):
    path = write_grid(tmp_path, 3)
    found = json_of(capsys, "marginals", path, "--driver", driver, "--sweeps", SWEEPS, "-e", "0=1")
    expected = json_of(capsys, "marginals", path, "--exact", "-e", "0=1")
    assert found["settings"]["driver"] == driver
    assert found["stats"]["sweeps"] == int(SWEEPS)
    assert found["errors_cover"]
    for name, row in expected["marginals"].items():
        for value, probability in row.items():
            assert found["marginals"][name][value] == pytest.approx(probability, abs=TOLERANCE)
            assert found["errors"][name][value] < TOLERANCE
    assert found["marginals"]["0"] == {"0": 0.0, "1": 1.0}


def test_the_same_seed_gives_the_same_answer(tmp_path, capsys):
    path = write_grid(tmp_path, 3)
    options = ["--driver", "random", "--sweeps", "50"]
    answers = [
        json_of(capsys, "marginals", path, *options, "--seed", seed)["marginals"]
        for seed in ("1", "1", "2")
    ]
    assert answers[0] == answers[1] != answers[2]


def test_default_number_of_sweeps_table_and_file(tmp_path, capsys):
    output = tmp_path / "out.MAR"
    assert main(["marginals", write_grid(tmp_path, 3), "-o", str(output)]) == 0
    captured = capsys.readouterr()
    assert "probabilities ± error" in captured.out
    assert "1000 sweeps" in captured.out
    assert captured.err == ""
    rows = heeler.io.uai.read_results(output).value
    assert len(rows) == 9
    np.testing.assert_allclose([row.sum() for row in rows], 1.0)


def test_best_state(tmp_path, capsys):
    path = write_grid(tmp_path, 3)
    found = json_of(capsys, "map", path, "--sweeps", "2000", "--driver", "random")
    # The best of 512 states has a probability above .01: 8000 draws all but surely meet it.
    exact = json_of(capsys, "map", path, "--exact")
    assert found["state"] == exact["state"]
    assert found["log_score"] == pytest.approx(exact["log_score"])
    assert found["proved"] is False


def test_draws(tmp_path, capfdbinary):
    path = write_grid(tmp_path, 3)
    command = ["sample", path, "-n", "10001", "--driver", "random", "--thin", "2"]
    assert main(command) == 0
    rows = list(csv.reader(io.StringIO(capfdbinary.readouterr().out.decode())))
    assert rows[0] == [str(v) for v in range(9)]
    states = np.array(rows[1:], dtype=int)
    assert states.shape == (10001, 9)
    expected = heeler.exact.marginals(heeler.read(path)).array[:, 1]
    # One standard error is at most .5 * sqrt(3 / 10001) = .009; six of them.
    np.testing.assert_allclose(states.mean(axis=0), expected, atol=0.054)


def test_few_draws_need_few_chains(tmp_path, capfdbinary):
    path = write_grid(tmp_path, 3)
    assert main(["sample", path, "-n", "2", "--json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert len(found["samples"]) == 2
    assert found["settings"]["chains"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--driver", "hurdled"], "driver"),
        (["--scan", "sideways"], "scan"),
        (["--driver", "herded", "--context", "binned(x)"], "context"),
        (["--seed", "-1"], "seed"),
        (["--temperature", "0"], "temperature"),
    ],
)
def test_wrong_options(tmp_path, capsys, options, message):
    assert main(["marginals", write_grid(tmp_path, 3), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_no_state_in_the_support(tmp_path, capsys):
    (tmp_path / "never.uai").write_text("MARKOV 2 2 2 2 2 0 1 2 0 1 4 1 0 0 1 4 0 1 1 0")
    for command in (["marginals"], ["map"], ["sample", "-n", "3"]):
        assert main([command[0], str(tmp_path / "never.uai"), *command[1:]]) == 4
        assert capsys.readouterr().out == ""


def test_everything_observed(tmp_path, capsys):
    path = tmp_path / "weather.bif"
    path.write_text(NETWORK)
    evidence = ["-e", "rain=yes", "-e", "level=<5", "-e", "wet=yes"]
    found = json_of(capsys, "marginals", str(path), *evidence)
    assert found["marginals"]["rain"] == {"no": 0.0, "yes": 1.0}


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_interrupted_run_prints_what_exists(tmp_path, capsys, monkeypatch):
    path = write_grid(tmp_path, 3)
    # Once before, so that nothing is compiled when the signal comes.
    json_of(capsys, "marginals", path, "--driver", "random", "--sweeps", "100")
    sample = heeler.sample

    def interrupted(*args, **kwargs):
        timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            return sample(*args, **kwargs)
        finally:
            timer.join()

    monkeypatch.setattr(heeler, "sample", interrupted)
    code = main(["marginals", path, "--driver", "random", "--seconds", "60", "--json"])
    captured = capsys.readouterr()
    assert code == 130
    assert "interrupted" in captured.err
    found = json.loads(captured.out)
    assert found["interrupted"] is True
    assert found["stats"]["sweeps"] > 0
    assert 0 < found["marginals"]["4"]["1"] < 1


@pytest.mark.parametrize("kernel", ["metropolis", "mixture(gibbs: 1, metropolis: 3)"])
def test_kernels(tmp_path, capsys, kernel):
    path = write_grid(tmp_path, 3)
    found = json_of(capsys, "marginals", path, "--kernel", kernel, "--sweeps", "4000")
    expected = json_of(capsys, "marginals", path, "--exact")
    assert found["settings"]["driver"] == kernel.partition("(")[0]
    part = found["stats"] if kernel == "metropolis" else found["stats"]["parts"][1]
    assert 0 < part["acceptance"] < 1
    for name, row in expected["marginals"].items():
        for value, probability in row.items():
            # 16000 states, errors below .009 with an autocorrelation time of 5: six of them.
            assert found["marginals"][name][value] == pytest.approx(probability, abs=0.055)
    drawn = json_of(capsys, "sample", path, "-n", "40", "--kernel", kernel, "--chains", "4")
    assert len(drawn["samples"]) == 40
    assert drawn["settings"]["kernel"] == found["settings"]["kernel"]


@pytest.mark.parametrize(
    "options", [["--kernel", "gibs"], ["--kernel", "herded", "--driver", "random"]]
)
def test_wrong_kernels(tmp_path, capsys, options):
    assert main(["marginals", write_grid(tmp_path, 2), *options]) == 2
    assert "kernel" in capsys.readouterr().err
