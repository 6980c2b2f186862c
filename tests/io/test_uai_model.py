"""UAI model files: every freedom of the format, every kind of mistake."""

import numpy as np
import pytest

from heeler import io
from heeler.io import ReadError, uai
from io_models import assert_same_scores, random_factor_graph, random_network

GOOD = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0 1.89e-1
"""


def test_plain_content():
    content = uai.parse(GOOD.encode())
    assert content.kind == "MARKOV"
    assert content.cardinalities.tolist() == [2, 2, 3]
    assert content.scopes == [(0,), (0, 1), (1, 2)]
    assert content.tables[1].tolist() == [[0.128, 0.872], [0.92, 0.08]]
    assert content.tables[2].tolist() == [[0.21, 0.333, 0.457], [0.811, 0.0, 0.189]]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: " ".join(text.split()),
        lambda text: "\r\n".join(text.split()),
        lambda text: text.replace("\n\n", "\n"),
        lambda text: "c made by hand\n" + text.replace("\n\n", "\n  c tables # 7\nc\n"),
        lambda text: text.replace("\n", " # 1 2 three\n"),
        lambda text: text.lower().rstrip(),
        lambda text: text.replace("0.436", "+4.36E-01").replace("3\n2 2 3", "3.0\n\t2 2 3"),
    ],
)
def test_free_form(change):
    expected = uai.parse(GOOD.encode())
    found = uai.parse(change(GOOD).encode())
    assert found.scopes == expected.scopes
    for one, other in zip(found.tables, expected.tables, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("MARKOV", "MARKOW", 1, "expected MARKOV or BAYES, found 'MARKOW'"),
        ("MARKOV\n3", "MARKOV\n-3", 2, "the number of variables"),
        ("MARKOV\n3", "MARKOV\n99999999999", 2, "the number of variables"),
        ("MARKOV\n3", "MARKOV\n1e300", 2, "the number of variables"),
        ("MARKOV\n3", "MARKOV\ninf", 2, "the number of variables"),
        ("2 2 3\n", "2 2 0\n", 3, "a cardinality"),
        ("2 2 3\n", "2 2 70000\n", 3, "a cardinality"),
        ("2 2 3\n3\n", "2 2 3\n4\n", 10, "a variable .an integer from 0 to 2., found 0.436"),
        ("2 2 3\n3\n", "2 2 3\n500000\n", 4, "number of functions"),
        ("2 2 3\n3\n", "2 2 3\n2.5\n", 4, "number of functions"),
        ("2 1 2\n", "2 1 3\n", 7, "a variable .an integer from 0 to 2., found 3"),
        ("2 1 2\n", "2 1 -2\n", 7, "a variable"),
        ("2 1 2\n", "2 1 1\n", 7, "1 twice"),
        ("2 1 2\n", "2 1 1.5\n", 7, "a variable"),
        ("2 1 2\n", "4 1 2\n", 7, "the size of scope 2"),
        ("1.89e-1", "", 18, "found the end of the file in table 2"),
        ("\n4\n", "\n5\n", 12, "4 as the number of entries of table 1"),
        ("0.128", "-0.128", 13, "a weight .finite, not negative., found -0.128"),
        ("0.128", "inf", 13, "found inf"),
        ("0.128", "1e999", 13, "found inf"),
        ("0.128", "nan", 13, "expected a number, found 'nan'"),
        ("0.128", "0.1.28", 13, "expected a number, found '0.1.28'"),
        ("0.128", "zero", 13, "expected a number, found 'zero'"),
        ("0.128", "", 17, "expected 6 as the number of entries of table 2 .*, found 0.21"),
        ("1.89e-1", "1 1", 18, "end of the file after the last table"),
    ],
)
def test_mistakes_are_placed(old, new, line, message):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(ReadError, match=message) as caught:
        uai.parse(text.encode(), "some.uai")
    assert caught.value.line is not None
    assert abs(caught.value.line - line) <= 1
    assert str(caught.value).startswith("some.uai, line ")


def test_every_truncation_is_noticed():
    # Without its last entry or more the file is wrong wherever it is cut; a cut inside a number
    # may leave a number, but only the very last one.
    text = GOOD.rstrip().encode()
    last = text.rindex(b" ")
    for end in range(last + 1):
        with pytest.raises(ReadError):
            uai.parse(text[:end])


def test_declared_sizes_do_not_allocate():
    # Many entries promised, one there.
    def promise(n):
        scope = " ".join(map(str, range(n)))
        return f"MARKOV {n} {'2 ' * n} 1 {n} {scope} {2 ** min(n, 100)} 1".encode()

    with pytest.raises(ReadError, match="end of the file"):
        uai.parse(promise(27))
    for n in (28, 64, 65, 20_000):
        with pytest.raises(ReadError, match="max_entries"):
            uai.parse(promise(n))
    with pytest.raises(ReadError, match="max_entries=5"):
        uai.parse(GOOD.encode(), max_entries=5)
    assert uai.parse(GOOD.encode(), max_entries=12)


@pytest.mark.parametrize("data", [b"", b"  \n", b"\x00\xff\xfe", b"\x1f\x8b", b"MARKOV", b"# x"])
def test_garbage(data):
    with pytest.raises(ReadError):
        uai.parse(data)


def test_scope_without_variables():
    content = uai.parse(b"MARKOV 1 2 2 0 1 0 1 0.5 2 1 3")
    assert content.scopes == [(), (0,)]
    with pytest.raises(ReadError, match="at least the child"):
        uai.parse(b"BAYES 1 2 2 0 1 0 1 0.5 2 1 3")


@pytest.mark.parametrize("ending", [".uai", ".uai.gz", ".LG", ".lg.xz"])
@pytest.mark.parametrize("seed", range(4))
def test_round_trip(tmp_path, seed, ending):
    model = random_factor_graph(seed)
    path = tmp_path / f"model{ending}"
    io.write(model, path)
    assert_same_scores(model, io.read(path), seed)


@pytest.mark.parametrize("ending", [".uai", ".LG"])
@pytest.mark.parametrize("seed", range(3))
def test_round_trip_of_networks(tmp_path, seed, ending):
    model = random_network(seed)
    path = tmp_path / f"model{ending}"
    io.write(model, path)
    assert path.read_text().startswith("BAYES")
    found = io.read(path)
    assert type(found) is type(model)
    assert_same_scores(model, found, seed)


def test_child_is_last(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text("BAYES 2 2 3 2 1 0 2 0 1 2 .25 .75 6 .1 .2 .7 .3 .3 .4")
    model = io.read(path)
    assert model.log_score([1, 2]) == pytest.approx(np.log(0.75 * 0.4))
    path.write_text("BAYES 2 2 3 2 1 0 2 1 0 2 .25 .75 6 .1 .9 .7 .3 .3 .7")
    with pytest.raises(ReadError, match=r"net\.uai"):
        io.read(path)


def test_rows_must_sum_to_one(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text("BAYES 1 2 1 1 0 2 .25 .5")
    with pytest.raises(ReadError, match=r"net\.uai: expected the description of a model.*0\.75"):
        io.read(path)
    path.write_text("BAYES 1 3 1 1 0 3 .333 .333 .333")
    assert io.read(path).log_score([0]) == pytest.approx(np.log(0.333))


def test_log_tables(tmp_path):
    path = tmp_path / "model.LG"
    path.write_text("MARKOV 1 3 1 1 0 3 -400 2.5 -inf")
    model = io.read(path)
    scores = model.log_score([[0], [1], [2]])
    assert scores[1] - scores[0] == pytest.approx(402.5 * np.log(10))
    assert scores[2] == -np.inf
    with pytest.raises(ValueError, match=r"logarithms instead"):
        io.write(model, tmp_path / "model.uai")
    path.write_text("MARKOV 1 3 1 1 0 3 -400 inf -inf")
    with pytest.raises(ReadError, match="below infinity"):
        io.read(path)


def test_evidence_is_not_lost_silently(tmp_path):
    model = random_factor_graph(0).given({0: 0})
    with pytest.raises(ValueError, match="no evidence"):
        io.write(model, tmp_path / "model.uai")


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match="path must end in"):
        io.read(tmp_path / "model.txt")
    with pytest.raises(ValueError, match="format must be one of"):
        io.read(tmp_path / "model.txt", format="doc")
    with pytest.raises(FileNotFoundError):
        io.read(tmp_path / "model.uai")
    with pytest.raises(TypeError, match="must be a heeler model"):
        io.write([1, 2], tmp_path / "model.uai")
    (tmp_path / "model.txt").write_text(GOOD)
    assert io.read(tmp_path / "model.txt", format="uai").n_variables == 3


def test_zero_table_is_a_read_error(tmp_path):
    path = tmp_path / "model.uai"
    path.write_text("MARKOV 1 2 1 1 0 2 0 0")
    with pytest.raises(ReadError, match="description of a model"):
        io.read(path)
