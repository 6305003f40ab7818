"""What profiles have in common."""

from __future__ import annotations

import dataclasses
import signal
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from spillstore.settings import KIB
from spillstore_tools.describe import preview_size
from spillstore_tools.preview.binary.summary import summarise
from spillstore_tools.preview.parts import Gap, Note, Omission, Part, View, omissions_of
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.graphemes import grapheme_boundary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.preview.binary.magic import BinaryType
    from spillstore_tools.preview.scan.overview import Overview, Position
    from spillstore_tools.preview.scan.scan import Scan

Keep = Literal["spilled", "all"]
ENCODED_TEXT = "text/plain; charset="
REFUSED = "refused"  # the strategy of output that is too large to be taken
REASON = 200  # characters of an error's message that are shown
_FIRST_SIGNAL = 128  # a shell's exit code for a death by signal n is this and n


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where output is kept.

    Attributes:
        id: the artifact's.
        flags: what a ``spillstore`` command needs besides, to find its session; begins with a space or is empty.
        sizes: bytes of each view that the artifact has, dropped ones included.
        holes: bytes ``[start, end)`` that were dropped, of each view that lost some.
        cut_off: bytes that came after the last one that was kept.
        limit: bytes an artifact may keep.
    """

    id: str
    flags: str = ""
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    holes: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    cut_off: int = 0
    limit: int = 0

    @property
    def size(self) -> int:
        """Bytes of both streams that it has, dropped ones included."""
        return self.sizes.get("combined", 0)

    @property
    def hole(self) -> tuple[int, int] | None:
        """Bytes ``[start, end)`` of the combined view that were dropped, or None."""
        return self.holes.get("combined")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A command that goes on while the model is answered.

    Attributes:
        pid: its process.
        state: it is ``running``; it has ended but processes that it left behind may still print, ``open``; or all is
            over, ``ended``.
        timeout: milliseconds after which it was put there, where that is what is told now.
    """

    pid: int
    state: Literal["running", "open", "ended"]
    timeout: int | None = None


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
        runtime: milliseconds from its start to its end.
        created: seconds since 1970-01-01 UTC.
        binary: what it is, if it is no text in UTF-8.
        head: its first bytes.
        background: what is known of it while it is told of in parts.
        again: words in brackets about the artifact, where an earlier output that was the same is stored in it.
        partial: whether a model may ask for ranges of it; the profile that is configured knows.
    """

    source: str
    command: str | None = None
    content_type: str | None = None
    stored: Stored | None = None
    problem: str | None = None
    capped: frozenset[str] = frozenset()
    is_command: bool = False
    exit_code: int | None = None
    runtime: int | None = None
    created: float = 0.0
    binary: BinaryType | None = None
    head: bytes = b""
    background: Background | None = None
    again: str = ""
    partial: bool = True

    @property
    def reason(self) -> str:
        """The problem on one line, not too long."""
        return " ".join((self.problem or "").split())[:REASON]

    @property
    def killed_by(self) -> str | None:
        """The name of the signal that a shell's exit code stands for.

        Nobody stores the signal itself, and a preview that is made again must be the same text.
        """
        try:
            return signal.Signals((self.exit_code or 0) - _FIRST_SIGNAL).name
        except ValueError:
            return None

    @property
    def status(self) -> str:
        """How a command ended, or that it has not, and what to do about it."""
        ended = None
        if self.exit_code is not None:
            killed = f" ({self.killed_by})" if self.killed_by else ""
            ended = f"exit code {self.exit_code}{killed}"
        background = self.background
        if background is None:
            return ended or ("still running" if self.problem is None else "exit code unknown")
        pid = background.pid
        if background.state == "ended":
            return f"pid {pid} has ended: {ended}"
        calls = f"bash(check_pid={pid}) shows what is new, bash(kill_pid={pid}) ends it"
        if background.state == "open":
            return f"{ended}, but pid {pid} left processes behind that may still print: {calls}"
        since = f" after {background.timeout / 1000:g} s" if background.timeout is not None else ""
        return f"pid {pid} is still running{since}, in the background: {calls}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """What a model is shown.

    Attributes:
        text: all of it.
        omissions: what is missing, and where in ``text`` (or in ``fields``) its marker stands.
        notes: ``(at, length)`` of our own words in ``text``, or in the one field that there is; what is neither this nor a
            marker is output.
        strategy: how it was cut; ``none`` if it was not.
        is_error: whether the tool call failed, by the rules of the profile.
        fields: texts inside a structured result by name, to which omissions may refer.
        elements: array items, members or nodes left out.
        redrawn: characters that were drawn over or erased in their lines, which no omission names: see
            ``preview.clean.redrawn``.
    """

    text: str
    omissions: tuple[Omission, ...] = ()
    notes: tuple[tuple[int, int], ...] = ()
    strategy: str = "none"
    is_error: bool = False
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    elements: int = 0
    redrawn: int = 0

    @property
    def refused(self) -> bool:
        """Whether the output was too large for the profile, and nothing of it is shown or kept."""
        return self.strategy == REFUSED

    @property
    def was_truncated(self) -> bool:
        """Whether anything is missing."""
        return bool(self.omissions) or self.refused or self.redrawn > 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """What is shown exactly as it is, whatever it says, where no command printed it.

    Attributes:
        chars: code points of cleaned text at most.
        lines: lines at most, or None.
        size: bytes of cleaned text in UTF-8 at most, or None.
        text_only: whether binary content is not shown as it is.
    """

    chars: int
    lines: int | None = None
    size: int | None = None
    text_only: bool = True


class Profile(Protocol):
    """A named set of limits, strategy and result format. Derive from this one; these are the defaults.

    Attributes:
        name: its name.
        summary: what it shows, a sentence for a tool's description.
        kept: what it keeps, for the same.
        views: the views that are scanned.
        keep: ``all`` stores what is shown whole, too.
        buffer_bytes: of output that may yet turn out to be shown whole, this much is held back from the disk.
        size_limit: bytes an artifact may keep, or None for the store's own setting.
        policy: what happens at that limit, or None for the store's own setting.
        stream_limit: bytes kept of each stream, or None.
        cleanup_on_exit: whether the session's end deletes it.
        cannot_start: the exit code shown of a command that could not be started; None for a shell's, 126 or 127.
        shows_dropped: whether lines may be shown that the artifact has dropped since; the text is then recorded, since
            nobody could make it again.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = "Long output is truncated."
    kept: ClassVar[str] = "All of it is kept"
    views: ClassVar[tuple[View, ...]] = ("combined",)
    keep: ClassVar[Keep] = "spilled"
    buffer_bytes: ClassVar[int] = 64 * KIB
    size_limit: ClassVar[int | None] = None
    policy: ClassVar[Literal["roll", "stop", "reject"] | None] = None
    stream_limit: ClassVar[int | None] = None
    cleanup_on_exit: bool = False
    cannot_start: ClassVar[int | None] = None
    shows_dropped: ClassVar[bool] = False

    def refuse_at(self, source: str) -> int | None:  # noqa: ARG002  # the default
        """Bytes from which output of a tool is refused as a whole, or None."""
        return None

    def inline(self, source: str) -> Inline | None:  # noqa: ARG002  # the default
        """What ``complete`` and ``render`` are known to let through untouched; None if they must be asked."""
        return None

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:
        """A pass over one view."""

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:
        """Whether all of it is shown if it is not stored, or what is not shown need not be stored."""

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """The text. The same views and facts give the same text."""

    def progress(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """The text of a command that has just been put into the background; ``facts.background`` is there."""
        from spillstore_tools.profiles.background import progress  # noqa: PLC0415  # few commands take so long

        return progress(self.render(overviews, facts), facts)

    def news_scan(self, terminator: bytes) -> Scan:
        """A pass over what a command in the background prints, both streams, for ``news``."""
        from spillstore_tools.profiles.excerpt import excerpt_scan  # noqa: PLC0415  # likewise

        return excerpt_scan(terminator)

    def news(
        self,
        new: Overview,
        origin: Position,
        overviews: Mapping[View, Overview] | None,  # noqa: ARG002  # the default
        facts: Facts,
    ) -> Rendered:
        """The text of what a command in the background has printed since its model was told the last time.

        Args:
            new: what is new, both streams; its positions count from there.
            origin: where it begins.
            overviews: all of it, once it has ended.
            facts: with ``background``.
        """
        from spillstore_tools.profiles.background import news  # noqa: PLC0415  # likewise

        return news(new, origin, facts)


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Parts of one view."""

    view: View
    parts: Sequence[Part]


def compose(
    sections: Sequence[Section], facts: Facts, *, strategy: str, is_error: bool = False, redrawn: int = 0
) -> Rendered:
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
        omissions=dropped(omissions, facts),
        notes=tuple(notes),
        strategy=strategy if omissions else "none",
        is_error=is_error,
        elements=sum(
            part.elements for section in sections for part in section.parts if isinstance(part, Gap)
        ),
        redrawn=redrawn,
    )


def dropped(omissions: Sequence[Omission], facts: Facts) -> tuple[Omission, ...]:
    """The omissions, those marked that cannot be fetched, or not whole: dropped, or never stored."""
    return tuple(
        dataclasses.replace(each, dropped=is_gone(facts, each.stream, each.start, each.end))
        for each in omissions
    )


def is_gone(facts: Facts, view: View, start: int, end: int) -> bool:
    """Whether bytes ``[start, end)`` of a view, or some of them, are not to be had any more."""
    stored = facts.stored
    if stored is None:
        return True
    if view in facts.capped and end > stored.sizes.get(view, 0):
        return True
    low, high = stored.holes.get(view, (0, 0))
    return max(start, low) < min(end, high) or (facts.problem is not None and end > stored.sizes.get(view, 0))


def redrawn_notice(overview: Overview, facts: Facts, view: View = "combined") -> str:
    """Words about characters that were drawn over or erased, and the call that shows them; none where there are none."""
    count = overview.redrawn
    if not count:
        return ""
    stream = {} if view == "combined" else {"stream": view}
    what = f"{count} {'character' if count == 1 else 'characters'}"
    of_view = "" if view == "combined" else f" of {view}"
    where = "they cannot be fetched"
    if facts.stored is not None:
        start, end = overview.redrawn_span
        span = {"start_byte": start, "end_byte": end} if facts.partial else {}
        call = quoted_call(facts, **stream, **span).removesuffix(")") + ", raw=true)"
        where = f"as it was printed: {call}"
    were = "was" if count == 1 else "were"
    return f"[{what}{of_view} {were} drawn over by carriage returns, backspaces or erasing, and are not shown; {where}]"


def searching(stored: Stored, view: View = "combined") -> str:
    """A command that looks for something in what is stored, for who has a shell.

    Example:
        >>> searching(Stored(id="art_1_a", flags=" --session s"), "stderr")
        'spillstore cat art_1_a --stream stderr --session s | rg PATTERN'
    """
    stream = "" if view == "combined" else f" --stream {view}"
    return f"spillstore cat {stored.id}{stream}{stored.flags} | rg PATTERN"


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


def summarised(overview: Overview, facts: Facts, kind: BinaryType, room: int) -> Gap:
    """Content that cannot be shown as it is: one gap that leaves nothing, and words about it in its place.

    Args:
        overview: of all of it.
        facts: its first bytes are used.
        kind: what it is; text in another encoding is decoded.
        room: code points.
    """
    gap = overview.everything()
    if kind.media_type.startswith(ENCODED_TEXT):
        text = _decoded(kind, facts.head, overview.size, room)
    else:
        text = summarise(kind, facts.head, overview.size, inline=room)
    return dataclasses.replace(gap, text=text)


def _decoded(kind: BinaryType, head: bytes, size: int, room: int) -> str:
    encoding = kind.media_type.removeprefix(ENCODED_TEXT)
    text = head.decode(encoding, "ignore").removeprefix("\ufeff")
    text = clean(text.encode("utf-8", "replace"))
    title = f"[{kind.name}, {size:,} bytes; shown decoded, but line and byte ranges mean the bytes as they are stored]\n"
    rest = f"\n[... only the beginning is shown: {len(head):,} of {size:,} bytes at most ...]"
    if size <= len(head) and len(title) + len(text) <= room:
        return title + text
    space = max(0, room - len(title) - len(rest))
    return (title + text[: grapheme_boundary(text, min(space, len(text)))] + rest)[: max(0, room)]


def refused(size: int, limit: int, status: str = "") -> Rendered:
    """What is shown of output that is too large to be taken.

    Args:
        size: bytes that came.
        limit: bytes from which on it is refused.
        status: of a command that goes on, what is to be known of it.

    Example:
        >>> refused(15_728_640, 10_485_760).text[:66]
        'Output size (15.0 MB) exceeds maximum artifact size (10.0 MB). 157'
        >>> refused(18_000, 2_000).text[:62]
        'Output size (17.6 KB) exceeds maximum artifact size (2.0 KB). '
    """
    text = (
        f"Output size ({preview_size(size, prefix='M')}) exceeds maximum artifact size ({preview_size(limit, prefix='M')}). "
        f"{size} bytes came, fewer than {limit} are allowed (max_artifact_size); nothing of "
        "it was kept. Filter or page the output in the tool call."
    )
    return Rendered(text=f"{text}\n[{status}]" if status else text, strategy=REFUSED, is_error=True)
