"""Output that is refused as a whole, since a profile takes none that is so large: nothing of it is kept or shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.observers import EmittedEvent, emit, is_observed
from spillstore_tools.profiles.facts import Facts
from spillstore_tools.profiles.rendered import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.output.output_scans import OutputScans
    from spillstore_tools.output.recorder import Recorder
    from spillstore_tools.profiles.facts import Background
    from spillstore_tools.profiles.rendered import Rendered


class Refusal:
    """Whether one output is refused.

    Args:
        limit: bytes from which on it is; None for never.
        source: the tool.
        recorder: keeps the output.
        scans: scan it.

    Attributes:
        met: whether it is.
    """

    def __init__(self, limit: int | None, source: str, recorder: Recorder, scans: OutputScans) -> None:
        self.met = False
        self._limit = limit
        self._source = source
        self._recorder = recorder
        self._scans = scans

    def check(self) -> bool:
        """Whether it is refused now; then nothing of it is kept. The caller holds the recorder's lock."""
        if self._limit is None or self._recorder.received < self._limit:
            return False
        if not self.met:
            self.met = True
            self._scans.drop()
            self._recorder.abort("refused: too large")
            self._recorder.delete()
        return True

    def text(self, background: Background | None = None, exit_code: int | None = None) -> Rendered | None:
        """What is shown of it; None of output that is not refused.

        Args:
            background: what goes on, if it has not ended.
            exit_code: of the command, where that has ended.
        """
        if not self.met:
            return None
        assert self._limit is not None, "or nothing would be refused"
        status = ""
        if background is not None:
            status = Facts(source=self._source, exit_code=exit_code, background=background).status
        return refused(self._recorder.received, self._limit, status)

    def record(self, note: Callable[[str, dict[str, object]], object]) -> None:
        """Record that a limit was met, also where nothing of the output has reached the store."""
        detail: dict[str, object] = {
            "limit": "max_artifact_size",
            "tool": self._source,
            "size": self._recorder.received,
            "most": self._limit,
        }
        try:
            note("limit", detail)
        except Exception:  # noqa: BLE001  # whatever the caller's functions raise, the tool call succeeds
            if is_observed("limit"):
                emit(EmittedEvent("limit", detail))
