"""Reading UAI model files."""

from __future__ import annotations

import os
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heeler.io.build import build_model
from heeler.io.files import MAX_BYTES, MAX_ENTRIES, read_bytes
from heeler.io.numbers import NumberText
from heeler.io.uai.text import blank_comments, first_word

if TYPE_CHECKING:
    from heeler.model.bayes_net import BayesNet
    from heeler.model.factor_graph import FactorGraph

__all__ = ["UaiModel", "build", "parse", "read"]

# Values are stored as 16-bit integers.
_MAX_CARDINALITY = 2**16


class UaiModel(NamedTuple):
    """The content of a UAI model file as plain data."""

    #: `"MARKOV"` or `"BAYES"`.
    kind: str
    #: int64 (n,): how many values each variable has.
    cardinalities: np.ndarray
    #: For each function the variables, as a tuple of int.
    scopes: list[tuple[int, ...]]
    #: For each function a float64 array with one axis for each variable of its scope.
    tables: list[np.ndarray]
    #: Whether the tables are logarithms of base 10.
    log10: bool


def read(
    path: str | os.PathLike[str],
    *,
    log10: bool | None = None,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
) -> FactorGraph | BayesNet:
    """Read a UAI model file.

    Parameters
    ----------
    path : str or path-like
        The file; gzip and xz are unpacked.
    log10 : bool, optional
        Whether the tables are logarithms of base 10. The default is to go by the name: `.LG` files
        have logarithms.
    max_bytes : int
        Limit on the text's size after decompression.
    max_entries : int
        Limit on the number of table entries.

    Returns
    -------
    FactorGraph or BayesNet
        The model; a Bayesian network for a `BAYES` file.

    Raises
    ------
    ReadError
        If the file's content is not a UAI model.
    """
    name = os.fspath(path)
    if log10 is None:
        from heeler.io.files import split_name

        log10 = split_name(path)[0] == ".lg"
    data = read_bytes(path, max_bytes)
    return build(parse(data, name, log10=log10, max_entries=max_entries), name)


def build(content: UaiModel, name: str = "<data>") -> FactorGraph | BayesNet:
    """Return the model that the plain data of a file describe.

    Parameters
    ----------
    content : UaiModel
        The data.
    name : str
        The file's name, for messages.

    Returns
    -------
    FactorGraph or BayesNet
        The model.
    """
    if content.kind == "MARKOV":
        tables = content.tables
        if content.log10:
            tables = [table * np.log(10.0) for table in tables]
        factors = list(zip(content.scopes, tables, strict=True))
        return build_model(name, content.cardinalities, factors, log=content.log10)
    tables = content.tables
    if content.log10:
        tables = [np.power(10.0, table) for table in tables]
    cpts = [
        (scope[-1], scope[:-1], table) for scope, table in zip(content.scopes, tables, strict=True)
    ]
    return build_model(name, content.cardinalities, cpts=cpts)


def parse(
    data: bytes, path: str = "<data>", *, log10: bool = False, max_entries: int = MAX_ENTRIES
) -> UaiModel:
    """Return the content of a UAI model file as plain data.

    Parameters
    ----------
    data : bytes
        The file's text.
    path : str
        Its name, for messages.
    log10 : bool
        Whether the tables are logarithms of base 10.
    max_entries : int
        Limit on the number of table entries.

    Returns
    -------
    UaiModel
        The content; tables are views of one array.

    Raises
    ------
    ReadError
        If the text is not a UAI model.
    """
    data = blank_comments(data)
    kind, end = first_word(data, path, ("MARKOV", "BAYES"))
    numbers = NumberText(data, path, end)
    total = numbers.values.size
    # Every variable needs a number of its own in the file, and so does every function: a count
    # larger than what is left is refused before anything of that size is made.
    n = int(numbers.integers(0, 1, 1, total, "the number of variables")[0])
    cardinalities = numbers.integers(1, n, 1, _MAX_CARDINALITY, "a cardinality")
    m = int(numbers.integers(n + 1, 1, 0, total, "the number of functions")[0])
    sizes, scope_first, position = _scope_sizes(numbers, n + 2, m, n)
    scopes = _scopes(numbers, sizes, scope_first, n)
    if kind == "BAYES" and m and sizes.min() == 0:
        empty = int(scope_first[int(np.argmin(sizes))]) - 1
        raise numbers.error("expected at least the child in a scope, found size 0", empty)
    tables = _tables(numbers, scopes, cardinalities, position, max_entries)
    _check_entries(numbers, position, log10)
    return UaiModel(kind, cardinalities, scopes, tables, log10)


def _scope_sizes(
    numbers: NumberText, position: int, m: int, n: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the scopes' sizes, where each one's first variable stands, and where tables begin."""
    values = numbers.values
    total = values.size
    if position + m > total:
        message = f"expected {m} scopes, found the end of the file"
        raise numbers.error(message, total)
    first = np.empty(m, np.int64)
    # The only loop over functions: where one scope begins depends on all before it.
    sizes = []
    for function in range(m):
        size = values.item(position) if position < total else -1.0
        # The comparison is also false for sizes that are no integers, or infinite.
        if not (0.0 <= size <= n and size.is_integer()):
            numbers.integers(position, 1, 0, n, f"the size of scope {function}")
        first[function] = position + 1
        sizes.append(int(size))
        position += 1 + int(size)
    if position > total:
        raise numbers.error("expected a scope, found the end of the file", total)
    return np.array(sizes, np.int64), first, position


def _scopes(
    numbers: NumberText, sizes: np.ndarray, first: np.ndarray, n: int
) -> list[tuple[int, ...]]:
    """Return the scopes, checked."""
    pointer = np.concatenate([[0], np.cumsum(sizes)])
    inside = np.arange(pointer[-1]) - np.repeat(pointer[:-1], sizes)
    where = np.repeat(first, sizes) + inside
    found = numbers.values[where]
    wrong = (found < 0) | (found >= n) | (found != np.floor(found))
    if wrong.any():
        position = int(where[int(np.argmax(wrong))])
        numbers.integers(position, 1, 0, n - 1, "a variable")
    variables = found.astype(np.int64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((variables, owner))
    same = (np.diff(variables[order]) == 0) & (np.diff(owner[order]) == 0)
    if same.any():
        entry = int(order[int(np.argmax(same)) + 1])
        message = f"expected different variables in a scope, found {variables[entry]} twice"
        raise numbers.error(message, int(where[entry]))
    listed = variables.tolist()
    ends = pointer.tolist()
    return [tuple(listed[a:b]) for a, b in pairwise(ends)]


def _tables(
    numbers: NumberText,
    scopes: list[tuple[int, ...]],
    cardinalities: np.ndarray,
    position: int,
    max_entries: int,
) -> list[np.ndarray]:
    """Return the tables as views of the file's numbers, checked against the declared counts."""
    values = numbers.values
    available = values.size - position - len(scopes)
    listed = cardinalities.tolist()
    shapes: list[tuple[int, ...]] = []
    counts: list[int] = []
    entries = 0
    for scope in scopes:
        shape = tuple([listed[variable] for variable in scope])
        count = _entries(shape, max_entries)
        entries += count
        if entries > max_entries:
            message = f"expected at most max_entries={max_entries} table entries, found more"
            raise numbers.error(message, position)
        shapes.append(shape)
        counts.append(count)
        if entries > available:
            break
    ends = position + np.cumsum(np.array(counts, np.int64) + 1)
    starts = ends - 1 - np.array(counts, np.int64)
    # If entries are missing, a count at the wrong place tells better where than the file's end.
    inside = int(np.searchsorted(starts, values.size))
    wrong = values[starts[:inside]] != np.array(counts[:inside], np.float64)
    if wrong.any():
        function = int(np.argmax(wrong))
        message = (
            f"expected {counts[function]} as the number of entries of table {function} (the "
            f"product of its variables' cardinalities), found {values[starts[function]]:g}"
        )
        raise numbers.error(message, int(starts[function]))
    if entries > available:
        message = (
            f"expected {len(scopes)} tables with an entry for each joint value of their "
            f"variables, found the end of the file in table {len(counts) - 1}"
        )
        raise numbers.error(message, values.size)
    end = int(ends[-1]) if counts else position
    if end != values.size:
        raise numbers.error("expected the end of the file after the last table", end)
    return [
        values[start + 1 : start + 1 + count].reshape(shape)
        for start, count, shape in zip(starts.tolist(), counts, shapes, strict=True)
    ]


def _entries(shape: tuple[int, ...], limit: int) -> int:
    """Return the product of cardinalities, or some number above the limit if it is above."""
    # A scope of a million variables must not make a number of a million digits.
    if len(shape) <= 64:
        return prod(shape)
    count = 1
    for size in shape:
        count *= size
        if count > limit:
            break
    return count


def _check_entries(numbers: NumberText, position: int, log10: bool) -> None:
    """Refuse weights that are negative or infinite; logarithms may be minus infinity."""
    values = numbers.values[position:]
    wrong = values == np.inf if log10 else (values < 0) | (values == np.inf)
    if wrong.any():
        where = int(np.argmax(wrong))
        expected = "a logarithm below infinity" if log10 else "a weight (finite, not negative)"
        message = f"expected {expected}, found {float(values[where]):g}"
        raise numbers.error(message, position + where)
