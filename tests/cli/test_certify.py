"""`heeler certify`."""

import pytest

from cli_models import json_of, write_grid, write_network
from heeler.cli import main


def test_a_certificate(tmp_path, capsys):
    path = write_grid(tmp_path, 3)
    found = json_of(capsys, "certify", path, "--epsilon", "0.01", "--target", "4")
    assert found["certificate"]["certified"]
    assert found["certificate"]["bound"] <= 0.01
    assert "Theorem 8" in found["certificate"]["theorem"]
    sweeps = str(found["certificate"]["sweeps"])
    again = json_of(capsys, "certify", path, "--sweeps", sweeps, "-t", "4")
    assert again["certificate"]["bound"] == pytest.approx(found["certificate"]["bound"])
    assert main(["certify", path, "--epsilon", "0.01"]) == 0
    assert capsys.readouterr().out.startswith("certified: distance <= ")


def test_no_certificate_and_an_estimate(tmp_path, capsys):
    path = write_grid(tmp_path, 3)
    found = json_of(capsys, "certify", path, "--driver", "herded", "--epsilon", "0.1")
    assert not found["certificate"]["certified"]
    assert "not complete" in found["certificate"]["reason"]
    found = json_of(capsys, "certify", path, "--estimate", "--sweeps", "4", "--pairs", "64")
    assert found["estimate"]["kind"] == "estimate"
    assert 0 <= found["estimate"]["distance"] <= 1
    found = json_of(capsys, "certify", path, "--estimate", "--epsilon", "0.1", "--pairs", "64")
    assert found["estimate"]["sweeps"] > 0
    assert main(["certify", path, "--estimate"]) == 0
    assert "estimate (no certificate)" in capsys.readouterr().out


def test_names_and_evidence(tmp_path, capsys):
    path = write_network(tmp_path)
    found = json_of(capsys, "certify", path, "-t", "rain", "-e", "wet=yes", "--epsilon", "0.1")
    assert found["model"]["evidence"] == {"wet": "yes"}
    assert found["certificate"]["certified"]


def test_wrong_usage(tmp_path, capsys):
    path = write_grid(tmp_path, 3)
    assert main(["certify", path, "--epsilon", "0.1", "--sweeps", "3"]) == 2
    assert "'epsilon' or 'sweeps'" in capsys.readouterr().err
    assert main(["certify", path, "--target", "nobody"]) == 2
    assert main(["certify", path, "--estimate", "--driver", "herded"]) == 2
