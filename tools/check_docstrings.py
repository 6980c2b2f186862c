"""Compare the parameters that docstrings name with the signatures, for all public names.

Public is what can be reached from `heeler.__all__`: functions, classes with their public methods,
and the public names of modules. A docstring that is missing, that names a parameter which does not
exist, leaves one out, or lists them in another order is reported.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}[ ]*$", re.MULTILINE)
# What users do not construct says who does.
MADE_BY = re.compile(r"\bmade by `heeler\.(\w+)`")
# A parameter's line stands at the margin: "name : type", "first, second : type", "*args", "name".
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, ?\*{0,2}\w+)*)[ ]*(?::.*)?$", re.MULTILINE)


def documented(docstring: str, sections: tuple[str, ...]) -> list[str] | None:
    """Read the names listed in some sections of a numpydoc docstring.

    Parameters
    ----------
    docstring : str
        The docstring.
    sections : tuple of str
        Headings to read, such as ``("Parameters", "Other Parameters")``.

    Returns
    -------
    list of str or None
        The names in order; None when no such section exists.
    """
    text = inspect.cleandoc(docstring)
    marks = list(SECTION.finditer(text))
    names: list[str] | None = None
    for position, mark in enumerate(marks):
        if mark.group(1) in sections:
            end = marks[position + 1].start() if position + 1 < len(marks) else len(text)
            body = text[mark.end() : end]
            found = [name for entry in ENTRY.findall(body) for name in re.split(r", ?", entry)]
            names = (names or []) + [name.lstrip("*") for name in found]
    return names


def parameters(function: Callable[..., Any]) -> list[str]:
    """List a callable's parameters without the object itself.

    Parameters
    ----------
    function : callable
        Function, method or class.

    Returns
    -------
    list of str
        Names in order.
    """
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def check_callable(name: str, thing: Any, docstring: str | None) -> Iterator[str]:
    """Compare one docstring with one signature.

    Parameters
    ----------
    name : str
        What to call the thing in messages.
    thing : object
        Function, method or class.
    docstring : str or None
        Its docstring.

    Yields
    ------
    str
        A complaint.
    """
    if not (docstring or "").strip():
        yield f"{name}: no docstring"
        return
    try:
        expected = parameters(thing)
    except (TypeError, ValueError):  # implemented in C, without a signature
        return
    is_record = inspect.isclass(thing) and (
        hasattr(thing, "__dataclass_fields__") or hasattr(thing, "_fields")
    )
    sections = ("Parameters", "Other Parameters") + (("Attributes",) if is_record else ())
    names = documented(docstring or "", sections)
    if names is None and expected:
        yield f"{name}: no section Parameters, but it takes {', '.join(expected)}"
    elif names is not None and is_record:
        missing = [parameter for parameter in expected if parameter not in names]
        if missing:
            yield f"{name}: fields not described: {', '.join(missing)}"
    elif names is not None and names != expected:
        yield f"{name}: docstring names ({', '.join(names)}), signature has ({', '.join(expected)})"


def check_class(name: str, cls: type) -> Iterator[str]:
    """Check a class and the public methods that it defines or inherits from heeler.

    Parameters
    ----------
    name : str
        What to call the class in messages.
    cls : type
        The class.

    Yields
    ------
    str
        A complaint.
    """
    if cls.__init__ is object.__init__ or issubclass(cls, BaseException):
        if not (cls.__doc__ or "").strip():
            yield f"{name}: no docstring"
    elif made := MADE_BY.search((cls.__doc__ or "").partition("\n")[0]):
        if made[1] not in importlib.import_module("heeler").__all__:
            yield f"{name}: made by heeler.{made[1]}, which does not exist"
    else:
        yield from check_callable(name, cls, cls.__doc__)
    for member in dir(cls):
        if member.startswith("_"):
            continue
        static = inspect.getattr_static(cls, member)
        value = getattr(cls, member)
        if isinstance(static, property):
            if owned(static.fget) and not (inspect.getdoc(static) or "").strip():
                yield f"{name}.{member}: no docstring"
        elif inspect.isroutine(value) and owned(value):
            yield from check_callable(f"{name}.{member}", value, inspect.getdoc(value))


def owned(thing: Any) -> bool:
    """Tell whether heeler defines a thing.

    Parameters
    ----------
    thing : object
        Function, method, class or module.

    Returns
    -------
    bool
        False for what comes from Python itself or from other packages.
    """
    module = getattr(thing, "__module__", None) or getattr(thing, "__name__", "")
    return str(module).split(".")[0] == "heeler"


def check(name: str, thing: Any, seen: set[int]) -> Iterator[str]:
    """Check a public name and everything public that is reached through it.

    Parameters
    ----------
    name : str
        Dotted name.
    thing : object
        What it names.
    seen : set of int
        Identities of the things that were checked before.

    Yields
    ------
    str
        A complaint.
    """
    if id(thing) in seen or not owned(thing):
        return
    seen.add(id(thing))
    if isinstance(thing, ModuleType):
        if not (thing.__doc__ or "").strip():
            yield f"{name}: no docstring"
        for member in getattr(thing, "__all__", ()):
            yield from check(f"{name}.{member}", getattr(thing, member), seen)
    elif inspect.isclass(thing):
        yield from check_class(name, thing)
    elif callable(thing):
        yield from check_callable(name, thing, thing.__doc__)


def main() -> int:
    """Check heeler and print what is wrong.

    Returns
    -------
    int
        Exit status, 1 when there was a complaint.
    """
    seen: set[int] = set()
    complaints = list(check("heeler", importlib.import_module("heeler"), seen))
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"docstrings: {len(seen)} public names checked, {len(complaints)} complaints")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
