"""`heeler scan`: guarantees, files of scans, and the commands that take them."""

import json

import numpy as np
import pytest

import heeler
from cli_models import json_of, write_grid, write_network
from heeler.cli import main
from heeler.scan.optimised import Optimised


@pytest.fixture
def grid(tmp_path):
    """Write a grid of four by four."""
    return write_grid(tmp_path, 4)


def test_guarantees_are_the_library_s(grid, capsys):
    found = json_of(capsys, "scan", grid, "--target", "5", "--length", "30")
    model = heeler.read(grid)
    optimised = heeler.optimise_scan(model, "systematic", 5, length=30)
    for name in ("uniform", "systematic"):
        bound = heeler.variation(model, name, 5, length=30)
        assert found["guarantees"][name] == pytest.approx(bound)
    assert found["guarantees"]["optimised"] == pytest.approx(optimised.guarantee)
    assert found["guarantees"]["iterated"] <= found["guarantees"]["optimised"]
    assert found["order"] == [str(v) for v in optimised.order]
    assert found["updates"] == {
        str(v): int(n) for v, n in zip(*np.unique(optimised.order, return_counts=True), strict=True)
    }
    assert found["frequencies"][0] == {
        "distance": 0,
        "variables": 1,
        "updates": int((optimised.order == 5).sum()),
    }
    assert sum(row["updates"] for row in found["frequencies"]) == 30
    assert found["influence"]["contracts"]
    assert set(found["influence"]["norms"]) == {"1", "2", "infinity"}


def test_shortest_scan_and_how_long_the_usual_ones_are(grid, capsys):
    found = json_of(capsys, "scan", grid, "-t", "5", "-t", "6=0.5", "--epsilon", "0.05")
    model = heeler.read(grid)
    target = {5: 1.0, 6: 0.5}
    assert found["length"] == len(heeler.shortest_scan(model, 0.05, target))
    needed = found["steps_needed"]
    for name in ("uniform", "systematic"):
        assert heeler.variation(model, name, target, length=needed[name]) <= 0.05
        assert heeler.variation(model, name, target, length=needed[name] - 1) > 0.05
        assert needed[name] > found["length"] == needed["optimised"]
    assert found["target"] == {"5": 1.0, "6": 0.5}


def test_tables_plot_and_saved_scan(grid, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    scan, plot = tmp_path / "scan.json", tmp_path / "scan.png"
    asked = ["-t", "5", "--epsilon", "0.05", "-e", "0=1"]
    assert main(["scan", grid, *asked, "-o", str(scan), "--plot", str(plot)]) == 0
    shown = capsys.readouterr().out
    assert "steps to 0.05" in shown
    assert "updates by distance" in shown
    assert plot.read_bytes().startswith(b"\x89PNG")
    options = ["--scan", str(scan), "--restart", "--sweeps", "20000", "-e", "0=1"]
    found = json_of(capsys, "marginals", grid, *options)
    assert found["settings"]["driver"] == "random"
    assert found["settings"]["scan_guarantee"] <= 0.05
    truth = json_of(capsys, "marginals", grid, "--exact", "-e", "0=1")["marginals"]["5"]["1"]
    # 80000 independent draws: the guarantee and six standard deviations.
    assert abs(found["marginals"]["5"]["1"] - truth) < 0.05 + 6 * np.sqrt(0.25 / 80000)
    # For another model the order is the same, but nothing is guaranteed.
    other = json_of(capsys, "marginals", grid, "--scan", str(scan), "--restart", "--sweeps", "5")
    assert "scan_guarantee" not in other["settings"]
    assert main(["map", grid, "--scan", str(scan), "--sweeps", "20", "-e", "0=1"]) == 0
    command = ["sample", grid, "-n", "4", "--scan", str(scan), "--restart", "-e", "0=1"]
    assert main(command) == 0


def test_iterated_scan_is_saved_when_asked(grid, tmp_path, capsys):
    files = [tmp_path / "one.json", tmp_path / "many.json.gz"]
    more = [[], ["--iterated"]]
    for file, options in zip(files, more, strict=True):
        json_of(capsys, "scan", grid, "--length", "40", *options, "-o", str(file))
    model = heeler.read(grid)
    one, many = (heeler.io.read_scan(file, model) for file in files)
    assert isinstance(one, Optimised)
    assert many.guarantee <= one.guarantee
    assert many.guarantee == pytest.approx(heeler.variation(model, many), rel=1e-12)


def test_networks_with_zeros_say_so(tmp_path, capsys):
    assert main(["scan", write_network(tmp_path), "-t", "wet"]) == 0
    shown = capsys.readouterr().out
    assert "impossible contexts" in shown


def test_bounds_that_say_nothing_are_called_so(tmp_path, capsys):
    path = tmp_path / "cold.uai"
    heeler.write(heeler.lattice((3, 3), 0.9), path)
    assert main(["scan", str(path), "-t", "4"]) == 0
    shown = capsys.readouterr().out
    assert "no norm is below 1" in shown
    assert "vacuous" in shown
    assert main(["scan", str(path), "-t", "4", "--epsilon", "0.1"]) == 2
    assert "norms of the influence" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["-t", "99"], "99"),
        (["-t", "5=x"], "--target"),
        (["-t", "5=-1"], "target"),
        (["-t", "0", "-e", "0=1"], "clamped"),
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "0.1", "--length", "3"], "not both"),
        (["--start", "shuffled"], "scan"),
        (["--start", "nowhere.json"], "scan"),
        (["--method", "guess"], "method"),
    ],
)
def test_wrong_use(grid, capsys, arguments, word):
    assert main(["scan", grid, *arguments]) == 2
    assert word in capsys.readouterr().err


def test_files_that_are_no_scans(grid, tmp_path, capsys):
    model = heeler.read(grid)
    good = tmp_path / "good.json"
    heeler.io.write_scan(good, heeler.optimise_scan(model, "systematic", 5, length=9), model)
    content = json.loads(good.read_text())
    assert heeler.io.read_scan(good).order.tolist() == content["order"]
    for change in (
        {"kind": "other"},
        {"variables": 0},
        {"variables": "16"},
        {"order": []},
        {"order": [0, 16]},
        {"order": [0, 1.5]},
        {"order": [True]},
        {"order": "0"},
        {"guarantee": -1.0},
        {"guarantee": "0"},
        {"target": [[0]]},
        {"target": [[0], [0.0]]},
        {"target": [[0, 99], [1.0, 1.0]]},
        {"target": [[0], ["x"]]},
        {"rounds": 1.5},
    ):
        bad = tmp_path / "bad.json"
        bad.write_text(json.dumps(content | change))
        with pytest.raises(heeler.ReadError, match=r"bad\.json"):
            heeler.io.read_scan(bad, model)
    for text in ("", "[1]", "{", "\x00\xff", "[" * 100_000, '{"kind": NaN}'):
        bad.write_text(text)
        with pytest.raises(heeler.ReadError):
            heeler.io.read_scan(bad, model)
    with pytest.raises(heeler.ReadError, match="9 variables"):
        heeler.io.read_scan(good, heeler.lattice((3, 3), 0.1))
    with pytest.raises(ValueError, match="clamped"):
        heeler.io.read_scan(good, model.given({int(content["order"][0]): 1}))
    assert main(["marginals", grid, "--scan", str(bad), "--sweeps", "3"]) == 2
    assert "expected a scan" in capsys.readouterr().err
