"""What profiles have in common."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, Protocol

from spillstore_tools.preview.parts import Gap, Note, Omission, Part, View, omissions_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.scan import Overview, Scan

Keep = Literal["spilled", "all"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where output is kept.

    Attributes:
        id: the artifact's.
        flags: what a ``spillstore`` command needs besides, to find its session; begins with a space or is empty.
        hole: bytes ``[start, end)`` of the combined view that were dropped, or None.
        cut_off: bytes that came after the last one that was kept.
        limit: bytes an artifact may keep.
    """

    id: str
    flags: str = ""
    hole: tuple[int, int] | None = None
    cut_off: int = 0
    limit: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of output besides its bytes.

    Attributes:
        source: the tool it comes from.
        command: what was run or asked for, or None.
        content_type: its media type, or None where nobody said.
        stored: where it is kept; None if it is not.
        problem: why it could not be stored, or not all of it.
        capped: streams of which more came than may be kept.
        is_command: whether a command printed it.
        exit_code: of the command.
        signal: the name of the signal that ended it.
        runtime: milliseconds from its start to its end.
        created: seconds since 1970-01-01 UTC.
        binary: what it is, if it is no text.
        head: its first bytes, where it is binary.
    """

    source: str
    command: str | None = None
    content_type: str | None = None
    stored: Stored | None = None
    problem: str | None = None
    capped: frozenset[str] = frozenset()
    is_command: bool = False
    exit_code: int | None = None
    signal: str | None = None
    runtime: int | None = None
    created: float = 0.0
    binary: BinaryType | None = None
    head: bytes = b""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """What a model is shown.

    Attributes:
        text: all of it.
        omissions: what is missing, and where in ``text`` (or in ``fields``) its marker stands.
        notes: ``(at, length)`` of our own words in ``text``; what is neither this nor a marker is output.
        strategy: how it was cut; ``none`` if it was not.
        is_error: whether the tool call failed, by the rules of the profile.
        fields: texts inside a structured result by name, to which omissions may refer.
        elements: array items, members or nodes left out.
    """

    text: str
    omissions: tuple[Omission, ...] = ()
    notes: tuple[tuple[int, int], ...] = ()
    strategy: str = "none"
    is_error: bool = False
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    elements: int = 0

    @property
    def was_truncated(self) -> bool:
        """Whether anything is missing."""
        return bool(self.omissions)


class Profile(Protocol):
    """A named set of limits, strategy and result format.

    Attributes:
        name: its name.
        views: the views that are scanned.
        keep: ``all`` stores what is shown whole, too.
        buffer_bytes: of output that may yet turn out to be shown whole, this much is held back from the disk.
        size_limit: bytes an artifact may keep, or None for the store's own setting.
        policy: what happens at that limit, or None for the store's own setting.
        stream_limit: bytes kept of each stream, or None.
        refuse_at: bytes from which output is refused as a whole, or None.
        cleanup_on_exit: whether the session's end deletes it.
    """

    name: str
    views: tuple[View, ...]
    keep: Keep
    buffer_bytes: int
    size_limit: int | None
    policy: Literal["roll", "stop", "reject"] | None
    stream_limit: int | None
    refuse_at: int | None
    cleanup_on_exit: bool

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:
        """A pass over one view."""

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:
        """Whether all of it is shown, or what is not need not be stored."""

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """The text. The same views and facts give the same text."""


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Parts of one view."""

    view: View
    parts: Sequence[Part]


def compose(sections: Sequence[Section], facts: Facts, *, strategy: str, is_error: bool = False) -> Rendered:
    """Sections one after the other as one text."""
    text: list[str] = []
    omissions: list[Omission] = []
    notes: list[tuple[int, int]] = []
    at = 0
    for section in sections:
        omissions += omissions_of(section.parts, section.view, at)
        for part in section.parts:
            if isinstance(part, Note) and part.text:
                notes.append((at, len(part.text)))
            text.append(part.text)
            at += len(part.text)
    return Rendered(
        text="".join(text),
        omissions=tuple(dropped(omissions, facts)),
        notes=tuple(notes),
        strategy=strategy if omissions else "none",
        is_error=is_error,
        elements=sum(
            part.elements for section in sections for part in section.parts if isinstance(part, Gap)
        ),
    )


def dropped(omissions: Sequence[Omission], facts: Facts) -> list[Omission]:
    """The omissions, those marked that cannot be fetched any more."""
    hole = facts.stored.hole if facts.stored else None
    if hole is None:
        return list(omissions)
    return [
        dataclasses.replace(
            each, dropped=each.stream == "combined" and each.start < hole[1] and each.end > hole[0]
        )
        for each in omissions
    ]


def quoted_call(facts: Facts, **arguments: object) -> str:
    """A call of ``get_artifact``, as a model writes it; an empty id where nothing is stored.

    Example:
        >>> quoted_call(Facts(source="x", stored=Stored(id="art_1_a")), start_line=3, stream="stderr")
        'get_artifact(id="art_1_a", start_line=3, stream="stderr")'
    """
    identity = facts.stored.id if facts.stored else ""
    rest = "".join(
        f', {name}="{value}"' if isinstance(value, str) else f", {name}={value}"
        for name, value in arguments.items()
    )
    return f'get_artifact(id="{identity}"{rest})'


def ended(text: str) -> str:
    """Text that ends its last line."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def shown_text(parts: Sequence[Part]) -> str:
    """The text of parts."""
    return text_of(parts)


def human_size(size: int) -> str:
    """Bytes with a unit.

    Example:
        >>> human_size(999), human_size(2_415_919), human_size(51_200)
        ('999 bytes', '2.3 MB', '50.0 KB')
    """
    if size < 1024:  # noqa: PLR2004
        return f"{size} bytes"
    value = float(size)
    for unit in ("KB", "MB", "GB"):
        value /= 1024
        if value < 1024 or unit == "GB":  # noqa: PLR2004
            return f"{value:.1f} {unit}"
    raise AssertionError("the last unit takes everything")
