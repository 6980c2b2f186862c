"""Sphinx's settings. Nothing is fetched: the build works without a network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import heeler  # noqa: E402  (the path of our own extension comes first)

project = "heeler"
author = "the heeler developers"
copyright = "2026, the heeler developers"
version = release = heeler.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "public_names",
]
exclude_patterns = ["_build", "_generated", "jupyter_execute", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = f"heeler {version}"

# Pages with code cells are run at every build, so an example that fails fails the build.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
