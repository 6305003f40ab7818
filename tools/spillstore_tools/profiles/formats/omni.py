"""The profile ``omni``: the notice first, then the head and the tail of both streams together.

Up to 8,000 characters nothing is done. Of more, the first and the last are shown in equal shares, the notice included
in the 8,000.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.profiles.base import Inline, Profile
from spillstore_tools.profiles.notices import redrawn_notice, search_command
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

LIMIT = 8000
_HEAD = "--- head ---\n"
_TAIL = "\n--- tail ---\n"


class Omni(Profile):
    """See the module."""

    name = "omni"
    summary = "Output above 8,000 characters is truncated to its head and tail, with a notice first."

    def inline(self, source: str) -> Inline:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Inline(chars=LIMIT, text_only=False)

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Scan(head_chars=LIMIT, tail_chars=LIMIT, terminator=terminator)

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:
        """As in ``Profile``."""
        overview = overviews["combined"]
        return not overview.redrawn and _fitting(overview, facts) is not None

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        overview = overviews["combined"]
        if (text := _fitting(overview, facts)) is not None:
            parts: list[Part] = [Note(_redrawn(overview, facts)), Shown(text, 0, overview.size)]
            return compose([Section("combined", parts)], facts, strategy="none", redrawn=overview.redrawn)
        request = Request(limit=LIMIT)
        redrawn = _redrawn(overview, facts)
        room = LIMIT - len(_notice(facts, overview.chars)) - len(redrawn) - len(_HEAD) - len(_TAIL)
        head = beginning(overview, room // 2, request, exact=True)
        tail = ending(overview, room - head.length, request, head.position, exact=True)
        gap = overview.gap(head.position, tail.position, overview.chars - head.chars - tail.chars)
        parts = [
            Note(_notice(facts, gap.chars or 0) + redrawn + _HEAD),
            *head.parts,
            dataclasses.replace(gap, text=_TAIL[0]),
            Note(_TAIL[1:]),
            *tail.parts,
        ]
        sections = [Section("combined", parts)]
        return compose(sections, facts, strategy="head_tail", redrawn=overview.redrawn)


def _fitting(overview: Overview, facts: Facts) -> str | None:
    """The whole text, if it and the notices are within the limit."""
    return overview.text() if overview.chars + len(_redrawn(overview, facts)) <= LIMIT else None


def _redrawn(overview: Overview, facts: Facts) -> str:
    notice = redrawn_notice(overview, facts)
    return f"{notice}\n" if notice else ""


def _notice(facts: Facts, omitted: int) -> str:
    lines = [f"[Output truncated: {omitted} characters omitted]"]
    if facts.repeat_notice:
        lines.append(facts.repeat_notice)
    stored = facts.stored
    if facts.problem is not None:
        kept = f"; the first {stored.size} bytes are in artifact {stored.id}" if stored else ""
        lines.append(f"Full output could not be saved: {facts.reason}{kept}")
    elif stored is not None:
        gone = f" (but bytes {stored.hole[0]}-{stored.hole[1]} were dropped)" if stored.hole else ""
        if stored.cut_off:
            gone = f" (but the last {stored.cut_off} bytes were not kept)"
        lines.append(f"Full output saved to: artifact {stored.id}{gone}")
    if stored is not None:
        lines.append(
            f'Follow up with get_artifact(id="{stored.id}", tail=100) or search_artifact(id="{stored.id}", pattern="error"); '
            f"in a shell: spillstore tail {stored.id} -n 100{stored.flags}, or {search_command(stored)}"
        )
    return "".join(f"{line}\n" for line in [*lines, ""])
