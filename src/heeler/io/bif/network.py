"""The plain data of a BIF file, and how it becomes a Bayesian network."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heeler.io.build import build_model
from heeler.io.errors import ReadError, shown
from heeler.io.files import MAX_BYTES, MAX_ENTRIES, read_bytes
from heeler.io.numbers import parse_numbers

if TYPE_CHECKING:
    from heeler.model.bayes_net import BayesNet

__all__ = ["Network", "Row", "Table", "Variable", "read"]

_LABEL = re.compile(r'\s*(?:"([^"]*+)"|([^",]*+))\s*(,|$)')


class Variable(NamedTuple):
    """A variable block."""

    name: str
    values: list[str]
    #: Where in the text the block begins.
    position: int


class Row(NamedTuple):
    """A statement of a probability block."""

    #: `"entry"`, `"table"` or `"default"`.
    kind: str
    #: What stands in an entry's parentheses.
    labels: str
    #: The numbers, not yet understood.
    numbers: str
    #: Where in the text the statement begins.
    position: int


class Table(NamedTuple):
    """A probability block."""

    child: str
    parents: list[str]
    #: Where in the text the block begins.
    position: int
    rows: list[Row]


class Network(NamedTuple):
    """The content of a BIF file as plain data."""

    path: str
    text: str
    variables: list[Variable]
    tables: list[Table]

    def error(self, message: str, position: int) -> ReadError:
        """Return an error that points at a position in the text.

        Parameters
        ----------
        message : str
            What was expected and found.
        position : int
            Where in the text.

        Returns
        -------
        ReadError
            The error, to be raised by the caller.
        """
        return ReadError(message, self.path, self.text.count("\n", 0, position) + 1)


def read(
    path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES
) -> BayesNet:
    """Read a BIF file.

    Parameters
    ----------
    path : str or path-like
        The file; gzip and xz are unpacked.
    max_bytes : int
        Limit on the text's size after decompression.
    max_entries : int
        Limit on the number of table entries.

    Returns
    -------
    BayesNet
        The network, with the file's names of variables and values, and its numbers as they are:
        rows need to sum to 1 only up to rounding.

    Raises
    ------
    ReadError
        If the file's content is not a Bayesian network in BIF.
    """
    from heeler.io.bif.parser import parse

    data = read_bytes(path, max_bytes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Older tools wrote their own alphabet; every byte is a letter of this one.
        text = data.decode("latin-1")
    return build(parse(text, os.fspath(path)), max_entries)


def build(network: Network, max_entries: int = MAX_ENTRIES) -> BayesNet:
    """Return the Bayesian network that a file's plain data describe.

    Parameters
    ----------
    network : Network
        The data.
    max_entries : int
        Limit on the number of table entries.

    Returns
    -------
    BayesNet
        The network.
    """
    index: dict[str, int] = {}
    for variable in network.variables:
        if variable.name in index:
            message = f"expected one block for variable {shown(variable.name)}, found two"
            raise network.error(message, variable.position)
        index[variable.name] = len(index)
    if not index:
        raise ReadError("expected at least one variable block, found none", network.path)
    arrays: dict[int, tuple[int, tuple[int, ...], np.ndarray]] = {}
    left = max_entries
    for table in network.tables:
        child, *parents = _scope(network, table, index)
        if child in arrays:
            message = f"expected one probability block for {shown(table.child)}, found two"
            raise network.error(message, table.position)
        builder = _TableBuilder(network, table, [*parents, child])
        left -= builder.entries
        if left < 0:
            message = f"expected at most max_entries={max_entries} table entries, found more"
            raise network.error(message, table.position)
        arrays[child] = (child, tuple(parents), builder.array())
    for variable in network.variables:
        if index[variable.name] not in arrays:
            message = f"expected a probability block for variable {shown(variable.name)}"
            raise network.error(message, variable.position)
    return build_model(
        network.path,
        np.array([len(variable.values) for variable in network.variables]),
        cpts=[arrays[child] for child in range(len(index))],
        names=[variable.name for variable in network.variables],
        value_names=[variable.values for variable in network.variables],
    )  # type: ignore[return-value]


def _scope(network: Network, table: Table, index: dict[str, int]) -> list[int]:
    scope = []
    for name in (table.child, *table.parents):
        if name not in index:
            message = f"expected the name of a declared variable, found {shown(name)}"
            raise network.error(message, table.position)
        if index[name] in scope:
            message = f"expected different variables, found {shown(name)} twice"
            raise network.error(message, table.position)
        scope.append(index[name])
    return scope


class _TableBuilder:
    """Fills one child's table from the statements of its block; the child's axis is the last."""

    def __init__(self, network: Network, table: Table, scope: list[int]) -> None:
        self._network = network
        self._table = table
        self._names = [network.variables[variable].values for variable in scope]
        self._shape = tuple([len(names) for names in self._names])
        self.entries = 1
        for size in self._shape:
            self.entries *= size

    def _error(self, message: str, row: Row) -> ReadError:
        return self._network.error(message, row.position)

    def array(self) -> np.ndarray:
        """Return the table."""
        cardinality = self._shape[-1]
        by_kind: dict[str, list[Row]] = {"entry": [], "table": [], "default": []}
        for row in self._table.rows:
            by_kind[row.kind].append(row)
        for kind in ("table", "default"):
            if len(by_kind[kind]) > 1:
                raise self._error(f"expected one {kind} statement, found two", by_kind[kind][1])
        values = np.full((self.entries // cardinality, cardinality), np.nan)
        for row in by_kind["default"]:
            values[:] = self._numbers([row], cardinality)
        for row in by_kind["table"]:
            whole = self._numbers([row], self.entries)
            # The block's head has the child first, so it is the slowest here.
            values[:] = whole.reshape(cardinality, -1).T
        if by_kind["entry"]:
            where = self._positions(by_kind["entry"])
            values[where] = self._numbers(by_kind["entry"], cardinality)
        missing = np.isnan(values[:, 0])
        if missing.any():
            raise self._network.error(self._missing(missing), self._table.position)
        return values.reshape(self._shape)

    def _missing(self, missing: np.ndarray) -> str:
        parents = np.unravel_index(int(np.argmax(missing)), self._shape[:-1])
        labels = [names[i] for names, i in zip(self._names[:-1], parents, strict=True)]
        given = f" given ({', '.join(labels)})" if labels else ""
        return f"expected probabilities of {shown(self._table.child)}{given}, found none"

    def _numbers(self, rows: list[Row], count: int) -> np.ndarray:
        """Return the numbers of statements that must have so many each, as (rows, count)."""
        # Commas may be missing, so the same numbers could be cut in more than one way: each
        # statement is counted before they are read all at once.
        texts = [row.numbers.replace(",", " ") for row in rows]
        for row, text in zip(rows, texts, strict=True):
            found = len(text.split())
            if found != count:
                raise self._error(f"expected {count} probabilities, found {found}", row)
        values = parse_numbers(" ".join(texts).encode("utf-8"))
        wrong = values is None or bool((~((values >= 0) & (values <= 1 + 1e-6))).any())
        if values is None or wrong or values.size != count * len(rows):
            raise self._wrong_number(rows, texts)
        return values.reshape(len(rows), count)

    def _wrong_number(self, rows: list[Row], texts: list[str]) -> ReadError:
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                value = parse_numbers(word.encode("utf-8"))
                if value is None or value.size != 1 or not 0 <= value[0] <= 1 + 1e-6:
                    return self._error(f"expected a probability, found {shown(word)}", row)
        return self._error("expected probabilities", rows[0])

    def _positions(self, rows: list[Row]) -> np.ndarray:
        """Return which row of the table each entry is."""
        axes = self._names[:-1]
        lookup = [{name: i for i, name in enumerate(names)} for names in axes]
        strides = [int(np.prod(self._shape[i + 1 : -1], dtype=np.int64)) for i in range(len(axes))]
        positions = np.empty(len(rows), np.int64)
        seen: set[int] = set()
        for number, row in enumerate(rows):
            labels = self._labels(row, len(axes))
            position = 0
            for axis, label in enumerate(labels):
                value = lookup[axis].get(label)
                if value is None:
                    name = shown(self._table.parents[axis])
                    message = f"expected a value of {name}, found {shown(label)}"
                    raise self._error(message, row)
                position += value * strides[axis]
            if position in seen:
                raise self._error(f"expected each entry once, found ({row.labels}) again", row)
            seen.add(position)
            positions[number] = position
        return positions

    def _labels(self, row: Row, count: int) -> list[str]:
        inside = row.labels
        if '"' not in inside:
            labels = [label.strip() for label in inside.split(",")] if inside.strip() else []
            if len(labels) != count:
                by_blanks = inside.replace(",", " ").split()
                labels = by_blanks if len(by_blanks) == count else labels
            labels = [" ".join(label.split()) if " " in label else label for label in labels]
        else:
            labels = []
            position = 0
            while (found := _LABEL.match(inside, position)) is not None:
                quoted, plain, comma = found.groups()
                labels.append(quoted if plain is None else " ".join(plain.split()))
                position = found.end()
                if not comma:
                    break
        if len(labels) != count:
            message = f"expected {count} values of the parents, found {len(labels)}"
            raise self._error(message, row)
        return labels
