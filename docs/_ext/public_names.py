"""A directive that lists what `heeler.__all__` names, so that the reference cannot fall behind."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

KINDS = ("functions", "classes", "modules")


def kind_of(thing: object) -> str | None:
    """Tell under which heading a public thing is listed; None for plain data."""
    if isinstance(thing, ModuleType):
        return "modules"
    if inspect.isclass(thing):
        return "classes"
    return "functions" if callable(thing) else None


def public(module: ModuleType) -> list[tuple[str, object]]:
    """List a module's public names in alphabetical order, with what they name."""
    names = [name for name in getattr(module, "__all__", ()) if not name.startswith("_")]
    return [(name, getattr(module, name)) for name in sorted(names)]


def entry(path: str, thing: object, listed: set[int]) -> list[str]:
    """Make the lines that document one thing; what was listed before is left out."""
    kind = kind_of(thing)
    if kind is None or id(thing) in listed:
        return []
    listed.add(id(thing))
    if kind == "functions":
        return [f".. autofunction:: {path}", ""]
    if kind == "classes":
        return [
            f".. autoclass:: {path}",
            "   :members:",
            "   :inherited-members: tuple, csr_array",
            "",
        ]
    lines = [f".. rubric:: {path}", "", f".. automodule:: {path}", ""]
    for name, member in public(thing):  # type: ignore[arg-type]
        if kind_of(member) != "modules":
            lines += entry(f"{path}.{name}", member, listed)
    return lines


class PublicNames(SphinxDirective):
    """List the public functions, classes or modules of heeler.

    The one argument is the kind. Things that a module repeats from `heeler` itself are shown once.
    """

    required_arguments = 1
    option_spec: ClassVar[dict] = {}

    def run(self) -> list[nodes.Node]:
        """Expand to autodoc directives."""
        wanted = self.arguments[0]
        if wanted not in KINDS:
            raise self.error(f"public-names takes one of {', '.join(KINDS)}; got {wanted!r}")
        heeler = importlib.import_module("heeler")
        names = public(heeler)
        # A module's members come after those that heeler itself offers.
        listed = {id(thing) for _, thing in names} if wanted == "modules" else set()
        lines: list[str] = []
        for name, thing in names:
            if kind_of(thing) == wanted:
                listed.discard(id(thing))
                lines += entry(f"heeler.{name}", thing, listed)
        container = nodes.container()
        self.state.nested_parse(StringList(lines, source="heeler.__all__"), 0, container)
        return container.children


def setup(app) -> dict:  # noqa: ANN001 (Sphinx's type is known to Sphinx only)
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "version": "1"}
