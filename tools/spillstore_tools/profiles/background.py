"""Answers about a command that runs on in the background.

The first answer shows the output so far; each later one shows what has come since, every byte once.
``pipe`` has formats of its own for that. The others share these: their ordinary text with a line before and
behind it, and news cut as ``default`` cuts, whose positions are those in the artifact.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, preview_size
from spillstore_tools.preview.parts import Note
from spillstore_tools.profiles.excerpt import excerpt
from spillstore_tools.profiles.notices import problem_notice
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.scan.position import Position
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered


def progress(rendered: Rendered, facts: Facts) -> Rendered:
    """A profile's text so far, and the calls that follow the command."""
    before = f"[{_artifact(facts)}{facts.status}. So far:]\n"
    return dataclasses.replace(
        rendered,
        text=before + rendered.text,
        omissions=tuple(dataclasses.replace(each, at=each.at + len(before)) for each in rendered.omissions),
        notes=((0, len(before)), *((at + len(before), length) for at, length in rendered.notes)),
    )


def news(new: Overview, origin: Position, facts: Facts) -> Rendered:
    """The new output in at most 8,000 characters; its positions count from ``origin``."""
    footer = f"[{_artifact(facts)}{facts.status}]\n"
    if not new.size:
        words = f"{problem_notice(facts)}[nothing new]\n{footer}"
        return compose([Section("combined", [Note(words)])], facts, strategy="none")
    total = f"{counted(new.lines, 'line')}, {preview_size(new.size)}"
    header = problem_notice(facts) + f"[new since the last time: {total}, from line {origin.line} on]\n"
    # The last line may grow yet.
    grows = new.end.inside and facts.background is not None and facts.background.state != "ended"
    return excerpt(new, origin, facts, header, footer, torn=grows)


def _artifact(facts: Facts) -> str:
    return f"artifact {facts.stored.id}; " if facts.stored else ""
