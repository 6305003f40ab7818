"""The metadata of an output, without secrets: tool, command, media type, line ends."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.output.media_type import is_cr_text, is_progress, media_type_of, terminator_of
from spillstore_tools.profiles.facts import Facts

if TYPE_CHECKING:
    from spillstore.info import Newline
    from spillstore.redaction import RedactionRules


@dataclasses.dataclass(slots=True, kw_only=True)
class Description:
    """The metadata of one output.

    Attributes:
        source: the tool.
        command: what was run or asked for.
        tool_call_id: the tool call that it answers.
        content_type: its media type; None until ``guess`` has looked at it.
        newline: what ends a line.
        is_command: whether a command prints it.
        created: seconds since 1970-01-01 UTC when it began.
        redactions: secrets that were in the command, by kind.
    """

    source: str
    command: str | None
    tool_call_id: str | None
    content_type: str | None
    newline: Newline
    is_command: bool
    created: float
    redactions: dict[str, int] = dataclasses.field(default_factory=dict)

    def redact(self, rules: RedactionRules) -> None:
        """Take the secrets out of it."""
        if self.command is not None:
            self.command, self.redactions = rules.counted(self.command)
        if self.content_type is not None:
            self.content_type = rules.redact(self.content_type)
        self.source = rules.named(self.source)
        if self.tool_call_id is not None:
            self.tool_call_id = rules.named(self.tool_call_id)

    def guess(self, data: bytes, *, whole: bool) -> None:
        """Guess the media type from the beginning of the output, if none was given; ``whole`` if that is all of it."""
        if self.content_type is None:
            self.content_type = media_type_of(data, whole=whole)

    def guess_terminator(self, data: bytes, *, whole: bool) -> bytes | None:
        """Guess the line terminator from the beginning of the output; None if it is known already.

        An artifact is made with the same guess: where it takes CR, the store looks at all of it in the end.
        """
        if self.newline == "lf" and self.is_command and is_cr_text(data):
            self.newline = "auto"
        if self.newline != "auto":
            return None
        terminator = terminator_of(data)
        if not whole and is_progress(data):  # a line end may yet come
            terminator = b"\n"
        if terminator == b"\n" and b"\r" in data:
            self.newline = "lf"
        return terminator

    def facts(self, exit_code: int | None, runtime: int | None) -> Facts:
        """The facts for its profile.

        Args:
            exit_code: of the command.
            runtime: milliseconds that it ran.
        """
        return Facts(
            source=self.source,
            command=self.command,
            content_type=self.content_type,
            is_command=self.is_command,
            exit_code=exit_code,
            runtime=runtime,
            created=self.created,
        )
