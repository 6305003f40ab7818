"""What takes longer than a moment, on threads of its own: searches, lines that matter, marks, comparisons, exports."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import TYPE_CHECKING, Any

from textual.worker import Worker, WorkerCancelled, get_current_worker

from spillstore.exceptions import SpillstoreError
from spillstore.search.patterns import compiled
from spillstore_tools.describe import count, human_size
from spillstore_tools.viewer.model.export import export_all, export_rows
from spillstore_tools.viewer.model.hits import Hits
from spillstore_tools.viewer.model.previous import changes_since_last_run
from spillstore_tools.viewer.model.reads import Reads
from spillstore_tools.viewer.model.seen import what_was_seen
from spillstore_tools.viewer.model.telling import next_telling, previous_telling
from spillstore_tools.viewer.terminal.prompts import ChangesScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.terminal.log_base import LogBase

_STEP = 0.05  # seconds of work between two looks whether it is still wanted


class Jobs:
    """The jobs of one screen: one search, one that marks, and one other at a time.

    Attributes:
        hits: of the search, or None.
    """

    def __init__(self, screen: LogBase) -> None:
        self._screen = screen
        self._worker: Worker[None] | None = None  # goes to a place, compares or writes
        self._searcher: Worker[None] | None = None
        self._marker: Worker[None] | None = None
        self.hits: Hits | None = None
        self._searched: Hits | None = None  # by the worker
        self._backwards = False
        self._ignore_case = False

    @property
    def is_busy(self) -> bool:
        """Whether anything goes on."""
        return any(
            each is not None and each.is_running for each in (self._worker, self._searcher, self._marker)
        )

    def cancel(self) -> None:
        """Give up what goes on."""
        if self.hits is not None:
            self.hits.cancel()
        for each in (self._worker, self._searcher, self._marker):
            if each is not None:
                each.cancel()

    # --- the search -------------------------------------------------------------------------------------

    def search(self, pattern: str, *, backwards: bool = False) -> None:
        """Search for a pattern from the cursor on, and go to the first hit."""
        screen = self._screen
        try:
            look = compiled(pattern, ignore_case=self._ignore_case, literal=False, latin=False)
        except SpillstoreError as error:
            screen.tell(str(error))
            return
        self.cancel()
        self._backwards = backwards
        log = screen.log_shown
        row = screen.view.row(screen.view.cursor)
        start = 0 if row is None or backwards else row.start
        self.hits = hits = Hits(log, pattern, ignore_case=self._ignore_case, start=start)
        screen.view.look = dataclasses.replace(screen.view.look, pattern=look)
        screen.map.hits = hits
        self.more()
        self.hit(backwards=False, first=True)

    def search_again(self) -> None:
        """Search another stream for the same."""
        if self.hits is not None:
            self.hits = self._screen.map.hits = Hits(
                self._screen.log_shown, self.hits.pattern, ignore_case=self._ignore_case
            )
            self.more()

    def toggle_case(self) -> None:
        """Search with or without regard to case."""
        self._ignore_case = not self._ignore_case
        if self.hits is not None:
            self.search(self.hits.pattern, backwards=self._backwards)
        else:
            self._screen.tell(f"searches {'disregard' if self._ignore_case else 'regard'} case")

    def more(self) -> None:
        """Go on with the search: at its beginning, and when more has come."""
        hits = self.hits
        if hits is None or (
            self._searched is hits and self._searcher is not None and self._searcher.is_running
        ):
            return
        self._searched = hits

        def work() -> None:
            while not hits.run(_STEP):
                self._show(self._count)
            self._show(self._count)

        self._searcher = self._start(work, "search")

    def _count(self) -> None:
        """Say how much was found so far."""
        hits, screen = self.hits, self._screen
        if hits is None or hits.log is not screen.log_shown:
            return
        case = ", any case" if hits.ignore_case else ""
        share = "" if hits.complete else f", {100 * hits.progress:.0f}% searched"
        screen.said = f"/{hits.pattern}{case}: {count(hits.lines, 'line')}{share}"
        screen.map.count()
        screen.tell(screen.message)

    def hit(self, *, backwards: bool, first: bool = False) -> None:
        """Go to the next hit in the direction of the search, or against it; ``first`` takes the line of the cursor, too."""
        hits, screen = self.hits, self._screen
        if hits is None:
            screen.tell("/ searches")
            return
        back = backwards is not self._backwards
        line = screen.log_shown.line_of_row(screen.view.cursor)
        look = hits.before if back else hits.after
        begin = line + 1 if first and back else line - 1 if first else line

        def work() -> None:
            worker = get_current_worker()
            while (found := look(begin)) == "searching" and not worker.is_cancelled:
                if self._searcher is None or not self._searcher.is_running:
                    found = look(begin)
                    break
                time.sleep(_STEP)
            if isinstance(found, int):
                self._show(lambda: self._go(hits.log, found))
            elif found is None:
                self._show(lambda: screen.tell(f"no hit {'before' if back else 'behind'} this"))

        self._worker = self._start(work, "go")

    # --- places, marks, changes, files ------------------------------------------------------------------

    def telling(self, *, backwards: bool) -> None:
        """Go to the next line that matters."""
        screen = self._screen
        log = screen.log_shown
        line = log.line_of_row(screen.view.cursor)
        steps = previous_telling(log, line) if backwards else next_telling(log, line)

        def work() -> None:
            worker = get_current_worker()
            while not steps.run(_STEP):
                if worker.is_cancelled:
                    steps.cancel()
                    return
                self._show(
                    lambda: screen.tell(f"looking for a line that matters: {100 * steps.progress:.0f}%")
                )
            found = steps.result
            if found is None:
                where = "before" if backwards else "behind"
                self._show(lambda: screen.tell(f"no line that matters {where} this"))
            else:
                self._show(lambda: self._go(log, found))

        self._worker = self._start(work, "go")

    def read_later(self, *, backwards: bool) -> None:
        """Go to the next place that somebody has read after it was stored."""
        screen = self._screen
        log = screen.log_shown
        line = log.line_of_row(screen.view.cursor)

        def work() -> None:
            found = Reads(screen.artifact).next_line(log, line, forwards=not backwards)
            if found is None:
                where = "before" if backwards else "behind"
                self._show(lambda: screen.tell(f"nothing {where} this was read later"))
            else:
                self._show(lambda: self._go(log, found))

        self._worker = self._start(work, "go")

    def marks(self) -> None:
        """Show what the model saw, and what was read later."""
        screen = self._screen
        log = screen.log_shown

        def work() -> None:
            seen = what_was_seen(screen.session, screen.artifact)
            reads = Reads(screen.artifact)
            spans = seen.spans(log.artifact, log.stream)

            def show() -> None:
                if log is not screen.log_shown:
                    return
                screen.view.seen, screen.view.reads = seen, reads
                screen.map.spans, screen.map.lines = spans, log.info.view(log.stream).lines
                screen.map.refresh()
                screen.view.refresh()
                later = count(sum(read.shown for read in reads.items), "later read")
                if seen.how == "nothing":
                    screen.tell(f"no preview of this was recorded, so no model was shown it; {later}")
                    return
                shown = sum(span.last - span.first + 1 for span in spans if span.mark != "omitted")
                lines = f"{shown:,} of {screen.map.lines:,} lines" if spans else "each stream apart"
                who = seen.actor or "?"
                screen.tell(
                    f"{who} saw {lines} (profile {seen.profile}, {seen.strategy}, {seen.how}); {later}"
                )

            self._show(show)

        self._marker = self._start(work, "marks")  # a key that goes somewhere does not end it

    def changes(self) -> None:
        """Show what has changed since the run before."""
        screen = self._screen

        def work() -> None:
            worker = get_current_worker()
            changes = changes_since_last_run(screen.session, screen.log_shown)
            if changes is None:
                self._show(
                    lambda: screen.tell("nothing was stored before of the same command in the same folder")
                )
                return
            while not changes.run(_STEP):
                if worker.is_cancelled:
                    return
                self._show(
                    lambda: screen.tell(f"comparing with {changes.base.id}: {100 * changes.progress:.0f}%")
                )
            if not changes.differences.sections():
                self._show(lambda: screen.tell(f"since {changes.base.id}: {changes.summary}"))
                return

            def went(line: int | None) -> None:
                if line is not None:
                    screen.go(screen.log_shown.row_of_line(line))

            self._show(lambda: screen.app.push_screen(ChangesScreen(changes), went))
            self._show(screen.tell)

        self._worker = self._start(work, "go")

    def export(self, path: str, rows: tuple[int, int] | None) -> None:
        """Write rows, or all, to a file, and say where it is."""
        screen = self._screen
        target = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111  # no link is followed

        def work() -> None:
            if rows is None:
                size = export_all(screen.session, screen.log_shown, target)
            else:
                size = export_rows(screen.log_shown, target, *rows)
            self._show(lambda: screen.tell(f"{human_size(size)} in {target}"))

        self._worker = self._start(work, "go")

    # --- inside -----------------------------------------------------------------------------------------

    def _go(self, log: Log, line: int) -> None:
        if log is self._screen.log_shown:
            self._screen.follows = False
            self._screen.go(log.row_of_line(line))

    def _start(self, work: Callable[[], None], group: str) -> Worker[None]:
        """Run it on a thread, in place of what its group does; an error of the store is told."""

        def told() -> None:
            try:
                work()
            except SpillstoreError as error:
                message = str(error)
                self._show(lambda: self._screen.tell(message))

        return self._screen.run_worker(told, group=group, thread=True, exclusive=True)

    def _show(self, function: Callable[[], Any]) -> None:
        """Call a function on the thread of the screen, while there is one."""
        screen = self._screen
        if screen.is_running:
            try:
                screen.app.call_from_thread(function)
            except (RuntimeError, WorkerCancelled):  # it has ended meanwhile
                return
