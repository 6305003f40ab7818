"""The profile ``omni``: the notice first, then the head and the tail of both streams together (S3).

Up to 8,000 characters nothing is done. Of more, the first and the last are shown in equal shares, the notice included
in the 8,000.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan import Scan
from spillstore_tools.preview.strategies import Request, beginning, ending
from spillstore_tools.profiles.base import Facts, Rendered, Section, compose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan import Overview

LIMIT = 8000
_HEAD = "--- head ---\n"
_TAIL = "\n--- tail ---\n"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Omni:
    """See the module."""

    name: str = "omni"
    views: tuple[View, ...] = ("combined",)
    keep: str = "spilled"
    buffer_bytes: int = 64 * 1024
    size_limit: int | None = None
    policy: str | None = None
    stream_limit: int | None = None
    refuse_at: int | None = None
    cleanup_on_exit: bool = False

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        return Scan(head_chars=LIMIT, tail_chars=LIMIT, terminator=terminator)

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:  # noqa: ARG002
        overview = overviews["combined"]
        return overview.whole and overview.chars <= LIMIT

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        overview = overviews["combined"]
        if overview.chars <= LIMIT and (text := overview.text()) is not None:
            return compose([Section("combined", [Shown(text, 0, overview.size)])], facts, strategy="none")
        request = Request(limit=LIMIT)
        room = LIMIT - len(_notice(facts, overview.chars)) - len(_HEAD) - len(_TAIL)
        head = beginning(overview.forward(), room // 2, request, exact=True)
        tail = ending(overview.backward(), room - head.length, request, head.place, overview, exact=True)
        gap = overview.gap(head.place, tail.place, overview.chars - head.chars - tail.chars)
        notice = _notice(facts, gap.chars or 0)
        parts: list[Part] = [
            Note(notice + _HEAD),
            *head.parts,
            dataclasses.replace(gap, text="\n"),
            Note(_TAIL[1:]),
            *tail.parts,
        ]
        return compose([Section("combined", parts)], facts, strategy="head_tail")


def _notice(facts: Facts, omitted: int) -> str:
    lines = [f"[Output truncated: {omitted} characters omitted]"]
    if facts.stored is not None:
        stored = facts.stored
        lines += [
            f"Full output saved to: artifact {stored.id}",
            f'Follow up with get_artifact(id="{stored.id}", tail=100) or search_artifact(id="{stored.id}", pattern="error"); '
            f"in a shell: spillstore tail {stored.id} -n 100{stored.flags}, or spillstore cat {stored.id}{stored.flags} | "
            "rg PATTERN",
        ]
    elif facts.problem is not None:
        lines.append(f"The rest could not be saved: {' '.join(facts.problem.split())[:200]}")
    return "".join(f"{line}\n" for line in [*lines, ""])


def make(configuration: TruncationConfiguration | None) -> Omni:  # noqa: ARG001  # the limits are the document's
    """The profile."""
    return Omni()
