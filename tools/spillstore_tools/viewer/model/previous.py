"""The run of the same command before, and what has changed since: the comparison of ``spillstore diff``, as rows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from spillstore_tools.agent.artifacts import previous_run
from spillstore_tools.compare.differences import Differences
from spillstore_tools.compare.report import section_title, summary

if TYPE_CHECKING:
    from spillstore import Artifact, Session
    from spillstore_tools.compare.changed_lines import Change
    from spillstore_tools.compare.differences import Section
    from spillstore_tools.viewer.model.log import Log

_WINDOW = 256  # changes that are read at once


class Changes:
    """What a log has that the run before has not, and what is gone.

    Args:
        log: the newer one.
        base: the older one.

    Attributes:
        base: as given.
        differences: the comparison.
    """

    def __init__(self, log: Log, base: Artifact) -> None:
        self._log = log
        self.base = base
        self.differences = Differences(base.unrecorded(), log.artifact, stream=log.stream)
        self._window: tuple[Section | None, int, list[Change]] = (None, 0, [])
        self._is_recorded = False

    @property
    def progress(self) -> float:
        """How much was compared, from 0 to 1."""
        return self.differences.progress

    def run(self, seconds: float | None = None) -> bool:
        """Compare for so many seconds, or to the end; returns whether it has ended. Cost: about 50 ns a byte.

        Raises:
            SpillstoreError: one of them was deleted, or is damaged.
        """
        over = self.differences.run(seconds)
        if over and not self._is_recorded:
            self._is_recorded = True
            self._log.footprint.record("compare", {"base": self.base.id, "stream": self._log.stream})
        return over

    @property
    def summary(self) -> str:
        """The result in a sentence; it must have ended."""
        return summary(self.differences, exact=False)

    @property
    def total(self) -> int:
        """Rows: a heading for each section, and its changes; it must have ended."""
        return sum(1 + section.size for section in self.differences.sections())

    def rows(self, first: int, count: int) -> list[Change | str]:
        """Up to ``count`` rows from index ``first`` on: headings as text, and changes. It must have ended.

        Cost: some reads for each 256 changes.
        """
        sections = self.differences.sections()
        found: list[Change | str] = []
        at = 0
        for section in sections:
            low, high = max(first, at), min(first + count, at + 1 + section.size)
            for index in range(low, high):
                if index == at:
                    found.append(section_title(section, sections))
                else:
                    found.append(self._change(section, index - at - 1))
            at += 1 + section.size
        return found

    def _change(self, section: Section, index: int) -> Change:
        known, start, changes = self._window
        if known != section or not start <= index < start + len(changes):
            start = index - index % _WINDOW
            changes = list(itertools.islice(self.differences.changes(section, start), _WINDOW))
            self._window = (section, start, changes)
        return changes[index - start]


def changes_since_last_run(session: Session, log: Log) -> Changes | None:
    """The comparison with the last artifact before of the same tool and command, run in the same folder; None if there is none.

    Cost: a look at each artifact of that tool until it is found.
    """
    base = previous_run(session, session.artifact(log.artifact.id))
    return None if base is None else Changes(log, base)
