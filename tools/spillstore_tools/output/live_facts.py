"""The facts of an output while it comes, for its profile, and the number of its lines."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.output.media_type import kind_of
from spillstore_tools.output.recorder import STREAMS
from spillstore_tools.output.rendering import flags_to, place_of
from spillstore_tools.preview.parts import VIEWS

if TYPE_CHECKING:
    from spillstore_tools.output.description import Description
    from spillstore_tools.output.output_scans import OutputScans
    from spillstore_tools.output.recorder import Recorder
    from spillstore_tools.preview.parts import View
    from spillstore_tools.profiles.facts import Facts


class LiveFacts:
    """The facts of one output, as they are now.

    Args:
        described: what it is called.
        recorder: keeps it.
        scans: scan it.
        flags: what a ``spillstore`` command needs besides to find the session; None for what its session says.
    """

    def __init__(
        self, described: Description, recorder: Recorder, scans: OutputScans, flags: str | None
    ) -> None:
        self._described = described
        self._recorder = recorder
        self._scans = scans
        self._flags = flags

    @property
    def flags(self) -> str:
        """What a ``spillstore`` command needs besides to find the session."""
        if self._flags is not None:
            return self._flags
        session = self._recorder.session
        return "" if session is None else flags_to(session)

    def now(self, exit_code: int | None, runtime: int | None, *, stored: bool = True) -> Facts:
        """The facts of output that is not stored, or not all of it.

        Args:
            exit_code: of the command.
            runtime: milliseconds that it ran.
            stored: whether anything is said of where it is.
        """
        recorder, info = self._recorder, self._recorder.info
        return dataclasses.replace(
            self._described.facts(exit_code, runtime),
            stored=place_of(info, self.flags) if stored and info is not None else None,
            problem=recorder.problem if stored else None,
            capped=recorder.capped,
            created=self._described.created if info is None else info.created,
            binary=kind_of(self._scans.head, self._scans.seen),
            head=self._scans.head,
        )

    def lines(self) -> dict[View, int]:
        """Lines of each view; empty if they are unknown because storing failed."""
        recorder = self._recorder
        if recorder.info is not None and recorder.problem is None:
            return {view: recorder.info.view(view).lines for view in VIEWS}
        if not recorder.spooling:
            return {}
        terminator = self._scans.terminator
        views: dict[View, list[bytes]] = {"combined": [], "stdout": [], "stderr": []}
        for stream, data, _ in recorder.sequencer.runs:
            views["combined"].append(data)
            views[STREAMS[stream]].append(data)
        return {view: _lines(b"".join(pieces), terminator) for view, pieces in views.items()}


def _lines(data: bytes, terminator: bytes) -> int:
    return data.count(terminator) + (bool(data) and not data.endswith(terminator))
