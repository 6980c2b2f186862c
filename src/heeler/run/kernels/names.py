"""Kernels by name, and in files."""

from typing import Any

from heeler.driver import as_driver
from heeler.run.kernels.composite import Cycle, Mixture
from heeler.run.kernels.continuous import Global, Slice, Walk
from heeler.run.kernels.proposals import Swap
from heeler.run.kernels.single_site import SingleSite
from heeler.run.kernels.tempering import Tempering
from heeler.run.step import Kernel

#: Names of kernels that are no drivers.
_NAMES: dict[str, Any] = {kind.name: kind for kind in (Walk, Slice, Swap, Tempering)}
#: Kernels as files name them.
_KINDS: dict[str, Any] = {
    kind.name: kind for kind in (SingleSite, Mixture, Cycle, Walk, Slice, Global, Swap, Tempering)
}


def as_kernel(kernel: Any, scan: Any = "auto", context: Any = "auto") -> Kernel:
    """Read a kernel.

    Parameters
    ----------
    kernel
        An object, a name, or text such as ``"mixture(gibbs: 1, metropolis: 3)"`` and
        ``"cycle(gibbs, metropolis: 2)"``: weights in mixtures, repeats in cycles.
    scan, context
        For the name of a single-site kernel.

    Returns
    -------
    Kernel
        The kernel.
    """
    if isinstance(kernel, str) and "(" in kernel:
        kernel = _parsed(kernel)
    if isinstance(kernel, str) and kernel not in _NAMES:
        try:
            as_driver(kernel)
        except ValueError:
            names = "'gibbs', 'herded', 'metropolis', 'modified', 'greedy', 'quasi'"
            raise ValueError(
                f"The 'kernel' parameter must be a kernel, or one of {names}"
                f"{''.join(f', {name!r}' for name in _NAMES)}. Got {kernel!r} instead."
            ) from None
        return SingleSite(kernel, scan, context)
    if isinstance(kernel, str):
        kernel = _NAMES[kernel]()
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"The 'kernel' parameter must be a kernel or a kernel's name. Got {kernel!r} instead."
        )
    for name, value in (("scan", scan), ("context", context)):
        if not (isinstance(value, str) and value == "auto") and not isinstance(kernel, SingleSite):
            raise ValueError(
                f"The {name!r} parameter is for single-site kernels. The kernel is {kernel.name!r}."
            )
    return kernel


def _parsed(text: str) -> Kernel:
    """Read ``"cycle(gibbs, mixture(metropolis: 3, modified: 1))"``."""
    name, _, rest = text.strip().partition("(")
    if name.strip() not in ("cycle", "mixture") or not rest.endswith(")"):
        raise ValueError(
            "The 'kernel' parameter must be a name, 'cycle(a, b, ...)' or 'mixture(a: 1, b: 2, "
            f"...)'. Got {text!r} instead."
        )
    parts, numbers = [], []
    for part in _split(rest[:-1], text):
        inner, colon, number = part.rpartition(":")
        closed = number.rstrip().endswith(")")  # the colon belongs to a kernel inside
        parts.append(as_kernel((part if closed or not colon else inner).strip()))
        numbers.append("1" if closed or not colon else number.strip())
    try:
        if name.strip() == "cycle":
            return Cycle(parts, [int(number) for number in numbers])
        return Mixture(parts, [float(number) for number in numbers])
    except ValueError as error:
        raise ValueError(f"The 'kernel' parameter cannot be read: {error} In {text!r}.") from None


def _split(text: str, whole: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    if depth != 0:
        raise ValueError(f"The 'kernel' parameter has brackets that do not match: {whole!r}.")
    return [*parts, text[start:]]


def kernel_from(words: Any, given: Any = None) -> Any:
    """Make the kernel that a file describes.

    Parameters
    ----------
    words
        What `Kernel.words` gave, or None.
    given
        The kernel that the user hands in again, or None.

    Returns
    -------
    Kernel or None
        The kernel.
    """
    if given is not None:
        if not isinstance(given, Kernel) or given.words() != words:
            raise ValueError(
                f"the kernel handed in is not the one that was saved: {words!r:.200} expected"
            )
        return given
    if words is None:
        return None
    if words.get("code"):
        raise ValueError(
            f"its kernel {words['name']!r} holds functions of yours: hand it in again, kernel=..."
        )
    return _KINDS[words["name"]].from_words(words)
