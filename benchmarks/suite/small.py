"""Small things: one pass of ten variables, building their model, thousands of sentences."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

import heeler
from suite.figure import AT_MOST, Case, Figure, LeftOut
from suite.timing import best_of

POTENTIALS = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "ner" / "ieer_crf_potentials.npz"
)
VARIABLES = 10
BUILD_MICROSECONDS = 100.0
SAMPLE_MICROSECONDS = 300.0
CALLS = 200  # of one timing: tens of milliseconds
SWEEPS = 400
SENTENCES_SECONDS = 1.0
VITERBI_SECONDS = 0.1


def cases(rounds: int, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    rounds
        How often everything is timed.
    quick
        Whether to take fewer calls and sentences.

    Yields
    ------
    Case
        Measurements.
    """
    calls = 5 if quick else CALLS
    yield Case("build 10 variables", partial(building, rounds, calls))
    yield Case("sample 10 variables", partial(sampling, rounds, calls))
    count, sweeps = (100, 20) if quick else (None, SWEEPS)
    yield Case("sentences", partial(sentences, min(rounds, 3), count, sweeps))


def builders() -> dict[str, Callable[[], heeler.Model]]:
    """Give calls that make models of ten variables on a ring with chords.

    Returns
    -------
    dict
        Kind of model -> call.
    """
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(VARIABLES), np.arange(VARIABLES // 2)])
    second = np.concatenate(
        [(np.arange(VARIABLES) + 1) % VARIABLES, np.arange(VARIABLES // 2) + VARIABLES // 2]
    )
    couplings = (first, second, rng.uniform(-0.5, 0.5, len(first)))
    fields = rng.uniform(-0.5, 0.5, VARIABLES)
    cardinalities = [2 + i % 3 for i in range(VARIABLES)]
    factors = [
        ((i, j), rng.uniform(0.5, 1.5, (cardinalities[i], cardinalities[j])))
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return {
        "ising": partial(heeler.ising, couplings, fields),
        "factor graph": partial(heeler.factor_graph, cardinalities, factors),
    }


def building(rounds: int, calls: int) -> Iterator[Figure]:
    """Time the building of models."""
    for kind, build in builders().items():
        build()
        spent = best_of(build, rounds, calls=calls) * 1e6
        yield Figure(f"build 10 variables, {kind}", spent, "us", BUILD_MICROSECONDS, AT_MOST)


def sampling(rounds: int, calls: int) -> Iterator[Figure]:
    """Time one pass, everything loaded."""
    for kind, build in builders().items():
        model = build()
        for driver, chains in (("auto", 4), ("random", 1), ("herded", 1)):
            run = partial(heeler.sample, model, sweeps=1, driver=driver, chains=chains)
            run()
            spent = best_of(run, rounds, calls=calls) * 1e6
            name = f"sample 10 variables, {kind}, driver {driver}, {chains} chains"
            yield Figure(name, spent, "us", SAMPLE_MICROSECONDS, AT_MOST)


def read_sentences(count: int | None) -> tuple[Callable[[], list[heeler.Model]], np.ndarray]:
    """Read the potentials of sentences.

    Parameters
    ----------
    count
        How many, or None for all.

    Returns
    -------
    build : callable
        Makes the chains.
    scores : ndarray
        Log scores of the best labellings.
    """
    if not POTENTIALS.is_file():
        raise LeftOut(f"the sentences are not in {POTENTIALS.parent}")
    with np.load(POTENTIALS, allow_pickle=False) as stored:
        node, edge = stored["node"].astype(np.float64), stored["edge"].astype(np.float64)
        start, scores = stored["sent_start"], stored["map_score"]
    # The label before a sentence is 0: its first edge is one more weight of the first token.
    node[start] += edge[start, 0]
    ends = np.append(start, len(node))[: len(start) + 1 if count is None else count + 1].tolist()

    def build() -> list[heeler.Model]:
        return [
            heeler.chain(node[a:b], edge[a + 1 : b] if b - a > 1 else None)
            for a, b in pairwise(ends)
        ]

    return build, scores[: len(ends) - 1]


def sentences(rounds: int, count: int | None, sweeps: int) -> Iterator[Figure]:
    """Time herded sweeps of all sentences, and their exact best labellings."""
    build, scores = read_sentences(count)
    chains = build()
    name = f"{len(chains)} sentences"
    yield Figure(f"{name}, building the models", best_of(build, rounds), "s")
    found: list[list[heeler.Run]] = []

    def run() -> None:
        found[:] = [
            heeler.sample(
                chains, sweeps=sweeps, driver="herded", chains=1, threads=1, progress=False
            )
        ]

    heeler.sample(chains, sweeps=2, driver="herded", chains=1, threads=1, progress=False)
    spent = best_of(run, rounds)
    best = np.array([r.best.log_score for r in found[0]])
    share = float((best >= scores - 1e-3).mean())
    note = f"{share:.1%} of best states are the exact ones"
    name = f"{name}, {sweeps} herded sweeps"
    yield Figure(name, spent, "s", SENTENCES_SECONDS, AT_MOST, note)
    heeler.exact.viterbi(chains[:10])
    spent = best_of(lambda: heeler.exact.viterbi(chains), rounds)
    exact = np.array(heeler.exact.viterbi(chains)[1])
    note = f"largest difference of a score from the stored one {np.abs(exact - scores).max():.1e}"
    yield Figure(f"{len(chains)} sentences, Viterbi", spent, "s", VITERBI_SECONDS, AT_MOST, note)
