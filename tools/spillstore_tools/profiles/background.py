"""What a model is told of a command that goes on without it.

When a time-out passes it is shown what there is so far; each later check shows what has come since, every byte once.
``pipe`` has formats of its own for that (S2). The others share these: their ordinary text with a line before and
behind it, and news cut as ``default`` cuts, whose positions are those in the artifact.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview import smart  # noqa: F401  # it registers itself
from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan import Scan
from spillstore_tools.preview.strategies import Request, clip_marker, repeat_marker, strategy
from spillstore_tools.profiles.base import Section, compose, human_size, is_gone, summarised
from spillstore_tools.profiles.default import LIMIT, STRATEGY, after, marker_of, problem_notice

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Marker, Part
    from spillstore_tools.preview.scan import Overview, Place
    from spillstore_tools.profiles.base import Facts, Rendered


def progress(rendered: Rendered, facts: Facts) -> Rendered:
    """A profile's text so far, and what to do next."""
    before = f"[{_artifact(facts)}{facts.status}. So far:]\n"
    return dataclasses.replace(
        rendered,
        text=before + rendered.text,
        omissions=tuple(dataclasses.replace(each, at=each.at + len(before)) for each in rendered.omissions),
        notes=((0, len(before)), *((at + len(before), length) for at, length in rendered.notes)),
    )


def news_scan(terminator: bytes) -> Scan:
    """A pass for ``news``."""
    return Scan(
        head_chars=LIMIT,
        tail_chars=LIMIT,
        terminator=terminator,
        observer=strategy(STRATEGY).observer(),
        exact=False,
    )


def news(new: Overview, origin: Place, facts: Facts) -> Rendered:
    """What is new, in at most 8,000 characters; ``origin`` is where its positions begin."""
    footer = f"[{_artifact(facts)}{facts.status}]\n"
    if not new.size:
        return compose([Section("combined", [Note(f"[nothing new]\n{footer}")])], facts, strategy="none")
    total = f"{new.lines} {'line' if new.lines == 1 else 'lines'}, {human_size(new.size)}"
    header = problem_notice(facts) + f"[new since the last time: {total}, from line {origin.line} on]\n"
    room = LIMIT - len(header) - len(footer) - 1
    if facts.binary is not None:
        parts: list[Part] = [summarised(new, dataclasses.replace(facts, head=b""), facts.binary, room)]
    elif new.chars <= room and (text := new.text()) is not None:
        parts = [Shown(text, 0, new.size)]
    else:
        request = Request(
            limit=room,
            whole_units=False,
            first_line=origin.line,
            marker=_moved(marker_of(facts), origin),
            clip_marker=_moved(clip_marker, origin),
            repeat_marker=_moved(repeat_marker, origin),
        )
        parts = strategy(STRATEGY).cut(new, request) or []
    section = Section("combined", [Note(header), *parts, after(parts, footer)])
    rendered = compose([section], facts, strategy=STRATEGY)
    # The last line may grow yet: then its number means more than what is left out here.
    grows = new.end.inside and facts.background is not None and facts.background.state != "ended"
    omissions = []
    for each in rendered.omissions:
        low, high = each.start + origin.byte, each.end + origin.byte
        moved = dataclasses.replace(
            each,
            start=low,
            end=high,
            first_line=each.first_line + origin.line - 1,
            last_line=each.last_line + origin.line - 1,
            exact_lines=each.exact_lines
            and not (origin.inside and each.start == 0)
            and not (grows and each.end == new.size),
            dropped=is_gone(facts, "combined", low, high),
        )
        omissions.append(moved)
    return dataclasses.replace(rendered, omissions=tuple(omissions))


def _moved(marker: Marker, origin: Place) -> Marker:
    """The same marker for gaps whose positions count from ``origin``."""
    return lambda gap: marker(origin.moved(gap))


def _artifact(facts: Facts) -> str:
    return f"artifact {facts.stored.id}; " if facts.stored else ""
