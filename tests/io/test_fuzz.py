"""Random bytes and good files with mistakes: only ReadError comes out, in little memory."""

import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from io_fuzz import MAX_ENTRIES, SEEDS, TARGETS, run

TOKENS = [
    b" ", b"\n", b"-1", b"0", b"1", b"2", b"3", b"99999999999", b"1e308", b"1e999", b"-0", b"inf",
    b"-inf", b"nan", b"0.5", b"1e-320", b"c", b"#", b"MARKOV", b"BAYES", b"MAR", b"PR", b"-BEGIN-",
    b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b"|", b'"', b"//", b"/*", b"*/", b"variable a",
    b"probability", b"table", b"default", b"property", b"type discrete", b"\x00", b"\xff", b"_",
]  # fmt: skip


@st.composite
def mutated(draw, target):
    """Draw a good file with a few pieces cut out, copied, swapped or put in."""
    data = draw(st.sampled_from(SEEDS[target]))
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(data)))
        last = min(len(data), first + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(["cut", "token", "copy", "truncate", "byte"]))
        if kind == "cut":
            data = data[:first] + data[last:]
        elif kind == "token":
            data = data[:first] + draw(st.sampled_from(TOKENS)) + data[last:]
        elif kind == "copy":
            data = data[:last] + data[first:]
        elif kind == "truncate":
            data = data[:first]
        else:
            data = data[:first] + draw(st.binary(min_size=1, max_size=3)) + data[first + 1 :]
    return data


def limited(target, data):
    """Run a reader and check its peak of memory against what data and limits explain."""
    tracemalloc.start()
    try:
        run(target, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Ten float64 copies of the allowed entries, and some objects for each byte.
    assert peak < 10 * 8 * MAX_ENTRIES + 1000 * len(data) + 2**20


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_good(target):
    # Otherwise the fuzzers would only see the first check of each reader.
    for seed in SEEDS[target]:
        if seed.endswith(b"-inf"):
            continue
        assert run_plain(target, seed)


def run_plain(target, data):
    """Run a reader on a good file; the second form of a UAI model may refuse what it reads."""
    if target != "uai":
        return run(target, data)
    from heeler.io.uai.model import build, parse

    return build(parse(data)) is not None


@pytest.mark.parametrize("target", TARGETS)
def test_mutations(target):
    @settings(
        max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(mutated(target))
    def check(data):
        limited(target, data)

    check()


@pytest.mark.parametrize("target", TARGETS)
def test_random_bytes(target):
    heads = [
        b"",
        b"MARKOV ",
        b"BAYES 2 2 2 ",
        b"MPE ",
        b"MAR 1 ",
        b"variable a { ",
        b"probability (",
    ]
    texts = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(TOKENS)).map(b" ".join))

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(st.sampled_from(heads), texts)
    def check(head, data):
        limited(target, head + data)

    check()
