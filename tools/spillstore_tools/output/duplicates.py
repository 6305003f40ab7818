"""Output that the session has already (duplicates): shown from the artifact that holds it, and not stored a second time.

Answers of the retrieval tools, known by their signatures, are shown whole: they are bounded, and a model has asked for them.
What is the same as an artifact, stream by stream, is shown as the profile shows any output, with a line that says whose artifact
it is. What was read of a part of one (``spillstore show ID --lines 5-900`` in a command) is cut as ``default`` cuts, under the
positions that it has there.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.output.rendering import place_of
from spillstore_tools.output.signed_answers import MOST, unsigned_chars
from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.profiles.notices import get_artifact_call
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Artifact, Session
    from spillstore.info import ArtifactInfo, Origin
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

_LINES = 100  # of the call that is named
_PASSED = 8000  # characters around an answer that are shown with it


class Duplicate(NamedTuple):
    """The text for a duplicate, and the id of the original artifact, if the text names one."""

    rendered: Rendered
    artifact_id: str | None


def is_answer(session: Callable[[], Session], text: str) -> bool:
    """Whether a text is made of answers of a session and little else; the session is asked for if it looks like it."""
    foreign = unsigned_chars(session, text)
    return foreign is not None and foreign <= _PASSED


def find_duplicate(
    session: Session, artifact: Artifact, facts: Facts, render: Callable[[Facts], Rendered]
) -> Duplicate | None:
    """The text for an artifact whose content the session had before; None if it is new.

    Args:
        session: where it is.
        artifact: sealed, with nothing dropped.
        facts: of the output.
        render: makes the profile's text of the output.

    Raises:
        SpillstoreError: it cannot be read.
    """
    info = artifact.info
    if facts.capped or (info.policy == "stop" and info.size >= info.limit):
        return None  # it keeps a beginning, and what came behind that may be another thing
    if info.size <= MOST:
        text = artifact.read_bytes(0, info.size).decode(errors="replace")
        if is_answer(lambda: session, text):
            return Duplicate(_whole(text, info.size, facts), None)
    # Two tools may well print the same; a command that does was run again, or printed what it has read. So was a call of
    # which the arguments are known.
    origin = artifact.origin(alike=facts.is_command or info.command is not None)
    if origin is None:
        return None
    original = session.artifact(origin.artifact_id).unrecorded()
    if not facts.is_command and _is_other_call(original.info, info):
        origin = artifact.origin(alike=False)
        if origin is None:
            return None
        original = session.artifact(origin.artifact_id).unrecorded()
    if _is_same(artifact, original, origin):
        stored = place_of(original.info, facts.stored.flags if facts.stored else "")
        header = _header(
            original.info,
            "all",
            get_artifact_call(dataclasses.replace(facts, stored=stored), start_line=1, end_line=_LINES),
        )
        facts = dataclasses.replace(facts, stored=stored, repeat_notice=header, created=original.info.created)
        return Duplicate(render(facts), origin.artifact_id)
    return Duplicate(_repeated(artifact, original, origin, facts), origin.artifact_id)


def _is_other_call(original: ArtifactInfo, info: ArtifactInfo) -> bool:
    """Whether an artifact with the same bytes comes from a call of another tool, or one with other arguments."""
    return (original.source, original.command) != (info.source, info.command)


def _is_same(artifact: Artifact, original: Artifact, origin: Origin) -> bool:
    """Whether an output is all of an artifact, and each stream is the same, too."""
    mine, theirs = artifact.info, original.info
    if (
        origin.stream != "combined"
        or (origin.start, origin.end) != (0, theirs.size)
        or mine.newline != theirs.newline
    ):
        return False
    if mine.stderr.size != theirs.stderr.size:
        return False
    return not mine.stderr.size or _digest(artifact) == _digest(original)


def _digest(artifact: Artifact) -> bytes:
    """The digest of stderr followed by stdout."""
    import hashlib  # noqa: PLC0415  # some milliseconds that most outputs do not need

    total = hashlib.sha256()
    for stream in ("stderr", "stdout"):
        for block in artifact.chunks(stream=stream):
            total.update(block)
    return total.digest()


def _header(info: ArtifactInfo, what: str, call: str) -> str:
    """Whose artifact it is; how that output's command ended is another matter than how this one did."""
    ended = "" if info.exit_code is None else f" (of a command that ended with exit code {info.exit_code})"
    return f"[this is {what} of artifact {info.id} again{ended}, and no second copy is kept; for a part of it: {call}]"


def _whole(text: str, size: int, facts: Facts) -> Rendered:
    footer = f"[{facts.status}]\n" if facts.is_command and facts.exit_code else ""
    return compose(
        [Section("combined", [Shown(text, 0, size), Note(footer)])],
        dataclasses.replace(facts, stored=None),
        strategy="none",
    )


def _repeated(artifact: Artifact, original: Artifact, origin: Origin, facts: Facts) -> Rendered:
    from spillstore_tools.profiles.excerpt import excerpt, excerpt_scan  # noqa: PLC0415  # few outputs are repeated

    info, view = original.info, origin.stream
    position = original.locate(byte=origin.start, stream=view)
    begins = original.locate(line=position.line, stream=view).byte == origin.start
    total = info.view(view).size
    scan = excerpt_scan(info.terminator)
    for block in artifact.chunks():
        scan.feed(block)
    part = scan.finish()
    lines = f"line {position.line}"
    if part.lines > 1:
        lines = f"lines {position.line}-{position.line + part.lines - 1}"
    what = (
        "all" if (origin.start, origin.end) == (0, total) else f"{lines}, bytes {origin.start}-{origin.end}"
    )
    of_view = "" if view == "combined" else f" of {view}"
    facts = dataclasses.replace(facts, stored=place_of(info, facts.stored.flags if facts.stored else ""))
    stream = {} if view == "combined" else {"stream": view}
    call = get_artifact_call(facts, start_line=position.line, end_line=position.line + _LINES - 1, **stream)
    header = _header(info, f"{what}{of_view}", call) + "\n"
    footer = f"[{facts.status}]\n" if facts.is_command else ""
    return excerpt(
        part,
        Position(origin.start, position.line, inside=not begins),
        facts,
        header,
        footer,
        view=view,
        torn=part.end.inside and origin.end < total,
    )
