"""BIF text to plain data."""

from __future__ import annotations

from heeler.io.bif.cursor import Cursor
from heeler.io.bif.network import Network, Row, Table, Variable
from heeler.io.errors import shown

__all__ = ["parse"]

# Values are stored as 16-bit integers.
_MAX_CARDINALITY = 2**16


def parse(text: str, path: str = "<data>") -> Network:
    """Return the content of a BIF file as plain data.

    Parameters
    ----------
    text : str
        The file's text.
    path : str
        Its name, for messages.

    Returns
    -------
    Network
        Variables and probability blocks, in the order of the file.

    Raises
    ------
    ReadError
        If the text is not BIF.
    """
    cursor = Cursor(text, path)
    network = Network(path, text, [], [])
    if cursor.at_end():
        raise cursor.expected("a network, variable or probability block")
    while not cursor.at_end():
        keyword = cursor.peek_word().lower()
        if keyword not in ("network", "variable", "probability"):
            raise cursor.expected("a network, variable or probability block")
        cursor.word("a block")
        if keyword == "network":
            _network(cursor)
        elif keyword == "variable":
            network.variables.append(_variable(cursor))
        else:
            network.tables.append(_table(cursor))
    return network


def _network(cursor: Cursor) -> None:
    # A name of several words is not unheard of.
    cursor.words("{", "the network's name")
    cursor.demand("{", "to open the network block")
    while not cursor.take("}"):
        _property(cursor, "the network block")


def _property(cursor: Cursor, where: str) -> None:
    if cursor.peek_word().lower() != "property":
        raise cursor.expected(f"a property or '}}' in {where}")
    cursor.word("a property")
    cursor.skip_property()


def _variable(cursor: Cursor) -> Variable:
    name = cursor.word("the name of a variable")
    position = cursor.position
    cursor.demand("{", f"to open the block of variable {shown(name)}")
    values: list[str] | None = None
    while not cursor.take("}"):
        if cursor.peek_word().lower() != "type":
            _property(cursor, f"the block of variable {shown(name)}")
            continue
        if values is not None:
            raise cursor.expected(f"one type of variable {shown(name)}")
        cursor.word("type")
        values = _values(cursor)
    if values is None:
        raise cursor.error(f"expected the type of variable {shown(name)} in its block")
    return Variable(name, values, position)


def _values(cursor: Cursor) -> list[str]:
    if cursor.peek_word().lower() != "discrete":
        raise cursor.expected("'discrete' (no other type is supported)")
    cursor.word("discrete")
    cursor.demand("[", "before the number of values")
    start = cursor.position
    word = cursor.word("the number of values")
    # int() would also take underscores and other scripts' digits.
    if not (word.isascii() and word.isdigit() and len(word) <= 5):
        raise cursor.error(f"expected the number of values, found {shown(word)}", start)
    count = int(word)
    if not 1 <= count <= _MAX_CARDINALITY:
        message = f"expected from 1 to {_MAX_CARDINALITY} values, found {count}"
        raise cursor.error(message, start)
    cursor.demand("]", "after the number of values")
    cursor.demand("{", "before the values' names")
    start = cursor.position
    values = cursor.labels(count)
    if len(values) != count:
        message = f"expected {count} names of values, found {len(values)}"
        raise cursor.error(message, start)
    if len(set(values)) != count:
        raise cursor.error("expected different names of values", start)
    cursor.demand("}", "after the values' names")
    cursor.demand(";", "after the values' names")
    return values


def _table(cursor: Cursor) -> Table:
    cursor.demand("(", "after 'probability'")
    start = cursor.position
    children = cursor.words("|)", "the name of a variable")
    if len(children) != 1:
        message = f"expected one variable before '|' or ')', found {len(children)}"
        raise cursor.error(message, start)
    parents = cursor.words(")", "the name of a parent") if cursor.take("|") else []
    cursor.demand(")", "after the variables")
    table = Table(children[0], parents, start, [])
    where = f"the probability block of {shown(children[0])}"
    cursor.demand("{", f"to open {where}")
    while not cursor.take("}"):
        position = cursor.position
        labels = cursor.entry_labels()
        if labels is not None:
            table.rows.append(Row("entry", labels, cursor.number_text(), position))
            continue
        keyword = cursor.peek_word().lower()
        if keyword in ("table", "default"):
            cursor.word(keyword)
            table.rows.append(Row(keyword, "", cursor.number_text(), position))
        else:
            _property(cursor, where)
    return table
