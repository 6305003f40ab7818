"""The texts of an output that goes on: first all of it so far, then only news, every byte once."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore_tools.output.rendering import preview_detail
from spillstore_tools.preview.scan.position import Position

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.output.live_facts import LiveFacts
    from spillstore_tools.output.output_scans import OutputScans
    from spillstore_tools.output.recorder import Recorder
    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.base import Profile
    from spillstore_tools.profiles.facts import Background, Facts
    from spillstore_tools.profiles.rendered import Rendered


class Progress:
    """The texts of one output that goes on, made between two pieces of it.

    Attributes:
        shown: bytes of the output that had come when a text was made; None before the first.
        first: characters of the texts that ``look`` made, which are shown.
        final: the overviews of all of it, once it has ended.
    """

    def __init__(
        self, profile: Profile, source: str, recorder: Recorder, scans: OutputScans, facts: LiveFacts
    ) -> None:
        self.shown: int | None = None
        self.first = 0
        self.final: dict[View, Overview] | None = None
        self._profile = profile
        self._source = source
        self._recorder = recorder
        self._scans = scans
        self._facts = facts
        self._began = time.monotonic() - recorder.sequencer.age

    def look(self, background: Background, exit_code: int | None) -> Rendered:
        """All that has come so far."""
        scans = self._scans

        def text(facts: Facts) -> Rendered:
            looks = {view: scan.snapshot() for view, scan in scans.by_view.items()}
            # Without a pass over both streams the artifact says how many lines they have.
            lines = self._facts.lines().get("combined", 0)
            origin = Position(scans.seen, lines + (not scans.inside), inside=scans.inside)
            rest = b""
            if "combined" in looks:
                overview, rest = looks["combined"]
                origin = overview.end
            scans.follow(origin, rest)
            return self._profile.progress({view: overview for view, (overview, _) in looks.items()}, facts)

        rendered = self._between(text, background, exit_code)
        self.first += len(rendered.text)
        self._note("preview", rendered, background)
        return rendered

    def news(self, background: Background, exit_code: int | None, *, recorded: bool) -> Rendered:
        """What has come since the last text; ``recorded`` is false of what may never be shown."""
        scans = self._scans

        def text(facts: Facts) -> Rendered:
            assert scans.news is not None  # ``look`` was called
            origin = scans.news.origin
            overview, rest = scans.news.scan.snapshot()
            if background.state == "ended":
                overview, rest = scans.news.scan.finish(), b""
            end = overview.end
            line = origin.line + end.line - 1
            # An escape sequence that has not ended is held back: then there is no news, and the line is as it was.
            inside = end.inside if end.byte else origin.inside
            scans.follow(Position(origin.byte + end.byte, line, inside=inside), rest)
            return self._profile.news(overview, origin, self.final, facts)

        rendered = self._between(text, background, exit_code)
        if recorded:
            self._note("news", rendered, background)
        return rendered

    def _between(
        self, text: Callable[[Facts], Rendered], background: Background, exit_code: int | None
    ) -> Rendered:
        with self._recorder.lock:
            self._recorder.flush()
            self._scans.hand_over()
            runtime = round((time.monotonic() - self._began) * 1000)
            facts = dataclasses.replace(self._facts.now(exit_code, runtime), background=background)
        return self._scans.call(lambda: text(facts))

    def _note(self, kind: str, rendered: Rendered, background: Background) -> None:
        """Record what is shown, for the current actor."""
        size = self._recorder.received
        since, self.shown = size - (self.shown or 0), size
        session, artifact = self._recorder.session, self._recorder.artifact
        if session is None or artifact is None:
            return
        detail = preview_detail(rendered, self._profile, self._source, since)
        with contextlib.suppress(SpillstoreError):  # the session was closed meanwhile, or is gone
            session.note(
                kind, {**detail, "pid": background.pid, "state": background.state}, artifact_id=artifact.id
            )
