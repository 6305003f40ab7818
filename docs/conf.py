"""Sphinx configuration: MyST pages, Google docstrings, warnings are errors (see the Makefile)."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from sphinx import addnodes

import spillstore

project = "Spillstore"
release = metadata.version("spillstore")
author = "The Spillstore contributors"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
exclude_patterns = ["_build"]

myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"Spillstore {release}"
html_show_copyright = False


def _returns_are_sentences(
    _app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Napoleon takes what stands before a colon for a type; here a colon is only ever part of the sentence."""
    for index, line in enumerate(lines[:-1]):
        if line.strip() in {"Returns:", "Yields:"}:
            first = lines[index + 1]
            indent = len(first) - len(first.lstrip())
            lines[index + 1] = f"{first[:indent]}: {first[indent:]}"


def _tools_mean_the_store_that_waits(_app: Any, doctree: Any) -> None:
    """A ``Session`` or ``Artifact`` in a signature of the tools is that of ``spillstore``, never that of its ``aio``."""
    for node in doctree.findall(addnodes.pending_xref):
        if (
            node.get("py:module", "").startswith("spillstore_tools")
            and node["reftarget"] in spillstore.__all__
        ):
            node["reftarget"] = f"spillstore.{node['reftarget']}"


def setup(app: Any) -> None:
    """Register the hooks, the first ahead of Napoleon's own."""
    app.connect("autodoc-process-docstring", _returns_are_sentences, priority=400)
    app.connect("doctree-read", _tools_mean_the_store_that_waits)
