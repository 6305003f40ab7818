"""What is recorded of one output in its session, and emitted to observers."""

from __future__ import annotations

import contextlib
import contextvars
from functools import partial
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore.observers import begin_operation, is_observed
from spillstore_tools.output.output_events import FAILED, OUTPUT, output_detail, tool_of
from spillstore_tools.output.rendering import preview_detail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore import Session
    from spillstore_tools.output.description import Description
    from spillstore_tools.output.ending import Ending
    from spillstore_tools.output.progress import Progress
    from spillstore_tools.output.recorder import Recorder
    from spillstore_tools.profiles.base import Profile
    from spillstore_tools.profiles.rendered import Rendered


class SpillEvents:
    """Records and emits the events of one output, for the actor in whose context it was begun.

    ``open_session`` gives the session, ``tool`` is the tool's name for observers, and the rest are parts of the ``Spill``.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        profile: Profile,
        described: Description,
        recorder: Recorder,
        progress: Progress,
        ending: Ending,
        *,
        tool: str,
        on_pass: Callable[[str, int, int], object] | None,
        on_redaction: Callable[[str, dict[str, int]], object] | None,
    ) -> None:
        self._open_session = open_session
        self._profile = profile
        self._described = described
        self._recorder = recorder
        self._progress = progress
        self._ending = ending
        self._tool = tool
        self._on_pass = on_pass
        self._on_redaction = on_redaction
        self._context = contextvars.copy_context()

    @contextlib.contextmanager
    def operation(self, stopped: str | None) -> Iterator[Callable[[Rendered], None]]:
        """The operation ``output``, around making the text; the function that it gives takes the text.

        Args:
            stopped: why the output was ended before its end; None if it was not.
        """
        recorder = self._recorder
        work = self._context.copy().run(begin_operation, OUTPUT, {"tool": self._tool})
        detail: dict[str, object] = {"tool": tool_of(self._tool, recorder.session), "outcome": FAILED}

        def describe(rendered: Rendered) -> None:
            nonlocal detail
            if is_observed(OUTPUT):
                detail = output_detail(
                    rendered,
                    tool=tool_of(self._tool, recorder.session),
                    profile=self._profile.name,
                    received=recorder.received,
                    artifact_id=self._ending.artifact_id,
                    problem=recorder.problem is not None,
                    shown=self._progress.first if self._is_unseen(stopped) else None,
                )

        try:
            yield describe
        finally:
            session = None if recorder.session is None else recorder.session.id
            work.end(detail, session=session, artifact_id=self._ending.artifact_id)

    def record(
        self, rendered: Rendered, exit_code: int | None, stopped: str | None, *, met_limit: bool
    ) -> None:
        """Record what was shown of how much; of output that was shown in parts, or is shown to nobody, that it ended."""
        with contextlib.suppress(SpillstoreError):  # the session was closed meanwhile, or deleted
            self._context.run(partial(self._record, rendered, exit_code, stopped, met_limit=met_limit))

    def note_limit(self, kind: str, detail: dict[str, object]) -> None:
        """Record that a limit was met; opens the session if need be."""
        session = self._recorder.session = self._recorder.session or self._open_session()
        self._context.run(self._note, session, kind, detail)

    def _is_unseen(self, stopped: str | None) -> bool:
        """Whether the text at the end is shown to nobody: the output was shown in parts, or was ended early."""
        return self._progress.shown is not None or stopped is not None

    def _record(
        self, rendered: Rendered, exit_code: int | None, stopped: str | None, *, met_limit: bool
    ) -> None:
        recorder, source = self._recorder, self._described.source
        artifact_id = self._ending.artifact_id
        if recorder.session is not None and artifact_id is not None:
            kind, detail = "preview", preview_detail(rendered, self._profile, source, recorder.received)
            if self._is_unseen(stopped):
                kind = "ended"
                detail = {"tool": source, "exit_code": exit_code, "received": recorder.received}
                if stopped is not None:
                    detail["why"] = stopped
            self._note(recorder.session, kind, detail | self._ending.repeated, artifact_id)
        elif not met_limit and recorder.problem is None:
            if self._on_pass is not None:
                self._on_pass(source, recorder.received, len(rendered.text))
            if self._on_redaction is not None and recorder.session is None and (found := recorder.redactions):
                self._on_redaction(source, found)

    def _note(
        self, session: Session, kind: str, detail: dict[str, object], artifact_id: str | None = None
    ) -> None:
        with session.acting(tool_call_id=self._described.tool_call_id):
            session.note(kind, detail, artifact_id=artifact_id)
