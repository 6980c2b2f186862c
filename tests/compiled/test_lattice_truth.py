"""The lattice kernels sample the right distribution, from good words; refusals are clear."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from heeler.compiled.jit import kernel
from heeler.compiled.lattice_plan import make_scratch
from heeler.compiled.lattice_words import FAST, PHILOX, fast_stream, fill_fast, fill_philox
from heeler.compiled.words import DRAW_VALUE, fill_words
from heeler.kernel.lattice_engine import LatticeEngine, refusal


@kernel
def fast_words(out, key, pass_number, lane):
    start, twist = fast_stream(key, pass_number, DRAW_VALUE, lane)
    for block in range(out.size // 256):
        fill_fast(out, block * 256, np.int64(start), np.int64(twist), block)


@kernel
def philox_words(out, key, pass_number, lane):
    for block in range(out.size // 256):
        fill_philox(
            out, block * 256, np.int64(key), np.int64(pass_number & 0xFFFFFFFF),
            ((pass_number >> 32) << 3) + DRAW_VALUE, lane, block,
        )  # fmt: skip


def words(count=1 << 16, key=5, pass_number=0, lane=0):
    out = np.empty(count, np.uint32)
    fast_words(out, np.uint64(key), pass_number, lane)
    return out


@pytest.mark.parametrize("pass_number", [0, 7, (1 << 32) + 3])
def test_vector_philox_is_philox(pass_number):
    for key in (0, 0xFEDCBA9876543210):
        mine, theirs = np.empty(1024, np.uint32), np.empty(1024, np.uint32)
        philox_words(mine, np.uint64(key), pass_number, 3)
        fill_words(theirs, np.uint64(key), pass_number, DRAW_VALUE, 3)
        assert np.array_equal(mine, theirs)


def splitmix_like(position, start, twist):
    """One word of the fast generator in Python's integers."""
    mask = 2**64 - 1
    half, place = divmod(position % 256, 128)
    counter = position // 256 * 128 + half * 64 + place % 64
    z = (start + 0x9E3779B97F4A7C15 * counter) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = ((z ^ z >> 27 ^ twist) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return z >> 32 if place >= 64 else z & 0xFFFFFFFF


@kernel
def stream_of(out, key, pass_number, lane):
    out[0], out[1] = fast_stream(key, pass_number, DRAW_VALUE, lane)


def test_fast_words_equal_their_definition():
    stream = np.empty(2, np.uint64)
    stream_of(stream, np.uint64(5), 11, 2)
    found = words(1024, pass_number=11, lane=2)
    assert found.tolist() == [splitmix_like(t, int(stream[0]), int(stream[1])) for t in range(1024)]


def z_score(count, trials, p):
    return (count - trials * p) / math.sqrt(trials * p * (1 - p))


def test_fast_words_bits_and_neighbours():
    """Every bit and pairs of bits, 6 sigma: false alarm 2e-9 each, below 1e-6 in all."""
    first, other = words(1 << 16), words(1 << 16, pass_number=1)
    lane, seed = words(1 << 16, lane=1), words(1 << 16, key=6)
    for bit in range(32):
        b = (first >> bit & 1).astype(bool)
        assert abs(z_score(b.sum(), b.size, 0.5)) < 6
        for lag in (1, 2, 63, 64, 128, 256, 1024):
            assert abs(z_score((b[lag:] ^ b[:-lag]).sum(), b.size - lag, 0.5)) < 6
        for against in (other, lane, seed):
            assert abs(z_score((b ^ (against >> bit & 1).astype(bool)).sum(), b.size, 0.5)) < 6


def chi_square_limit(degrees):
    # Wilson-Hilferty; 5.2 sigma is a false-alarm rate of 1e-7.
    return degrees * (1 - 2 / (9 * degrees) + 5.2 * math.sqrt(2 / (9 * degrees))) ** 3


@pytest.mark.parametrize("shift", [0, 12, 24])
def test_fast_words_are_even_and_serially_independent(shift):
    """Chi-square of bytes and of pairs of 4-bit numbers at a lattice's lags: 1e-7 each."""
    word = words(1 << 18)
    counts = np.bincount(word >> shift & 255, minlength=256)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < chi_square_limit(255)
    nibble = (word >> shift & 15).astype(np.int64)
    for lag in (1, 64, 128, 512):
        pairs = np.bincount(nibble[:-lag] * 16 + nibble[lag:], minlength=256)
        assert ((pairs - pairs.mean()) ** 2 / pairs.mean()).sum() < chi_square_limit(255)


def test_fast_words_avalanche():
    """Near passes, lanes and seeds change half of all bits: 6 sigma, false alarm 2e-9."""
    base = words(4096)
    for near in (
        words(4096, pass_number=1),
        words(4096, lane=1),
        words(4096, key=4),
        words(4096, key=5 + 2**40),
    ):
        flips = np.bitwise_count(base ^ near).astype(int)
        assert abs(z_score(flips.sum(), 32 * flips.size, 0.5)) < 6
        assert abs(flips.std() - math.sqrt(8)) < 6 * math.sqrt(8 / (2 * flips.size))


def test_fast_words_do_not_repeat_more_than_chance():
    """Equal words among 2^16: Poisson of mean 0.5; 12 or more has probability 1e-13."""
    assert words(1 << 16).size - np.unique(words(1 << 16)).size < 12


def onsager_energy(beta):
    """Energy per site of the infinite square lattice (Onsager 1944)."""
    k = 2 * math.sinh(2 * beta) / math.cosh(2 * beta) ** 2
    theta = (np.arange(20000) + 0.5) * (math.pi / 2) / 20000
    elliptic = np.mean(1 / np.sqrt(1 - (k * np.sin(theta)) ** 2))
    return -(1 / math.tanh(2 * beta)) * (1 + (2 * math.tanh(2 * beta) ** 2 - 1) * elliptic)


@pytest.mark.parametrize("scan", ["systematic", "chromatic"])
@pytest.mark.parametrize("generator", ["philox", "fast"])
def test_energy_is_onsagers(scan, generator):
    """Batch means over 40 batches within 5.5 sigma (t with 39 degrees: about 3e-6, fixed seed)."""
    size, beta = 128, 0.3
    rng = np.random.default_rng(1)
    model = SimpleNamespace(
        shape=(size, size), coupling=beta, field=np.float64(0), periodic=True, neighbours=4
    )
    states = rng.integers(0, 2, (1, size * size)).astype(np.uint8)
    engine = LatticeEngine(model, states, scan=scan, generator=generator, key=12)
    engine.advance(200, np.empty((200, 1)))
    scores = np.empty((4000, 1))
    engine.advance(4000, scores)
    energy = (-scores[:, 0] / beta / size**2).reshape(40, 100).mean(1)
    error = energy.std(ddof=1) / math.sqrt(40)
    assert error < 1e-3
    assert abs(energy.mean() - onsager_energy(beta)) < 5.5 * error


@pytest.mark.parametrize("driver", ["random", "herded"])
@pytest.mark.parametrize("scan", ["systematic", "chromatic"])
def test_marginals_of_a_small_lattice(driver, scan):
    """Against enumeration of 3 x 4 sites; random: below 6 sigma of a fair coin's error."""
    from itertools import product

    rng = np.random.default_rng(8)
    field = rng.normal(0, 0.4, (3, 4))
    model = SimpleNamespace(shape=(3, 4), coupling=0.25, field=field, periodic=False, neighbours=4)
    weights, ups = 0.0, np.zeros(12)
    for x in product((0, 1), repeat=12):
        s = 2 * np.array(x).reshape(3, 4) - 1
        value = math.exp(
            0.25 * ((s[1:] * s[:-1]).sum() + (s[:, 1:] * s[:, :-1]).sum()) + (field * s).sum()
        )
        weights += value
        ups += value * np.array(x)
    context = "neighbours" if driver == "herded" else "shared"
    engine = LatticeEngine(
        model, np.zeros((1, 12), np.uint8), driver=driver, scan=scan, context=context, key=4
    )
    count = 100_000
    engine.advance(count, np.empty((count, 1)))
    # Rao-Blackwell sums are less noisy than independent draws here; herding is far better.
    limit = 6 * 0.5 / math.sqrt(count) if driver == "random" else 1e-3
    assert np.abs(engine.sums()[0] / count - ups / weights).max() < limit


def test_refusals_say_why():
    def why(shape=(6, 6), neighbours=4, periodic=True, coupling=0.3, evidence=None, **choices):
        model = SimpleNamespace(
            shape=shape,
            coupling=coupling,
            field=0.0,
            periodic=periodic,
            neighbours=neighbours,
            evidence=evidence,
        )
        return refusal(model, **{"scan": "systematic", "driver": "random", **choices})

    assert why() is None
    assert "odd" in why(shape=(5, 6), scan="chromatic")
    assert why(shape=(5, 7), periodic=False, scan="chromatic") is None
    assert "at least 3" in why(shape=(2, 6))
    assert "clamped" in why(evidence=np.zeros(36))
    assert "one coupling" in why(coupling=np.ones(3))
    assert "2-D" in why(shape=(4, 4, 4), neighbours=4)
    assert "driver" in why(driver="quasi")
    assert "scan" in why(scan="shuffled")
    assert "context" in why(driver="herded", context="binned")
    assert "at most 6" in why(driver="herded", context="neighbours", neighbours=8)
    assert "bits" in why(driver="herded", context="neighbours", bits=16)
    assert "too short" in why(shape=(100_000, 3))


def test_bad_arguments_of_the_engine():
    model = SimpleNamespace(
        shape=(5, 6), coupling=0.3, field=np.float64(0), periodic=True, neighbours=4
    )
    states = np.zeros((1, 30), np.uint8)
    with pytest.raises(ValueError, match="odd length"):
        LatticeEngine(model, states, scan="chromatic")
    with pytest.raises(ValueError, match="generator"):
        LatticeEngine(model, states, generator="other")
    with pytest.raises(ValueError, match="states"):
        LatticeEngine(model, states[:, :-1])
    with pytest.raises(ValueError, match="initial_weights"):
        LatticeEngine(
            model, states, driver="herded", initial_weights=lambda _: np.zeros((1, 3), np.uint32)
        )
    with pytest.raises(ValueError, match="temperature"):
        LatticeEngine(model, states, temperature=0.0)
    with pytest.raises(ValueError, match="scores"):
        LatticeEngine(model, states).advance(2, np.empty((1, 1)))
    with pytest.raises(ValueError, match="threads"):
        LatticeEngine(model, states).advance(1, np.empty((1, 1)), threads=0)


def test_scratch_has_room():
    assert make_scratch(3).words.shape[0] == 3
    assert (PHILOX, FAST) == (0, 1)
