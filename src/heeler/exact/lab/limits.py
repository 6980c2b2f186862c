"""What the laboratory refuses because it would be too large."""

from __future__ import annotations

from heeler.exact.errors import readable_bytes

DEFAULT_LIMIT = 1 << 30


class TooLarge(ValueError):  # noqa: N818 - the public name says what happened
    """A chain has more states than the laboratory may hold.

    Make the model smaller, clamp variables, or raise ``memory_limit=``: the matrices are what they
    are, and with them everything that is computed from them.

    Attributes
    ----------
    states : int
        The states counted.
    bytes : int
        Memory that is needed.
    """

    def __init__(self, what: str, states: int, needed: int, limit: int) -> None:
        self.states = states
        self.bytes = needed
        shown = str(states) if states < 10**30 else f"about 2^{states.bit_length() - 1}"
        super().__init__(
            f"{what} of {shown} states needs {readable_bytes(needed)}; memory_limit is "
            f"{readable_bytes(limit)}"
        )


def check_size(what: str, states: int, needed: int, limit: int) -> None:
    """Refuse what does not fit.

    Parameters
    ----------
    what : str
        What is to be made, for the message.
    states : int
        Its states.
    needed, limit : int
        Bytes.

    Raises
    ------
    TooLarge
    """
    if needed > limit:
        raise TooLarge(what, states, needed, limit)
