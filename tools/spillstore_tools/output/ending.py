"""The end of an output: whether it is stored, the text, and what the session had already."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore_tools.output.duplicates import find_duplicate
from spillstore_tools.output.recorder import STREAMS
from spillstore_tools.output.rendering import facts_of, head_of, record, scanned

if TYPE_CHECKING:
    from spillstore_tools.output.description import Description
    from spillstore_tools.output.live_facts import LiveFacts
    from spillstore_tools.output.output_scans import OutputScans
    from spillstore_tools.output.recorder import Recorder
    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.base import Keep, Profile
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered


class Ending:
    """Ends one output and makes its text. The caller holds the recorder's lock.

    What is said of output that was stored comes from the artifact alone (its times, its exit code), so ``render`` makes the same
    text again.

    Attributes:
        keep: ``all`` stores what is shown whole, too.
        overviews: of all of it, once it has ended.
        original: the id of the artifact that holds the same, where nothing was kept of this one.
        repeated: what is recorded of an output that is not kept, since the session had it.
        lines: lines of each view, where the artifact does not tell.
    """

    def __init__(
        self,
        profile: Profile,
        described: Description,
        recorder: Recorder,
        scans: OutputScans,
        facts: LiveFacts,
        keep: Keep,
    ) -> None:
        self.keep = keep
        self.overviews: dict[View, Overview] = {}
        self.original: str | None = None
        self.repeated: dict[str, object] = {}
        self.lines: dict[View, int] | None = None
        self._profile = profile
        self._described = described
        self._recorder = recorder
        self._scans = scans
        self._facts = facts

    @property
    def artifact_id(self) -> str | None:
        """The artifact that has all of it: its own, or one that held the same before."""
        artifact = self._recorder.artifact
        return self.original if artifact is None else artifact.id

    def finish(self, exit_code: int | None, runtime: int | None) -> Rendered:
        """End the artifact, if there is one, and make the text."""
        recorder = self._recorder
        self.overviews = self._end(exit_code, runtime)
        info, artifact = recorder.info, recorder.artifact
        if info is None or artifact is None or recorder.problem is not None:
            return self._profile.render(self.overviews, self._facts.now(exit_code, runtime))
        facts = facts_of(info, self._profile, self._facts.flags, self._scans.head)
        facts = dataclasses.replace(facts, capped=recorder.capped)
        rendered = self._profile.render(self.overviews, facts)
        repeated = self._repeated(rendered, facts, exit_code, runtime)
        if repeated is not None:
            return repeated
        if recorder.capped:
            self.lines = {view: overview.lines for view, overview in self.overviews.items()}
            self.lines["combined"] = sum(self.lines.values())
        if recorder.capped or (info.hole is not None and self._profile.shows_dropped):
            record(artifact, self._profile, self._facts.flags, rendered)
        return rendered

    def _end(self, exit_code: int | None, runtime: int | None) -> dict[View, Overview]:
        recorder, scans = self._recorder, self._scans
        if not recorder.spooling:
            recorder.close(exit_code)
            overviews = self._scan_again(scans.finish())
            if self.keep == "spilled" and self._is_shown(overviews, exit_code, runtime):
                recorder.delete()
                recorder.problem = None  # nothing needed storing
            return overviews
        recorder.close(exit_code)
        if terminator := self._described.guess_terminator(recorder.sequencer.beginning(), whole=True):
            scans.begin(terminator)
        scans.scan((STREAMS[stream], data) for stream, data, _ in recorder.sequencer.runs)
        overviews = scans.overviews()
        if self._is_shown(overviews, exit_code, runtime):
            return overviews
        recorder.store(scanned=True)
        recorder.close(exit_code)
        return self._scan_again(overviews)

    def _is_shown(self, overviews: dict[View, Overview], exit_code: int | None, runtime: int | None) -> bool:
        """Whether all of it is shown where it is not stored."""
        return self._profile.complete(overviews, self._facts.now(exit_code, runtime, stored=False))

    def _scan_again(self, overviews: dict[View, Overview]) -> dict[View, Overview]:
        """Scan the stored artifact if the scans saw something else: other line ends, or bytes that were dropped since."""
        recorder, scans = self._recorder, self._scans
        info, artifact = recorder.info, recorder.artifact
        if info is None or artifact is None or recorder.problem is not None:
            return overviews
        whole = info.hole is None or self._profile.shows_dropped
        if info.policy == "stop":
            whole = scans.seen <= info.size + sum(recorder.sequencer.behind)
        if whole and info.terminator == scans.terminator:
            return overviews
        try:
            overviews = scanned(artifact.unrecorded(), self._profile, self._described.source)
            scans.head = head_of(artifact.unrecorded())
        except SpillstoreError as error:
            recorder.problem = f"it cannot be read again: {error}"
            return overviews
        return overviews

    def _repeated(
        self, rendered: Rendered, facts: Facts, exit_code: int | None, runtime: int | None
    ) -> Rendered | None:
        """The text, if the session had all of this before; then it is not stored a second time.

        Output that the caller wants stored is stored, and so is output of which a model was shown a part.
        """
        recorder = self._recorder
        artifact, info, session = recorder.artifact, recorder.info, recorder.session
        if artifact is None or info is None or session is None or self.keep == "all" or info.hole is not None:
            return None

        def render(facts: Facts) -> Rendered:
            return self._profile.render(self.overviews, facts)

        try:
            repeated = find_duplicate(session, artifact.unrecorded(), facts, render)
            if repeated is None:
                return None
            self.lines = self._facts.lines()
            artifact.delete()
        except SpillstoreError:  # it is stored like anything else
            return None
        recorder.artifact, recorder.info, self.original = None, None, repeated.artifact_id
        self.repeated = {
            "again": True,
            "command": self._described.command,
            "exit_code": exit_code,
            "started": self._described.created,
            "milliseconds": facts.runtime if runtime is None else runtime,
        }
        return dataclasses.replace(repeated.rendered, is_error=rendered.is_error)
