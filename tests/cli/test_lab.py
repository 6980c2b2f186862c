"""`heeler lab`."""

import numpy as np
import pytest

from cli_models import RAIN_GIVEN_LOW, json_of, write_grid, write_network
from heeler.cli import main


def test_a_network(tmp_path, capsys):
    path = write_network(tmp_path)
    found = json_of(capsys, "lab", path, "--scan", "uniform", "-e", "level=<5", "--floats")
    assert found["model"]["kind"] == "bayes_net"
    # wet is certain given rain: with level below 5 the chain can never change rain.
    assert found["states"] == 3
    assert not found["irreducible"] or found["ergodic"]
    assert found["invariant"]
    target = dict(zip(found["labels"], found["target"], strict=True))
    rain = sum(p for name, p in target.items() if name.startswith("rain=yes"))
    assert rain == pytest.approx(RAIN_GIVEN_LOW)
    assert main(["lab", path, "--kernel", "metropolis"]) == 0
    assert "metropolis, systematic scan" in capsys.readouterr().out


def test_a_picture_and_a_herded_run(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "chain.png"
    path = write_grid(tmp_path, 2)
    found = json_of(capsys, "lab", path, "--herded", "500", "--plot", str(picture))
    assert picture.stat().st_size > 10_000
    assert found["herded"]["error"] <= found["herded"]["bound"]
    assert main(["lab", path, "--herded", "100"]) == 0
    assert "by equation 43" in capsys.readouterr().out


def test_matrices(tmp_path, capsys):
    table = tmp_path / "chain.csv"
    table.write_text("0.9,0.1\n0.5,0.5\n")
    found = json_of(capsys, "lab", str(table))
    assert found["stationary"] == pytest.approx([5 / 6, 1 / 6])
    np.save(tmp_path / "cycle.npy", np.roll(np.eye(3), 1, axis=1))
    found = json_of(capsys, "lab", str(tmp_path / "cycle.npy"))
    assert found["period"] == 3
    assert found["relaxation_time"] is None  # infinite


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernel", "wolf"], "'kernel' parameter"),
        (["--memory-limit", "0.000001"], "memory_limit is"),
        (["--scan", "zigzag"], "'scan' parameter"),
    ],
)
def test_wrong_words(tmp_path, capsys, words, message):
    assert main(["lab", write_grid(tmp_path, 2), *words]) == 2
    assert message in capsys.readouterr().err


def test_wrong_matrices(tmp_path, capsys):
    table = tmp_path / "chain.csv"
    for text, message in (("a,b\n", "square matrix of numbers"), ("0.5,0.5\n0.5,0.6\n", "Row 1")):
        table.write_text(text)
        assert main(["lab", str(table)]) == 2
        assert message in capsys.readouterr().err
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    assert main(["lab", str(tmp_path / "objects.npy")]) == 2
    assert "must hold a square matrix" in capsys.readouterr().err
