"""Models as arrays and JSON, and back through the public constructors, which check everything."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.bayes_net import bayes_net
from heeler.model.boltzmann import boltzmann
from heeler.model.chain import chain
from heeler.model.factor_graph import factor_graph
from heeler.model.ising import ising
from heeler.model.lattice import lattice
from heeler.model.potts import potts
from heeler.model.rbm import rbm

Arrays = dict[str, NDArray[Any]]


def to_arrays(model: Model) -> tuple[dict[str, Any], Arrays]:
    """Take a model apart.

    Parameters
    ----------
    model
        Any model.

    Returns
    -------
    words : dict
        Kind, digest, names: what JSON can hold.
    arrays : dict
        The defining arrays, and the evidence where there is some.
    """
    names = model.names
    given = model.value_names.given
    words = {
        "kind": model.kind,
        "digest": model.digest,
        "names": list(names) if isinstance(names, tuple) else None,
        "value_names": None
        if given is None
        else [None if row is None else _plain(row) for row in given],
    }
    arrays = dict(model._parts())
    if model.kind == "bayes_net":
        arrays["probabilities"] = model.probabilities  # type: ignore[attr-defined]
    if model.evidence is not None:
        arrays["evidence"] = model.evidence
    return words, {name: np.asarray(array) for name, array in arrays.items()}


def _plain(row: str | Sequence[str]) -> str | list[str]:
    """Turn a row of names into a list; a name stays what it is."""
    return row if isinstance(row, str) else list(row)


def from_arrays(words: dict[str, Any], arrays: Arrays) -> Model:
    """Put a model together again.

    Parameters
    ----------
    words, arrays
        What `to_arrays` gave; anything else is refused.

    Returns
    -------
    Model
        The model, with the digest it had.
    """
    kind = words["kind"]
    if kind not in _BUILDERS:
        raise ValueError(f"a model of unknown kind {kind!r}")
    names: dict[str, Any] = {name: words[name] for name in ("names", "value_names")}
    model: Model = _BUILDERS[kind](arrays, names)
    if "evidence" in arrays:
        model = model.given(arrays["evidence"])
    if model.digest != words["digest"]:
        raise ValueError("the model's arrays do not have the digest they were stored with")
    return model


def _pairs_of(a: Arrays) -> tuple[NDArray, NDArray, NDArray]:
    """List each coupled pair once."""
    pointer, column = a["pointer"], a["column"]
    first = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
    once = first < column
    return first[once], column[once], a["coupling"][once]


def _factors_of(a: Arrays, log_tables: NDArray) -> list[tuple[list[int], NDArray]]:
    """List the factors; tables that were one object are one object again."""
    scopes = np.split(a["scope"], a["scope_pointer"][1:-1])
    tables = np.split(log_tables, a["table_pointer"][1:-1])
    return [
        (scope.tolist(), tables[k]) for scope, k in zip(scopes, a["table_of"].tolist(), strict=True)
    ]


def _bayes_net(a: Arrays, names: dict[str, Any]) -> Model:
    """Rebuild a Bayesian network: the child is the last of each scope."""
    cpts = [(scope[-1], scope[:-1], table) for scope, table in _factors_of(a, a["probabilities"])]
    cards = a["cardinalities"]
    shaped = [(c, p, t.reshape([int(cards[v]) for v in (*p, c)])) for c, p, t in cpts]
    return bayes_net(cards, shaped, **names)


def _lattice(a: Arrays, names: dict[str, Any]) -> Model:
    """Rebuild a lattice; equal fields are one number again."""
    *shape, periodic, neighbours = a["numbers"].tolist()
    field = a["field"]
    one = bool((field == field[0]).all())
    fields = float(field[0]) if one else field
    return lattice(
        tuple(shape), float(a["coupling"][0]), fields, bool(periodic), neighbours, **names
    )


def _chain(a: Arrays, names: dict[str, Any]) -> Model:
    """Rebuild a chain; skip tables carry their ends in their names."""
    skips = []
    for name, table in a.items():
        if name.startswith("skip "):
            _, number, i, j = name.split()
            skips.append((int(number), int(i), int(j), table))
    skip = [(i, j, table) for _, i, j, table in sorted(skips, key=lambda entry: entry[0])]
    return chain(a["node"], a["edge"] if len(a["node"]) > 1 else None, skip or None, **names)


def _rbm(a: Arrays, names: dict[str, Any]) -> Model:
    """Rebuild a restricted Boltzmann machine."""
    visible = len(a["weights"])
    return rbm(a["weights"], a["bias"][:visible], a["bias"][visible:], **names)


_BUILDERS: dict[str, Any] = {
    "factor_graph": lambda a, names: factor_graph(
        a["cardinalities"], _factors_of(a, a["log_tables"]), log=True, **names
    ),
    "bayes_net": _bayes_net,
    "ising": lambda a, names: ising(_pairs_of(a), a["field"], n_variables=len(a["field"]), **names),
    "potts": lambda a, names: potts(_pairs_of(a), a["field"].shape[1], a["field"], **names),
    "lattice": _lattice,
    "boltzmann": lambda a, names: boltzmann(a["weights"], a["bias"], **names),
    "rbm": _rbm,
    "chain": _chain,
}
