"""``element``: JSON and XML cut by elements, so that the result is JSON or XML again.

The first and the last elements of arrays stay; deep and long values are replaced by their counts. Each cut replaces a range
of the text, so each gap has its exact bytes. Text that is neither, or that cannot be made to fit, is left to the fallback.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from spillstore.settings import MIB
from spillstore_tools.preview.parts import Shown
from spillstore_tools.preview.structured.cuts import NotStructured
from spillstore_tools.preview.structured.replace import replaced

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Observer
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.structured.cuts import TextCut


class Element:
    """The strategy; see the module."""

    keep_bytes = 16 * MIB

    def observer(self) -> Observer | None:
        """None: the text is cut when it has ended."""
        return None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``; None for text that is neither JSON nor XML, or does not fit."""
        text = overview.text()
        if text is None:
            return None
        if overview.chars <= request.limit:
            return [Shown(text, 0, overview.size)]
        try:
            cuts = _cuts(text, request)
        except NotStructured:
            return None
        return replaced(overview, text, cuts, request.limit)


def _cuts(text: str, request: Request) -> list[TextCut]:
    options: dict[str, Any] = {
        "first": request.first,
        "last": request.last,
        "max_depth": request.max_depth,
    }
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        from spillstore_tools.preview.structured.xml_cuts import cut_xml  # noqa: PLC0415  # expat only where it is needed

        return cut_xml(text, request.limit, **options)
    from spillstore_tools.preview.structured.json_cuts import cut_json  # noqa: PLC0415  # likewise

    cuts = cut_json(text, request.limit, **options)
    return cuts if request.preserve_json else [dataclasses.replace(cut, text=_bare(cut)) for cut in cuts]


def _bare(cut: TextCut) -> str:
    """The marker of whole elements without the JSON around it; the marker of a shortened string stands inside one."""
    return cut.text.removeprefix('"...": ').strip('"') if cut.elements else cut.text
