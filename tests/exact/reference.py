"""The reference instances as models, read with a few lines of this file's own."""

import gzip
import json
import tarfile

import numpy as np

import heeler


def competition(folder):
    """Open the archive of competition instances; returns a reader of one of them, and the index."""
    archive = tarfile.open(folder / "uai" / "uai2014.tar.xz")  # noqa: SIM115 - lives with the tests
    members = {m.name.rsplit("/", 1)[-1]: m for m in archive.getmembers()}
    with gzip.open(folder / "uai" / "index.json.gz", "rt") as file:
        index = json.load(file)

    def words(name):
        return archive.extractfile(members[name]).read().split()

    def read(name):
        return parse_model(words(f"{name}.uai"), words(f"{name}.uai.evid")), parse_marginals(
            words(f"{name}.uai.MAR")
        )

    return read, index


def parse_model(tokens, evidence):
    """Parse a model file that is known to be right."""
    stream = iter(tokens)
    next(stream)
    cards = [int(next(stream)) for _ in range(int(next(stream)))]
    count = int(next(stream))
    scopes = [[int(next(stream)) for _ in range(int(next(stream)))] for _ in range(count)]
    factors = []
    for scope in scopes:
        entries = int(next(stream))
        factors.append((scope, np.array([float(next(stream)) for _ in range(entries)])))
    model = heeler.factor_graph(cards, factors)
    numbers = [int(t) for t in evidence[1 : 1 + 2 * int(evidence[0])]]
    return model.given(dict(zip(numbers[::2], numbers[1::2], strict=True))) if numbers else model


def parse_marginals(tokens):
    """Parse a file of marginals into one array per variable."""
    stream = iter(tokens)
    assert next(stream) == b"MAR"
    return [
        np.array([float(next(stream)) for _ in range(int(next(stream)))])
        for _ in range(int(next(stream)))
    ]
