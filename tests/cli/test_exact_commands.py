"""The commands with --exact, evidence, outputs and exit codes."""

import csv
import io
import json

import numpy as np
import pytest

import heeler
from cli_models import NETWORK, RAIN_GIVEN_LOW, json_of, write_grid, write_network
from heeler.cli import main


def test_marginals_as_json(tmp_path, capsys):
    found = json_of(capsys, "marginals", write_network(tmp_path), "--exact", "-e", "level=<5")
    assert found["model"]["kind"] == "bayes_net"
    assert found["model"]["evidence"] == {"level": "<5"}
    assert list(found["marginals"]) == ["rain", "level", "wet"]
    assert found["marginals"]["rain"]["yes"] == pytest.approx(RAIN_GIVEN_LOW, rel=1e-12)
    assert found["marginals"]["level"] == {"<5": 1.0, ">=5": 0.0, "12+=x": 0.0}
    assert found["errors"] is None
    assert found["interrupted"] is False


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["level=>=5"], {"level": ">=5"}),
        (["level=12+=x", "rain=no"], {"level": "12+=x", "rain": "no"}),
        (["level = 12+=x "], {"level": "12+=x"}),
    ],
)
def test_evidence_in_words(tmp_path, capsys, words, expected):
    options = [option for word in words for option in ("--evidence", word)]
    found = json_of(capsys, "marginals", write_network(tmp_path), "--exact", *options)
    assert found["model"]["evidence"] == dict(
        sorted(expected.items(), key=lambda x: x[0] != "rain")
    )


def test_evidence_from_files(tmp_path, capsys):
    path = tmp_path / "a=b.evid"
    path.write_text("1\n1 1 0\n")
    model = write_network(tmp_path)
    found = json_of(capsys, "marginals", model, "--exact", "-e", str(path), "-e", "wet=yes")
    assert found["model"]["evidence"] == {"level": "<5", "wet": "yes"}


def test_marginals_as_table_and_result_file(tmp_path, capsys):
    output = tmp_path / "out.MAR"
    assert main(["marginals", write_network(tmp_path), "--exact", "-o", str(output)]) == 0
    captured = capsys.readouterr()
    assert "yes 0.250000" in captured.out
    assert captured.err == ""
    rows = heeler.io.uai.read_results(output).value
    expected = heeler.exact.marginals(heeler.read(tmp_path / "weather.bif"))
    for variable, row in enumerate(rows):
        np.testing.assert_array_equal(row, expected[variable])


def test_long_tables_are_cut(tmp_path, capsys):
    path = write_grid(tmp_path, 8)
    assert main(["marginals", path, "--exact"]) == 0
    assert "… and 14 more, use --json" in capsys.readouterr().out
    assert len(json_of(capsys, "marginals", path, "--exact")["marginals"]) == 64


def test_map(tmp_path, capsys):
    output = tmp_path / "out.MPE"
    path = write_network(tmp_path)
    found = json_of(capsys, "map", path, "--exact", "-e", "rain=yes", "-o", str(output))
    # Of P(level, wet | rain): 0.25 * 1 ties with 0.5 * 0.5 twice; any of them is best.
    assert found["log_score"] == pytest.approx(np.log(0.25 * 0.25))
    assert found["proved"] is True
    state = heeler.io.uai.read_results(output).value
    model = heeler.read(path)
    assert model.log_score(state) == pytest.approx(found["log_score"])
    assert [model.value_names[v][x] for v, x in enumerate(state)] == list(found["state"].values())
    assert main(["map", path, "--exact"]) == 0
    assert "best state of weather.bif, log score" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["stdout", "file"])
def test_draws_as_csv(tmp_path, capfdbinary, where):
    path = write_network(tmp_path)
    output = tmp_path / "draws.csv"
    options = ["-o", str(output)] if where == "file" else []
    command = ["sample", path, "-n", "25", "--exact", "--seed", "3", *options]
    assert main(command) == 0
    out = capfdbinary.readouterr().out
    assert (where == "file") == (out == b"")
    rows = list(csv.reader(io.StringIO((output.read_bytes() if options else out).decode())))
    assert rows[0] == ["rain", "level", "wet"]
    expected = heeler.exact.sample(heeler.read(path), 25, 3)
    model = heeler.read(path)
    assert rows[1:] == [[model.value_names[v][x] for v, x in enumerate(s)] for s in expected]
    assert main([*command, "--indices"]) == 0
    out = capfdbinary.readouterr().out
    rows = list(csv.reader(io.StringIO((output.read_bytes() if options else out).decode())))
    assert [list(map(int, row)) for row in rows[1:]] == expected.tolist()


def test_draws_as_json_and_npz(tmp_path, capfdbinary):
    path = write_network(tmp_path)
    output = tmp_path / "draws.npz"
    assert main(["sample", path, "-n", "7", "--exact", "-o", str(output)]) == 0
    with np.load(output, allow_pickle=False) as file:
        assert file["names"].tolist() == ["rain", "level", "wet"]
        assert file["states"].shape == (7, 3)
        states = file["states"].tolist()
    capfdbinary.readouterr()
    assert main(["sample", path, "-n", "7", "--exact", "--json", "--indices"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert found["samples"] == states
    assert found["variables"] == ["rain", "level", "wet"]


def test_info(tmp_path, capsys):
    found = json_of(capsys, "info", write_network(tmp_path), "-e", "wet=yes")
    assert found["sizes"]["variables"] == 3
    assert found["sizes"]["free_variables"] == 2
    assert found["sizes"]["variables_of_cardinality"] == {"2": 2, "3": 1}
    assert found["sizes"]["hard_zeros"] is True
    assert found["graph"] == {"edges": 1, "degree_mean": 1.0, "degree_max": 1, "colours": 2}
    assert found["exact"]["induced_width"] == 1
    assert found["recommended"]["driver"] == "none"
    tight = json_of(capsys, "info", write_grid(tmp_path, 8), "--memory-limit", "1e-6")
    assert tight["graph"]["edges"] == 2 * 7 * 8
    assert tight["graph"]["colours"] == 2
    assert tight["recommended"]["context"] == "neighbours"
    assert main(["info", write_network(tmp_path)]) == 0
    assert "graph colours" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["marginals"], 2, "Missing argument"),
        (["marginals", "absent.bif"], 2, "No such file"),
        (["marginals", "MODEL", "--sweeps", "0"], 2, "--sweeps"),
        (["marginals", "MODEL", "--no-such"], 2, "No such option"),
        (["nothing"], 2, "No such command"),
        (["marginals", "MODEL", "--exact", "-e", "rain=maybe"], 2, "maybe"),
        (["marginals", "MODEL", "--exact", "-e", "reign=yes"], 2, "Did you mean 'rain'"),
        (["marginals", "MODEL", "--exact", "-e", "rain=yes", "-e", "rain=no"], 2, "one value to"),
        (["marginals", "MODEL", "--exact", "-e", "SEVERAL"], 2, "must be one evidence set"),
        (["marginals", "BROKEN"], 2, "broken.bif, line 3"),
        (["marginals", "MODEL", "--exact", "-e", "rain=yes", "-e", "level=<5", "-e", "wet=no"], 4,
         "evidence"),
        (["map", "MODEL", "--exact", "-e", "rain=yes", "-e", "level=<5", "-e", "wet=no"], 4, ""),
        (["sample", "MODEL", "-n", "0"], 2, "-n"),
        (["sample", "MODEL", "-n", "1", "--json", "--format", "csv"], 2, "exclude"),
        (["marginals", "GRID", "--exact", "--memory-limit", "0.00001"], 3, "width"),
    ],
)  # fmt: skip
def test_exit_codes_and_messages(tmp_path, capsys, arguments, code, message):
    (tmp_path / "broken.bif").write_text(NETWORK.replace("12+=x }", "12+=x"))
    (tmp_path / "several.evid").write_text("2\n1 0 0\n1 0 1\n")
    words = {
        "MODEL": write_network(tmp_path),
        "GRID": write_grid(tmp_path, 8),
        "BROKEN": str(tmp_path / "broken.bif"),
        "SEVERAL": str(tmp_path / "several.evid"),
    }
    assert main([words.get(argument, argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    # Boxes around usage errors break lines anywhere.
    assert message in " ".join(captured.err.replace("│", " ").split())
