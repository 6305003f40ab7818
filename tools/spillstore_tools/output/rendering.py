"""Previews of stored artifacts: the scans of a profile over an artifact, and what its text says of it.

Everything said here comes from the artifact alone, so the text is the one that was shown when the output came. One
thing cannot be had again: a line that a rolling artifact has dropped since, or that came when the artifact had all that it
may keep of its stream. A text that shows such a line is recorded with the artifact, and found there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from typing import TYPE_CHECKING

from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import SpillstoreError, UsageError
from spillstore.store import address_of
from spillstore_tools.output.media_type import kind_of
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.parts import VIEWS, Omission
from spillstore_tools.profiles.facts import Facts, Stored
from spillstore_tools.profiles.rendered import Rendered

if TYPE_CHECKING:
    from spillstore import Artifact, ArtifactInfo, Session
    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.base import Profile


_RANGES = 20  # that the audit names


def render(
    artifact: Artifact, profile: Profile, *, flags: str = "", is_command: bool | None = None
) -> Rendered:
    """What a model is shown of a stored artifact; the text it was shown when the output came.

    Args:
        artifact: sealed, interrupted, or still being written.
        profile: decides what is shown.
        flags: what a ``spillstore`` command needs besides to find the session.
        is_command: whether a command printed it; None asks the artifact: it has an exit code then, or has not ended
            well and names its command.

    Raises:
        SpillstoreError: it cannot be read.
    """
    rendered = preview_of(artifact, profile, flags=flags, is_command=is_command)
    info = artifact.info
    artifact.record("preview", preview_detail(rendered, profile, info.source, info.size), at_once=False)
    return rendered


def preview_of(
    artifact: Artifact, profile: Profile, *, flags: str = "", is_command: bool | None = None
) -> Rendered:
    """As ``render``, for who shows it to no model: nothing is recorded."""
    artifact = artifact.unrecorded()
    info = artifact.info
    shows_more = (info.hole is not None and profile.shows_dropped) or full_streams(info, profile)
    if shows_more and (recorded := _recorded(artifact, profile, flags)):
        return recorded
    facts = facts_of(info, profile, flags, head_of(artifact))
    if is_command is not None:
        facts = dataclasses.replace(facts, is_command=is_command)
    return profile.render(scanned(artifact, profile, info.source), facts)


def preview_detail(rendered: Rendered, profile: Profile, source: str, received: int) -> dict[str, object]:
    """What the audit log says of a preview: how much of how much, and the first ranges that are left out; no content.

    Of ``smart`` also how many lines that report an error it shows that beginning and end alone would not have (``rescued``).

    Args:
        rendered: the preview.
        profile: that made it.
        source: the tool.
        received: bytes that came.
    """
    detail: dict[str, object] = {
        "tool": source,
        "profile": profile.name,
        "strategy": rendered.strategy,
        "truncated": rendered.was_truncated,
        "received": received,
        "shown": len(rendered.text),
        "omitted": len(rendered.omissions),
        "ranges": [[each.stream, each.start, each.end] for each in rendered.omissions[:_RANGES]],
    }
    if rendered.strategy == "smart" and not rendered.fields:
        from spillstore_tools.output.rescued import rescued_lines  # noqa: PLC0415  # most output is shown whole

        detail["rescued"] = rescued_lines(rendered)
    return detail


def record(artifact: Artifact, profile: Profile, flags: str, rendered: Rendered) -> None:
    """Keep the text of a preview that shows what the artifact has dropped. It is shown even if that fails."""
    with contextlib.suppress(SpillstoreError):
        artifact.record(
            RENDERED, {"profile": profile.name, "flags": flags, "rendered": dataclasses.asdict(rendered)}
        )


def _recorded(artifact: Artifact, profile: Profile, flags: str) -> Rendered | None:
    """The preview that was recorded, if it is this one."""
    for event in artifact.events(RENDERED):
        if (event.detail.get("profile"), event.detail.get("flags")) == (profile.name, flags):
            fields = dict(event.detail["rendered"])
            fields["omissions"] = tuple(Omission(**omission) for omission in fields["omissions"])
            fields["notes"] = tuple((at, length) for at, length in fields["notes"])
            return Rendered(**fields)
    return None


def scanned(artifact: Artifact, profile: Profile, source: str) -> dict[View, Overview]:
    """A profile's passes over what is stored."""
    info = artifact.info
    overviews: dict[View, Overview] = {}
    for view in profile.views:
        scan = profile.scan(view, info.terminator, source)
        hole = info.view(view).hole
        # A running artifact may lose more at any time.
        for block in artifact.chunks(0, None if hole is None else hole.start, stream=view, holes="skip"):
            scan.feed(block)
        if hole is not None:
            scan.skip(hole.end - hole.start, hole.last_line, torn=hole.torn)
            for block in artifact.chunks(hole.end, stream=view, holes="skip"):
                scan.feed(block)
        overviews[view] = scan.finish()
    return overviews


def facts_of(info: ArtifactInfo, profile: Profile, flags: str, head: bytes) -> Facts:
    """The facts of a stored artifact, for a profile; ``head`` is that of ``head_of``."""
    return Facts(
        source=info.source,
        command=info.command,
        content_type=info.content_type,
        stored=place_of(info, flags),
        problem=info.reason if info.state == "interrupted" else None,
        # Where more came than that and all went well, the text was recorded, and nobody asks here.
        capped=frozenset() if info.state == "sealed" else full_streams(info, profile),
        is_command=info.exit_code is not None or (info.state != "sealed" and info.command is not None),
        exit_code=info.exit_code,
        runtime=None if info.ended is None else round((info.ended - info.created) * 1000),
        created=info.created,
        binary=kind_of(head, info.size),
        head=head,
    )


def place_of(info: ArtifactInfo, flags: str) -> Stored:
    """Where an artifact is, and how much of it."""
    met = info.policy == "stop" and info.state == "sealed" and info.size >= info.limit
    cut_off = max(0, info.received - info.size) if met else 0
    return Stored(
        id=info.id,
        flags=flags,
        sizes={view: info.view(view).size for view in VIEWS},
        holes={view: (hole.start, hole.end) for view in VIEWS if (hole := info.view(view).hole) is not None},
        cut_off=cut_off,
        limit=info.limit,
    )


def flags_to(session: Session) -> str:
    """What a ``spillstore`` command needs besides an id to find a session, from whatever folder it is called.

    Empty where no command can find it: in memory, or where one file was opened.
    """
    if session.address is None:
        return ""
    named = [("session", session.id)]
    if session.project is not None:
        named.append(("project", session.project))
    if not _is_default(session.address):
        named.append(("root", session.address))
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in named)


def _is_default(address: str) -> bool:
    """Whether a command finds the store without being told."""
    try:
        return address == address_of()
    except UsageError:  # a URL that cannot be read
        return False


def full_streams(info: ArtifactInfo, profile: Profile) -> frozenset[str]:
    """The streams that are as long as they may be; of what came behind that, the recorded text alone knows."""
    limit = profile.stream_limit
    return frozenset(name for name in VIEWS[1:] if limit is not None and info.view(name).size >= limit)


def head_of(artifact: Artifact) -> bytes:
    """The bytes that tell what kind of content it is."""
    return artifact.read_bytes(0, HEAD_BYTES, holes="skip")
