"""What the exact engines refuse, each refusal with a class of its own."""

from __future__ import annotations

from typing import Any


class Contradiction(ValueError):  # noqa: N818 - the public name says what happened
    """No state with positive probability agrees with the evidence.

    Look at the evidence first: clamp fewer variables, or ask for the log score of a state that
    you believe possible and see which factor is zero. Without evidence the model itself is zero
    everywhere.
    """


class TooWide(ValueError):  # noqa: N818 - the public name says what happened
    """The junction tree would need more memory than allowed.

    Clamp variables, raise ``memory_limit=``, or sample instead of computing exactly.

    Attributes
    ----------
    width : int
        Induced width: variables in the largest clique, less one.
    bytes : int
        Memory that the tables would need.
    complete : bool
        False when the search for an elimination order was given up; both figures are then
        only what was reached (or proved) by that time.
    tree : JunctionTree or None
        The tree that is too wide, when one was found.
    """

    def __init__(
        self, width: int, needed: int, limit: int, complete: bool = True, tree: Any = None
    ) -> None:
        self.width = width
        self.bytes = needed
        self.complete = complete
        self.tree = tree
        prefix = "" if complete else "at least "
        super().__init__(
            f"the junction tree has induced width {prefix}{width} and needs {prefix}"
            f"{readable_bytes(needed)}; memory_limit is {readable_bytes(limit)}"
        )


def readable_bytes(count: int) -> str:
    """Write a number of bytes with a binary unit, whatever its size."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    power = max(0, (count.bit_length() - 1) // 10)
    if power >= len(units):
        return f"2^{count.bit_length() - 1} B"
    # Integers until the last step: a hopeless model needs more bytes than a float can hold.
    return f"{count / (1 << (10 * power)):.3g} {units[power]}"
