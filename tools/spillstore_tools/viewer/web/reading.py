"""A log that is being read in a browser: its rows with all that is known of them, its searches, its maps."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from spillstore_tools.describe import count
from spillstore_tools.viewer.model.hits import Hits
from spillstore_tools.viewer.model.log import Log
from spillstore_tools.viewer.model.previous import changes_since_last_run
from spillstore_tools.viewer.model.reads import Reads
from spillstore_tools.viewer.model.seen import Seen, what_was_seen
from spillstore_tools.viewer.model.telling import next_telling, previous_telling
from spillstore_tools.viewer.web.html import Html
from spillstore_tools.viewer.web.line_html import Content
from spillstore_tools.viewer.web.log_rows import row_html
from spillstore_tools.viewer.web.log_words import amount_of, reader_words
from spillstore_tools.viewer.web.parameters import BadRequestError

if TYPE_CHECKING:
    from spillstore import Artifact, Session
    from spillstore.info import Stream
    from spillstore_tools.viewer.model.previous import Changes
    from spillstore_tools.viewer.model.rows import Row
    from spillstore_tools.viewer.model.steps import Steps

TOOL: Final = "ui"
PARTS: Final = 400  # of a map
_SEARCHES: Final = 4  # patterns whose hits are kept
_CLASSES: Final = {"shown": "seen", "cut": "part", "omitted": "unseen"}
_NAMED: Final = 5  # readers of a row that are named


class Reading:
    """One view of an artifact, for as long as somebody reads it. Safe from any thread.

    Args:
        session: the session, open for reading.
        artifact: the artifact.
        stream: the view.
        binary: whether bytes are shown as hex; None for those that are no text.
    """

    def __init__(self, session: Session, artifact: Artifact, stream: Stream, *, binary: bool | None) -> None:
        self.session = session
        self.log = Log(artifact, stream, tool=TOOL, binary=binary)
        self._artifact = artifact
        self._lock = threading.RLock()  # protects what is below
        self._searches: OrderedDict[str, Hits] = OrderedDict()
        self._steps: tuple[tuple[int, bool], Steps[int | None]] | None = None
        self._changes: tuple[int, Changes | None] | None = None
        self.seen: Seen = what_was_seen(session, artifact)
        self.reads = Reads(artifact)

    def close(self) -> None:
        """Record what was read, and give up what goes on."""
        for hits in self._searches.values():
            hits.cancel()
        self.log.close()

    def facts(self) -> dict[str, Any]:
        """How much there is by now."""
        log = self.log
        return {
            "total": log.total,
            "state": log.info.state,
            "size": log.info.view(log.stream).size,
            "amount": self.amount(),
        }

    def amount(self) -> str:
        """The same in words."""
        view = self.log.info.view(self.log.stream)
        return amount_of(view.lines, view.size)

    # --- rows -------------------------------------------------------------------------------------------

    def rows(self, first: int, most: int, *, pattern: str | None, raw: bool) -> Html:
        """Rows as HTML."""
        content = Content(pattern, raw=raw)
        return Html("".join(self._row(row, content) for row in self.log.rows(first, most)))

    def _row(self, row: Row, content: Content) -> Html:
        kinds = [] if self.seen.how == "nothing" else [_CLASSES[self.seen.mark(row)]]
        readers = self.reads.of(row, self.log.stream) if self.reads.fetched(row, self.log.stream) else []
        said = "; ".join(map(reader_words, readers[:_NAMED]))
        more = len(readers) - _NAMED
        return row_html(
            row, content.of(row), kinds, f"{said}; and {count(more, 'more read')}" if more > 0 else said
        )

    def changes(self) -> Changes | None:
        """The comparison with the run before; None if there is none. One that was begun goes on, unless there is more by now."""
        self.log.refresh()
        with self._lock:
            size = self.log.info.size
            if self._changes is None or self._changes[0] != size:
                self._changes = size, changes_since_last_run(self.session, self.log)
            return self._changes[1]

    # --- search -----------------------------------------------------------------------------------------

    def search(self, pattern: str, seconds: float) -> dict[str, Any]:
        """Search for so many seconds; how many lines match so far, and where."""
        hits = self._hits(pattern)
        done = hits.run(seconds)
        return {
            "lines": hits.lines,
            "matches": hits.matches,
            "share": hits.progress,
            "done": done,
            "map": hits.map(PARTS),
        }

    def next(
        self, what: str, row: int, pattern: str | None, seconds: float, *, forwards: bool
    ) -> dict[str, Any]:
        """The next row of a kind behind a row, or the one before it; not `done` where it is not known yet."""
        found: int | str | None
        line = self.log.line_of_row(row) if row >= 0 else 0
        if what == "match":
            if pattern is None:
                raise BadRequestError("there is no pattern yet; search one first")
            hits = self._hits(pattern)
            found = hits.after(line) if forwards else hits.before(line)
            if found == "searching":
                hits.run(seconds)
                return {"row": None, "done": False, "at": row}
        elif what == "seen":
            found = self._edge(line, forwards=forwards)
        elif what == "read":
            found = self.reads.next_line(self.log, line, forwards=forwards)
        else:
            steps = self._telling(line, forwards=forwards)
            if not steps.run(seconds):
                return {"row": None, "done": False, "at": row}
            found = steps.result
        return {
            "row": self.log.row_of_line(found) if isinstance(found, int) else None,
            "done": True,
            "at": row,
        }

    def _hits(self, pattern: str) -> Hits:
        with self._lock:
            hits = self._searches.get(pattern)
            if hits is None:
                hits = self._searches[pattern] = Hits(self.log, pattern)
            self._searches.move_to_end(pattern)
            old = self._searches.popitem(last=False)[1] if len(self._searches) > _SEARCHES else None
        if old is not None:
            old.cancel()
        return hits

    def _telling(self, line: int, *, forwards: bool) -> Steps[int | None]:
        with self._lock:
            if self._steps is None or self._steps[0] != (line, forwards):
                self._steps = (
                    (line, forwards),
                    (next_telling if forwards else previous_telling)(self.log, line),
                )
            return self._steps[1]

    def _edge(self, line: int, *, forwards: bool) -> int | None:
        """The next line at which what the model saw begins or ends."""
        edges = [span.first for span in self.seen.spans(self._artifact.unrecorded(), self.log.stream)][1:]
        found = [edge for edge in edges if (edge > line if forwards else edge < line)]
        return (found[0] if forwards else found[-1]) if found else None

    # --- marks ------------------------------------------------------------------------------------------

    def maps(self) -> dict[str, Any]:
        """How much of each part of the bytes the model saw, and how much was read later; looked up anew."""
        seen, reads = what_was_seen(self.session, self._artifact), Reads(self._artifact)
        self.seen, self.reads = seen, reads
        size = self.log.info.view(self.log.stream).size
        return {"seen": self._seen_map(size), "reads": self._reads_map(size)}

    def _seen_map(self, size: int) -> list[float]:
        stream, gaps = self.log.stream, self.seen.gaps
        if self.seen.how == "nothing" or any((each == "combined") != (stream == "combined") for each in gaps):
            return []
        missing = _spread([(low, min(high, size)) for low, high in gaps.get(stream, ())], size)
        return [round(max(0.0, 1 - share), 3) for share in missing]

    def _reads_map(self, size: int) -> list[float]:
        spans: list[tuple[int, int]] = []
        for read in self.reads.items:
            if not read.shown or read.stream != self.log.stream:
                continue
            if read.bytes is not None:
                spans.append(read.bytes)
            elif read.lines is not None and not self.log.is_hex:
                first, last = read.lines
                spans.append((self.log.start_of(first, 0, size), self.log.start_of(last + 1, 0, size)))
        return [round(min(1.0, share), 3) for share in _spread(spans, size)]

    def saw(self) -> str:
        """What the model saw, in words."""
        if self.seen.how == "nothing":
            return "no preview is recorded"
        whom = "the model" if self.seen.actor in {None, "model"} else str(self.seen.actor)
        gaps = sum(map(len, self.seen.gaps.values()))
        what = f"all but {count(gaps, 'part')}" if gaps else "all of it"
        return f"seen by {whom}: {what}" + (
            f" ({self.seen.profile}, {self.seen.strategy})" if self.seen.profile else ""
        )

    def read_later(self) -> str:
        """How often it was read later, in words."""
        return f"read later {count(len(self.reads.items), 'time')}" + (" or more" if self.reads.more else "")


def _spread(spans: list[tuple[int, int]], size: int) -> list[float]:
    """The share of each of the parts of a view that some ranges of bytes have."""
    found = [0.0] * PARTS
    width = max(1.0, size / PARTS)
    for low, high in spans:
        for part in range(int(low / width), min(PARTS, int(max(low, high - 1) / width) + 1)):
            found[part] += max(0.0, min(high, (part + 1) * width) - max(low, part * width)) / width
    return found
