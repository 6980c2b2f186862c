"""BIF files: every freedom of the format, every kind of mistake, and the way back."""

import itertools

import numpy as np
import pytest

import heeler
from heeler import io
from heeler.io import ReadError, bif
from io_models import assert_same_scores, random_network

PLAIN = """network test { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable "sprinkler (garden)" { type discrete [ 3 ] { off, on, 12+ }; }
variable wet { type discrete [ 2 ] { <5, >=5 }; }
probability ( rain ) { table 0.8, 0.2; }
probability ( "sprinkler (garden)" | rain ) {
  (no) 0.5, 0.25, 0.25;
  (yes) 0.9, 0.1, 0.0;
}
probability ( wet | "sprinkler (garden)", rain ) {
  (off, no) 1.0, 0.0;
  (off, yes) 0.3, 0.7;
  (on, no) 0.2, 0.8;
  (on, yes) 0.1, 0.9;
  (12+, no) 0.6, 0.4;
  (12+, yes) 0.05, 0.95;
}
"""
RAIN = [0.8, 0.2]
SPRINKLER = [[0.5, 0.25, 0.25], [0.9, 0.1, 0.0]]
WET = [[[1.0, 0.0], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]], [[0.6, 0.4], [0.05, 0.95]]]


def read_text(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "net.bif"
    path.write_bytes(text.encode(encoding))
    return io.read(path)


def assert_is_the_network(model):
    assert list(model.names) == ["rain", "sprinkler (garden)", "wet"]
    assert [list(names) for names in model.value_names] == [
        ["no", "yes"],
        ["off", "on", "12+"],
        ["<5", ">=5"],
    ]
    for r, s, w in itertools.product(range(2), range(3), range(2)):
        with np.errstate(divide="ignore"):
            expected = np.log(RAIN[r] * SPRINKLER[r][s] * WET[s][r][w])
        assert model.log_score([r, s, w]) == pytest.approx(expected, abs=1e-12)


def reordered(text):
    """Probability blocks first, variables reversed within the file's second half."""
    blocks = text.split("probability")
    return "".join("probability" + block for block in blocks[1:]) + blocks[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        reordered,
        lambda text: text.replace(",", ", /* a , ; } */ "),
        lambda text: text.replace("\n", " // ( { comment\n"),
        lambda text: " ".join(text.split()),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("0.8, 0.2", "8e-1 2.0E-01").replace("no, yes }", "no yes }"),
        lambda text: text.replace("test { }", 'two words { property "a } b" ; property x = 2; }'),
        lambda text: text.replace("};", '}; property position = (10, "x;y") ;'),
        lambda text: text.replace("(off, no)", "( off , no )").replace("(on, no)", "(on no)"),
        lambda text: text.replace("(12+, yes)", '("12+", "yes")').replace("12+ }", '"12+" }'),
        lambda text: text.replace("(12+, no)", '(12+, "no")'),
        lambda text: text.replace("(12+, no)", "(12+ /* ? */, no)"),
        lambda text: text.replace("(yes) 0.9, 0.1, 0.0", "default 0.9, 0.1, 0.0"),
        lambda text: text.replace("  (no) 0.5", "  default .9 .1 0;\n (no) 0.5").replace(
            "  (yes) 0.9, 0.1, 0.0;\n", ""
        ),
        lambda text: text.replace("network", "NETWORK").replace("network test { }", ""),
        lambda text: text.replace("discrete [ 2 ]", "discrete[2]").replace("type", " type "),
    ],
)
def test_free_form(tmp_path, change):
    assert_is_the_network(read_text(tmp_path, change(PLAIN)))


def test_table_statement_has_the_child_slowest(tmp_path):
    head, _ = PLAIN.split("probability ( wet")
    for order, parents in (((2, 0, 1), '"sprinkler (garden)", rain'), ((2, 1, 0), None)):
        axes = np.transpose(np.array(WET), order)
        names = parents or 'rain, "sprinkler (garden)"'
        numbers = ", ".join(map(str, axes.ravel()))
        text = f"{head}probability ( wet | {names} ) {{ table {numbers}; }}"
        assert_is_the_network(read_text(tmp_path, text))


def test_entries_in_any_order(tmp_path):
    lines = PLAIN.split("\n")
    assert_is_the_network(read_text(tmp_path, "\n".join(lines[:10] + lines[15:9:-1] + lines[16:])))


def test_other_alphabets(tmp_path):
    for encoding in ("utf-8", "latin-1", "utf-8-sig"):
        model = read_text(tmp_path, PLAIN.replace("wet", "na\u00df"), encoding)
        assert model.names[2] == "na\u00df"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("network", "netwerk", 1, "a network, variable or probability block"),
        ("[ 2 ] { no", "[ 3 ] { no", 2, "expected 3 names of values, found 2"),
        ("[ 2 ] { no", "[ 0 ] { no", 2, "from 1 to 65536 values, found 0"),
        ("[ 2 ] { no", "[ 99999 ] { no", 2, "from 1 to 65536 values"),
        ("[ 2 ] { no", "[ 9999999999 ] { no", 2, "the number of values"),
        ("[ 2 ] { no", "[ -2 ] { no", 2, "the number of values, found '-2'"),
        ("[ 2 ] { no", "[ \u0662 ] { no", 2, "the number of values"),
        ("no, yes", "no, no", 2, "different names"),
        ("type discrete [ 2 ] { no, yes };", "", 2, "the type of variable 'rain'"),
        ("discrete [ 2 ] { no", "continuous [ 2 ] { no", 2, "'discrete'"),
        ("variable wet", "variable rain", 4, "one block for variable 'rain', found two"),
        ("( rain )", "( wet )", 9, "one probability block for 'wet', found two"),
        ("( rain )", "( rain, wet )", 5, "one variable before"),
        ("( rain )", "( snow )", 5, "a declared variable, found 'snow'"),
        ('garden)" | rain', 'garden)" | rain, rain', 6, "'rain' twice"),
        ("probability ( rain ) { table 0.8, 0.2; }", "", 2, "a probability block for .* 'rain'"),
        ("0.8, 0.2", "0.8", 5, "expected 2 probabilities, found 1"),
        ("0.8, 0.2", "0.8, 0.1, 0.1", 5, "expected 2 probabilities, found 3"),
        ("0.8, 0.2", "1.8, -0.8", 5, "a probability, found '1.8'"),
        ("0.8, 0.2", "nan, 0.2", 5, "a probability, found 'nan'"),
        ("0.8, 0.2", "0.8, x", 5, "a probability, found 'x'"),
        ("0.8, 0.2", "0.8, inf", 5, "a probability, found 'inf'"),
        ("0.8, 0.2", "0.8, 0.1", None, "description of a model.*0.9"),
        ("table 0.8, 0.2;", "table 0.8, 0.2", 5, "numbers and a semicolon"),
        ("table 0.8, 0.2;", "table .5 .5; table .5 .5;", 5, "one table statement"),
        ("(on, no)", "(on, maybe)", 13, "a value of 'rain', found 'maybe'"),
        ("(on, no)", "(on)", 13, "2 values of the parents, found 1"),
        ("(on, no)", "(off, no)", 13, "each entry once"),
        ("(on, no)", "(on, no", 13, "expected"),
        ("  (on, no) 0.2, 0.8;\n", "", 10, r"'wet' given \(on, no\), found none"),
        ("(on, no) 0.2", "noise 0.2", 13, "a property"),
        ('garden)" {', "garden) {", 0, "expected"),
        (" 0.95;\n}", " 0.95;\n", 17, "found the end of the file"),
        (" 0.95;\n}", " 0.95;\n /* ", 16, "expected"),
    ],
)
def test_mistakes_are_placed(tmp_path, old, new, line, message):
    text = PLAIN.replace(old, new, 1)
    assert text != PLAIN
    with pytest.raises(ReadError, match=message) as caught:
        read_text(tmp_path, text)
    assert caught.value.path == str(tmp_path / "net.bif")
    found = caught.value.line
    # An open quote is noticed only at the next one, far away.
    assert line == 0 or (found is None) == (line is None)
    assert not (line and found) or abs(found - line) <= 1


def test_every_truncation_is_noticed(tmp_path):
    text = PLAIN.rstrip()
    for end in range(len(text)):
        with pytest.raises(ReadError):
            read_text(tmp_path, text[:end])


def test_cycle_is_a_read_error(tmp_path):
    text = """variable a { type discrete [ 2 ] { x, y }; }
    variable b { type discrete [ 2 ] { x, y }; }
    probability ( a | b ) { default .5 .5; } probability ( b | a ) { default .5 .5; }"""
    with pytest.raises(ReadError, match=r"net\.bif: expected the description of a model"):
        read_text(tmp_path, text)


def test_default_does_not_allocate_beyond_the_limit(tmp_path):
    names = [f"v{i}" for i in range(40)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for name in names)
    text += f"probability ( v0 | {', '.join(names[1:])} ) {{ default .5 .5; }}"
    with pytest.raises(ReadError, match="max_entries"):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    "piece",
    ["(", "/*", '("', '"', "{", "probability ( a | ", "//", "variable a {", "property ", "/"],
)
def test_hostile_repetition_is_linear(tmp_path, piece):
    # Patterns that try again from every start would take hours for this.
    for head in (
        "",
        "probability ( a ) { ",
        "network n { property ",
        "variable a { type discrete [ 2 ] {",
    ):
        with pytest.raises(ReadError):
            read_text(tmp_path, head + piece * 200_000)


@pytest.mark.parametrize("ending", [".bif", ".bif.gz", ".bif.xz"])
@pytest.mark.parametrize("seed", range(3))
def test_round_trip(tmp_path, seed, ending):
    names = ["plain", "two words", "comma, paren)", "<5", "a//b", "\u00fc"]
    values = [[f"{k}", "12+", "", "x; y", "{z}"] for k in ("a", "-", "a b", "|", "[0,1)", "0.5")]
    cardinalities = np.random.default_rng(seed).integers(1, 6, 6)
    values = [row[:count] for row, count in zip(values, cardinalities, strict=True)]
    model = random_network(seed, 6, names, values, cardinalities)
    path = tmp_path / f"net{ending}"
    io.write(model, path)
    found = io.read(path)
    assert list(found.names) == names
    assert [list(row) for row in found.value_names] == values
    assert_same_scores(model, found, seed)


def test_cannot_be_written(tmp_path):
    with pytest.raises(TypeError, match="must be a BayesNet"):
        io.write(heeler.ising(([0], [1], [0.5])), tmp_path / "net.bif")
    model = random_network(0, names=['"', "b", "c", "d", "e", "f"])
    with pytest.raises(ValueError, match="no quotes"):
        io.write(model, tmp_path / "net.bif")
    with pytest.raises(ValueError, match="no evidence"):
        io.write(random_network(0).given({0: 0}), tmp_path / "net.bif")
    assert not list(tmp_path.iterdir())


def test_plain_data():
    network = bif.parse(PLAIN)
    assert [variable.name for variable in network.variables] == [
        "rain",
        "sprinkler (garden)",
        "wet",
    ]
    assert network.tables[2].parents == ["sprinkler (garden)", "rain"]
    assert len(network.tables[2].rows) == 6
