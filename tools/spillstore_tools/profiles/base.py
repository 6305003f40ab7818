"""What a profile is: limits, a strategy and a result format under a name.

A profile names the views that are scanned and makes the pass over each. When they are over it says whether all of the
output can be shown, and makes the text.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.scan.position import Position
    from spillstore_tools.preview.scan.scan import Scan
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

Keep = Literal["spilled", "all"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """Limits up to which a tool's result is shown exactly as it is, whatever it says.

    Attributes:
        chars: code points of cleaned text at most.
        lines: lines at most, or None.
        size: bytes of cleaned text in UTF-8 at most, or None.
        text_only: whether this does not hold for binary content.
    """

    chars: int
    lines: int | None = None
    size: int | None = None
    text_only: bool = True


class Profile(Protocol):
    """A named set of limits, strategy and result format. Derive from this one; these are the defaults.

    Attributes:
        name: its name.
        summary: a sentence on what it shows, for a tool's description.
        kept: words on what it keeps, for the same.
        views: the views that are scanned.
        keep: ``all`` stores output that is shown whole, too.
        buffer_bytes: bytes of output that are held in memory before anything is stored.
        size_limit: bytes an artifact may keep, or None for the store's own setting.
        policy: the policy at that limit, or None for the store's own setting.
        stream_limit: bytes kept of each stream, or None.
        cleanup_on_exit: whether the session's end deletes it.
        cannot_start: the exit code shown of a command that could not be started; None for a shell's, 126 or 127.
        shows_dropped: whether lines may be shown that the artifact has dropped since; the text is then recorded, since
            it cannot be made again.
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
        """The limits up to which ``complete`` and ``render`` change nothing; None if only they know."""
        return None

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:
        """A new pass over one view."""

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:
        """Whether the output need not be stored: all of it is shown, or the rest need not be kept."""

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """The text; the same views and facts give the same text."""

    def progress(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """The text for a command that has just been put into the background; ``facts.background`` is set."""
        from spillstore_tools.profiles.background import progress  # noqa: PLC0415  # few commands take so long

        return progress(self.render(overviews, facts), facts)

    def news_scan(self, terminator: bytes) -> Scan:
        """A new pass over new output of a command in the background, both streams, for ``news``."""
        from spillstore_tools.profiles.excerpt import excerpt_scan  # noqa: PLC0415  # likewise

        return excerpt_scan(terminator)

    def news(
        self,
        new: Overview,
        origin: Position,
        overviews: Mapping[View, Overview] | None,  # noqa: ARG002  # the default
        facts: Facts,
    ) -> Rendered:
        """The text for output that a command in the background has printed since the last answer.

        Args:
            new: the pass over the new output, both streams; its positions count from ``origin``.
            origin: the position where it begins.
            overviews: of all of the output, once the command has ended.
            facts: with ``background`` set.
        """
        from spillstore_tools.profiles.background import news  # noqa: PLC0415  # likewise

        return news(new, origin, facts)
