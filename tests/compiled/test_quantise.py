"""Integer probabilities: sums, limits, and how close they are."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import heeler
import naive
from engines import general
from heeler.compiled.quantise import fill_binary_table
from heeler.compiled.words import BLOCK, fill_words
from naive_loop import KARY_ONE, logarithm, quantised_row, weights_of

log_odds = st.floats(-800, 800) | st.floats(-40, 40)


@settings(deadline=None, max_examples=200)
@given(st.lists(log_odds, min_size=1, max_size=20), st.floats(0.01, 50))
def test_binary_probabilities(values, beta):
    out = np.empty(len(values), np.uint64)
    fill_binary_table(np.array(values), beta, out)
    for value, q in zip(values, out.tolist(), strict=True):
        assert q == naive.quantised_sigmoid(beta * value)
        assert 1 <= q <= 2**32 - 1
        z = min(max(beta * value, -700), 700)
        p = 1 / (1 + math.exp(-z))
        assert abs(q - p * 2**32) <= 1.001


def test_certain_values_stay_certain():
    out = np.empty(2, np.uint64)
    fill_binary_table(np.array([np.inf, -np.inf]), 0.3, out)
    assert out.tolist() == [2**32, 0]


def test_own_exponential_is_accurate():
    for x in np.linspace(-699.9, 699.9, 20001):
        assert abs(naive.exponential(x) / math.exp(x) - 1) < 1e-15


def test_own_logarithm_is_accurate():
    for x in [*np.geomspace(1e-300, 1.0, 20001), 0.5, math.sqrt(0.5), 1 - 2**-53]:
        assert abs(logarithm(x) - math.log(x)) <= 4e-16 * max(1.0, abs(math.log(x)))
    assert logarithm(1.0) == 0.0


def rows_of(tables, beta=1.0):
    """Give the integer rows that an engine works with, one variable a row."""
    model = heeler.factor_graph(
        [len(t) for t in tables], [([i], np.array(t)) for i, t in enumerate(tables)], log=True
    )
    engine = general(model, temperature=1 / beta)
    engine.advance(1)
    sums = (engine.sums()[0] * KARY_ONE).astype(np.int64)
    return [row.tolist() for row in np.split(sums, engine.entry[1:])]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.lists(st.just(-math.inf) | st.floats(-60, 60), min_size=3, max_size=19).filter(
            lambda t: max(t) > -math.inf
        ),
        min_size=1,
        max_size=6,
    ),
    st.floats(0.1, 10),
)
def test_rows_sum_to_one_exactly(tables, beta):
    tables.append([0.0, 0.5, -math.inf])  # at least one row with an impossible value
    for table, row in zip(tables, rows_of(tables, beta), strict=True):
        assert sum(row) == KARY_ONE
        assert row == quantised_row(weights_of(table, 1 / (1 / beta)))
        top = max(table)
        weights = [math.exp(beta * (w - top)) for w in table]
        for value, weight, q in zip(table, weights, row, strict=True):
            assert (q > 0) == (value > -math.inf)
            # Half a unit of rounding, one for a possible value's least share; the largest takes
            # what is left.
            slack = len(table) if weight == max(weights) else 1.01
            assert abs(q - weight / sum(weights) * KARY_ONE) <= slack


def test_row_of_very_many_values():
    row = rows_of([np.linspace(-3, 3, 700), [0.0, 1.0, 2.0]])[0]
    assert sum(row) == KARY_ONE
    assert row == quantised_row(weights_of(np.linspace(-3, 3, 700).tolist(), 1.0))


def test_words_are_philox():
    # Known answers of Salmon et al.'s Random123 for philox4x32-10 (kat_vectors). With counter
    # (c0, c1, c2, c3) = (block and position, pass low, pass high * 8 + draw, lane).
    out = np.empty(BLOCK, np.uint32)
    fill_words(out, np.uint64(0), 0, 0, 0)
    assert [int(out[k]) for k in (0, 64, 128, 192)] == [
        0x6627E8D5,
        0xE169C58D,
        0xBC57AC4C,
        0x9B00DBD8,
    ]
    # The other two vectors have counters that no pass reaches; the twin's words are checked with
    # them, and the compiled words with the twin's.
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)
    assert philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)
    ones = (0xFFFFFFFF,) * 6
    assert philox(*ones) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    for key, pass_number, draw, lane in ((2**64 - 1, 2**40 + 7, 2, 5), (12345, 3, 7, 2**32 - 1)):
        out = np.empty(3 * BLOCK, np.uint32)
        fill_words(out, np.uint64(key), pass_number, draw, lane)
        assert out.tolist() == naive.philox_words(key, pass_number, draw, lane, 3 * BLOCK)
        q = 37
        counter = (64 + q, pass_number % 2**32, (pass_number >> 32) * 8 + draw, lane)
        four = philox(*counter, key % 2**32, key >> 32)
        assert [int(out[256 + q + 64 * k]) for k in range(4)] == list(four)


def philox(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10 from its definition."""
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % (1 << 32), (k1 + 0xBB67AE85) % (1 << 32)
    return c0, c1, c2, c3
