"""The result of a call of the tool ``bash``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.preview.parts import Omission
    from spillstore_tools.process.jobs import Job
    from spillstore_tools.profiles.rendered import Rendered


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StreamCount:
    """The size of one stream.

    Attributes:
        size: bytes.
        lines: lines, an unfinished last one included; None if they were not counted.
    """

    size: int
    lines: int | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BashResult:
    """The result of a call of the tool ``bash``.

    Attributes:
        text: the text for the model.
        is_error: whether the call counts as failed, by the rules of the profile.
        state: the command has ``ended``, is ``running`` in the background, or has ended but left processes ``open``
            that may still print; ``refused`` if the arguments of the call were wrong.
        command: the command, without secrets.
        pid: the id of its process.
        exit_code: its own, 128 + n if signal n ended it, 127 or 126 if it could not be started; None while it runs.
        signal: the name of the signal that ended it, or None.
        started: the time of its start, in seconds since 1970.
        duration: seconds from its start to its end, or None.
        stdout: bytes and lines so far.
        stderr: bytes and lines so far.
        truncated: for each stream that is shown, its ``total`` lines and how many of them are ``skipped``; in the
            background, of the output since the last call.
        omissions: what ``text`` leaves out, exactly, and where ``text`` marks it.
        strategy: how the output was cut.
        artifact_id: the artifact that holds all of the output; None if nothing had to be stored.
        storage_error: why not all of the output could be stored, or None.
    """

    text: str
    is_error: bool = False
    state: Literal["ended", "running", "open", "refused"] = "ended"
    command: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    started: float | None = None
    duration: float | None = None
    stdout: StreamCount = StreamCount(size=0, lines=0)
    stderr: StreamCount = StreamCount(size=0, lines=0)
    truncated: Mapping[str, Mapping[str, int | None]] = dataclasses.field(default_factory=dict)
    omissions: tuple[Omission, ...] = ()
    strategy: str = "none"
    artifact_id: str | None = None
    storage_error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The result as values for JSON; ``output_files`` has the URI of each stream of the artifact."""
        streams = ("stdout", "stderr", "combined") if self.artifact_id else ()
        return {
            **dataclasses.asdict(self),
            "omissions": [dataclasses.asdict(each) for each in self.omissions],
            "output_files": {stream: f"artifact://{self.artifact_id}?stream={stream}" for stream in streams},
        }

    @classmethod
    def refused(cls, message: str) -> BashResult:
        """The result of a call whose arguments are wrong."""
        return cls(text=f"bash: {message}\n", is_error=True, state="refused")

    @classmethod
    def of(cls, job: Job, rendered: Rendered) -> BashResult:
        """The state of a command now, with the text for the model."""
        outcome, printed = job.outcome, job.printed
        skipped = dict.fromkeys(printed.views, 0)
        for each in rendered.omissions:
            skipped[each.stream] = skipped.get(each.stream, 0) + each.lines
        return cls(
            text=rendered.text,
            is_error=rendered.is_error or job.failed,
            state=job.state,
            command=job.command,
            pid=job.pid,
            exit_code=outcome.exit_code if outcome else None,
            signal=outcome.signal if outcome else None,
            started=job.began,
            duration=outcome.duration if outcome else None,
            stdout=StreamCount(size=printed.sizes["stdout"], lines=printed.lines.get("stdout")),
            stderr=StreamCount(size=printed.sizes["stderr"], lines=printed.lines.get("stderr")),
            truncated={
                view: {"total": printed.lines.get(view), "skipped": count} for view, count in skipped.items()
            },
            omissions=rendered.omissions,
            strategy=rendered.strategy,
            artifact_id=printed.artifact_id,
            storage_error=printed.problem,
        )
