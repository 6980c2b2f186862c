"""`heeler map --method` and `heeler partition`."""

import pytest

import heeler
from cli_models import json_of, write_grid, write_network
from heeler.cli import main


@pytest.mark.parametrize("method", ["anneal", "greedy", "herded", "exact"])
def test_best_states_by_every_method(tmp_path, capsys, method):
    path = write_grid(tmp_path, 4)
    found = json_of(capsys, "map", path, "--method", method, "--sweeps", "200", "--chains", "16")
    truth = heeler.exact.map_state(heeler.read(path))[1]
    assert found["log_score"] == pytest.approx(truth)
    assert found["proved"] == (method == "exact")
    words = "junction tree" if method == "exact" else method
    assert found["settings"]["method"] == words


def test_annealing_is_the_default_and_has_schedules(tmp_path, capsys):
    path = write_grid(tmp_path, 4)
    found = json_of(capsys, "map", path, "--schedule", "linear", "--sweeps", "50")
    assert found["settings"]["schedule"] == "linear"
    assert found["stats"]["rounds"] == 1
    timed = json_of(capsys, "map", path, "--seconds", "0.2")
    assert timed["stats"]["rounds"] >= 1
    assert main(["map", path, "--schedule", "slow"]) == 2
    assert "'schedule' parameter must be one of" in capsys.readouterr().err
    assert main(["map", path, "--exact", "--method", "anneal"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_partition(tmp_path, capsys):
    path = write_grid(tmp_path, 4)
    truth = heeler.exact.log_z(heeler.read(path))
    found = json_of(capsys, "partition", path, "--sweeps", "300", "--seed", "1")
    assert found["reliable"] is True
    assert found["low"] < truth < found["high"]
    assert found["details"]["forward"] < found["details"]["reverse"] + 0.1
    exact = json_of(capsys, "partition", path, "--method", "exact")
    assert exact["log_z"] == pytest.approx(truth)
    output = tmp_path / "grid.PR"
    assert main(["partition", path, "--exact", "-o", str(output)]) == 0
    assert "exact, by the junction tree" in capsys.readouterr().out
    assert heeler.io.uai.read_results(output).value == pytest.approx(truth)


def test_partition_says_what_speaks_against_it(tmp_path, capsys):
    path = write_network(tmp_path)
    assert main(["partition", path, "-e", "level=<5", "--sweeps", "100"]) == 0
    captured = capsys.readouterr()
    assert "90 % from" in captured.out
    assert "UNRELIABLE: the model has zeros" in captured.err
