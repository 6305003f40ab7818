r"""``compare_artifacts``: what an output has that the one before did not, and what is gone.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     before = session.put("10:00:01 start\ntest_b ok in 0.2s\n", source="bash", command="make test")
    ...     now = session.put("11:30:59 start\ntest_b FAILED\n", source="bash", command="make test")
    ...     answer = compare_artifacts(session, id=now.id)
    ...     print(answer.content, end="")
    [new: what matters]
    +2:test_b FAILED
    [gone: what else]
    -2:test_b ok in 0.2s

Answers are bounded as those of ``get_artifact`` are; a cursor leads to the next lines, and walking the cursors gives each
once. The first answer has the facts of both. A comparison that takes longer than five seconds is said to be unfinished,
and the cursor goes on with it; those of a session that were made last are kept, so that a page costs what it shows.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakKeyDictionary

from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, one_of
from spillstore_tools.agent.audited import audited
from spillstore_tools.agent.retrieval import (
    MAX_CHARS,
    STREAMS,
    Answer,
    closed,
    find_artifact,
    of_session,
    room_of,
)
from spillstore_tools.compare.differences import Differences
from spillstore_tools.describe import count, human_size, utc
from spillstore_tools.output.signature import ROOM as MARK_ROOM
from spillstore_tools.preview.text.clean import one_line
from spillstore_tools.preview.text.graphemes import grapheme_boundary
from spillstore_tools.process.working_folders import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillstore import Artifact, ArtifactInfo, Session
    from spillstore.info import Stream
    from spillstore_tools.compare.differences import Change, Section

SECONDS = 5.0
_LINE = 400  # characters of a line that are shown
_KEPT = 2  # comparisons of a session
_COMMAND = 60
_AROUND = 10  # lines before and after one that the last words offer to show
_CURSOR = re.compile(
    r"(combined|stdout|stderr)(:exact)?:(\d{1,18})-(\d{1,18}):(?:wait(\d{1,9})|(\d)\.(\d{1,18})\.([0-9a-f]{8}))",
    re.ASCII,
)
_RIGHT = 'compare_artifacts(id="{}", base="{}")'
_kept: WeakKeyDictionary[Session, OrderedDict[_Wanted, Differences]] = WeakKeyDictionary()
_keeping = threading.Lock()  # of ``_kept``


@audited("compare")
def compare_artifacts(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name that models are told
    base: object = None,
    stream: object = None,
    exact: object = None,
    cursor: object = None,
    max_chars: object = None,
) -> Answer:
    """Lines that are new in an artifact and lines that are gone, in at most ``max_chars`` characters. Arguments are a model's.

    Args:
        session: where both are.
        id: the newer one.
        base: the older one; where it is left out, the last one before it of the same tool and command, run in the same folder.
        stream: ``combined`` (the default), ``stdout`` or ``stderr`` of both.
        exact: compare times, numbers and addresses, too.
        cursor: of the answer before.
        max_chars: 8,000 by default, from 500 to 100,000.

    Returns:
        The answer; after five seconds, how far it is. Cost: about 50 ns a byte of both for the first one, what is shown
        for each that follows soon.

    Raises:
        ClosedError: the session is closed.
    """
    try:
        artifact, view = find_artifact(session, id)
        older = run_before(session, artifact) if absent(base) else find_artifact(session, base)[0]
        room = room_of(max_chars)
        if absent(cursor):
            chosen = cast("Stream", one_of("stream", stream, STREAMS, view or "combined"))
            wanted = _Wanted(older.id, artifact.id, chosen, exact=flag("exact", exact))
            place = _Place()
        else:
            wanted, place = _of_cursor(cursor, older, artifact)
        return of_session(session, _Comparison(session, older, artifact, wanted, room).answer(place))
    except ArgumentError as error:
        return Answer(text=f"compare_artifacts: {error}\n", is_error=True)
    except OSError as error:
        return Answer(
            text=f"compare_artifacts: no room for its files: {error.strerror or error}\n", is_error=True
        )
    except SpillstoreError as error:
        if closed(session):
            raise
        return Answer(text=f"compare_artifacts: {error}\n", is_error=True)


def last_before(session: Session, artifact: Artifact) -> Artifact | None:
    """The last artifact before one that the same tool printed for the same command in the same folder, if there is any."""
    info, folder = artifact.info, folder_of(artifact)
    before = itertools.dropwhile(lambda each: each.id != info.id, session.infos(source=info.source))
    for each in itertools.islice(before, 1, None):
        if each.command == info.command:
            found = session.artifact(each.id)
            if folder_of(found) == folder:
                return found
    return None


def run_before(session: Session, artifact: Artifact) -> Artifact:
    """``last_before`` for models.

    Raises:
        ArgumentError: there is none.
    """
    info = artifact.info
    if (found := last_before(session, artifact)) is not None:
        return found
    folder = folder_of(artifact)
    where = "" if folder is None else f" in {one_line(folder)}"
    what = f"{one_line(info.source)[:40]} {one_line(info.command or '')[:_COMMAND]}".strip()
    raise ArgumentError(
        f"nothing was stored of {what!r}{where} before {artifact.id}; name the older one, "
        f"for example {_RIGHT.format(artifact.id, 'art_...')}; list_artifacts() shows what there is"
    )


class _Wanted(NamedTuple):
    """What is compared."""

    base: str
    id: str
    stream: Stream
    exact: bool
    sizes: tuple[int, int] | None = None


class _Place(NamedTuple):
    """Where an answer begins: a section and a place in it; or that a comparison is not finished."""

    section: int = 0
    start: int = 0
    checksum: str | None = None  # None: it is the first answer
    waited: int = 0


def _of_cursor(cursor: object, base: Artifact, artifact: Artifact) -> tuple[_Wanted, _Place]:
    match = _CURSOR.fullmatch(str(cursor).strip().strip("\"'`"))
    if match is None:
        raise ArgumentError(
            f"{str(cursor)[:80]!r} is no cursor; take it from the answer before, or begin with "
            + _RIGHT.format(artifact.id, base.id)
        )
    sizes = int(match[3]), int(match[4])
    wanted = _Wanted(base.id, artifact.id, cast("Stream", match[1]), bool(match[2]), sizes)
    if match[5] is not None:
        return wanted, _Place(waited=int(match[5]))
    return wanted, _Place(int(match[6]), int(match[7]), match[8])


class _Comparison:
    """Makes the answers for one comparison."""

    def __init__(
        self, session: Session, base: Artifact, artifact: Artifact, wanted: _Wanted, room: int
    ) -> None:
        self._base = base
        self._artifact = artifact
        self._room = room
        differences = Differences(
            base, artifact, stream=wanted.stream, exact=wanted.exact, sizes=wanted.sizes
        )
        self._wanted = wanted._replace(sizes=differences.sizes)
        self._session = session
        with _keeping:
            kept = _kept.setdefault(session, OrderedDict())
            self._was_begun = self._wanted in kept
            self._differences = kept.setdefault(self._wanted, differences)
            kept.move_to_end(self._wanted)
            while len(kept) > _KEPT:
                kept.popitem(last=False)

    def answer(self, place: _Place) -> Answer:
        """The answer that begins at a place."""
        with self._differences.lock:
            return self._answer(place)

    def _answer(self, place: _Place) -> Answer:
        found = self._differences
        try:
            # Where what was done is lost, more time is given each time: it must end at some time.
            finished = found.run(SECONDS if self._was_begun else SECONDS + place.waited)
        except BaseException:
            self._forget()
            raise
        if not finished:
            return self._unfinished(place.waited + math.ceil(SECONDS))
        if found.verdict != "different" or any(found.kinds):
            return self._composed(self._facts(), "", None)
        checksum = f"{found.checksum():08x}"
        if place.checksum not in {None, checksum}:
            raise ArgumentError(
                "the cursor is of another comparison, or more was dropped since; begin again: "
                + _RIGHT.format(self._artifact.id, self._base.id)
            )
        return self._page(place._replace(checksum=checksum), first=place.checksum is None)

    def _forget(self) -> None:
        with _keeping:
            _kept[self._session].pop(self._wanted, None)

    def _page(self, place: _Place, *, first: bool) -> Answer:
        header = self._facts() if first else self._header(continued=True)
        sections = self._differences.sections()
        longest = max(section.size for section in sections)
        room = self._room - MARK_ROOM - len(header) - len(self._more(place._replace(start=longest)))
        pieces: list[str] = []
        shown: Change | None = None
        for number, section in enumerate(sections[place.section :], place.section):
            start = place.start if number == place.section else 0
            before = f"[{title(section, sections)}]\n"
            last: Change | None = None
            for rank, change in enumerate(self._differences.changes(section, start), start):
                if last is not None:
                    before = "--\n" if change.line > last.line + 1 else ""
                piece = before + self._row(change, None if pieces or first else room - len(before))
                if len(piece) > room:
                    return self._composed(header, "".join(pieces), place._replace(section=number, start=rank))
                pieces.append(piece)
                room -= len(piece)
                last = change
                shown = shown or change
        return self._composed(header, "".join(pieces), None, shown)

    def _row(self, change: Change, room: int | None) -> str:
        """A change as a line; the first one of an answer must fit."""
        artifact = self._artifact if change.sort == "new" else self._base
        view = "" if self._wanted.stream == "combined" else f', stream="{self._wanted.stream}"'
        place = f"start_byte={change.start}, end_byte={change.end}"
        shown = row(change, _LINE, f'all of it: get_artifact(id="{artifact.id}", {place}{view})')
        if room is None or len(shown) <= room:
            return shown
        whole_line = f"bytes {change.start}-{change.end}"
        words = len(row(change, 0, whole_line, brief=True))
        return row(change, max(0, room - words), whole_line, brief=True)

    def _composed(
        self, header: str, content: str, place: _Place | None, shown: Change | None = None
    ) -> Answer:
        cursor = None
        end = "[that is all]\n"
        if place is not None:
            cursor = self._cursor(f"{place.section}.{place.start}.{place.checksum}")
            end = self._more(place)
        elif shown is not None:
            artifact = self._artifact if shown.sort == "new" else self._base
            low, high = max(1, shown.line - _AROUND), shown.line + _AROUND
            view = "" if self._wanted.stream == "combined" else f', stream="{self._wanted.stream}"'
            call = f'get_artifact(id="{artifact.id}", start_line={low}, end_line={high}{view})'
            longer = f"[that is all; around the first: {call}]\n"
            fits = len(header) + len(content) + len(longer) + MARK_ROOM <= self._room
            end = longer if fits else end
        return Answer(
            text=f"{header}{content}{end}",
            content=content,
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=self._wanted.stream,
            total_size=self._differences.sizes[1],
        )

    def _unfinished(self, waited: int) -> Answer:
        cursor = self._cursor(f"wait{waited}")
        done = int(self._differences.progress * 100)
        text = (
            f"{self._artifact.id} against {self._base.id}: not finished after {waited} seconds; {done} % of "
            f"{human_size(sum(self._differences.sizes))} are read; go on: {self._call(cursor)}"
        )
        facts = "".join(self._sides())
        return Answer(
            text=f"{facts}[{text}]\n",
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=self._wanted.stream,
        )

    # --- words --------------------------------------------------------------------------------------------

    def _facts(self) -> str:
        return f"{self._header()}{''.join(self._sides())}"

    def _header(self, *, continued: bool = False) -> str:
        if continued:
            return f"[{self._artifact.id} against {self._base.id}, continued]\n"
        return f"[{self._artifact.id} against {self._base.id}: {summary(self._differences, exact=self._wanted.exact)}]\n"

    def _sides(self) -> Iterator[str]:
        before, now = self._base.info, self._artifact.info
        swapped = ", newer than the other" if before.created > now.created else ""
        yield f"base: {facts(before, self._wanted.stream)}{swapped}\n"
        yield f"now: {facts(now, self._wanted.stream)}\n"

    def _cursor(self, place: str) -> str:
        before, now = self._differences.sizes
        return f"{self._wanted.stream}{':exact' if self._wanted.exact else ''}:{before}-{now}:{place}"

    def _more(self, place: _Place) -> str:
        return f"[more: {self._call(self._cursor(f'{place.section}.{place.start}.{place.checksum}'))}]\n"

    def _call(self, cursor: str) -> str:
        chars = "" if self._room == MAX_CHARS else f", max_chars={self._room}"
        return (
            f'compare_artifacts(id="{self._artifact.id}", base="{self._base.id}", cursor="{cursor}"{chars})'
        )


def summary(found: Differences, *, exact: bool) -> str:
    """What a finished comparison has found, in a sentence."""
    folded = "times, numbers and addresses"
    notes = "".join(f"; {note}" for note in found.notes)
    if found.verdict == "identical":
        return "identical, byte for byte"  # what was dropped as well: the digest is over all that came
    kinds = sorted({kind.name for kind in found.kinds if kind is not None})
    if kinds:
        where = "" if found.differ_at is None else f", from byte {found.differ_at} on"
        return f"different{where}; not compared by lines: {', '.join(kinds)}{notes}"
    if found.verdict == "alike":
        rest = "" if exact else f"{folded}, or "
        return f"the same lines in the same order, but for {rest}escape sequences and line ends{notes}"
    if found.verdict == "reordered":
        rest = "" if exact else f", but for {folded}"
        return f"the same lines in another order{rest}{notes}"
    new, gone, both = found.totals()
    how = "" if exact else f"; {folded} folded"
    return f"{count(new, 'new line')}, {gone:,} gone, {both:,} in both{how}{notes}"


def facts(info: ArtifactInfo, stream: Stream, when: Callable[[float], str] = utc) -> str:
    """What is known of one of the two, in a line; ``when`` tells a moment."""
    view = info.view(stream)
    ended = info.state if info.exit_code is None else f"exit code {info.exit_code}"
    duration = "" if info.duration is None else f", {info.duration:.1f} s"
    command = one_line(info.command or "")
    command = command if len(command) <= _COMMAND else f"{command[: _COMMAND - 3]}..."
    words = f"{ended}, {human_size(view.size)}, {count(view.lines, 'line')}{duration}, {when(info.created)}"
    return f"{words}, {command}" if command else words


def title(section: Section, sections: Sequence[Section]) -> str:
    """What is said above a section."""
    if section.telling:
        return f"{section.sort}: what matters"
    return f"{section.sort}: what else" if sections[0].telling else section.sort


def row(change: Change, most: int | None, whole_line: str, *, brief: bool = False) -> str:
    """A change as a line, ``+12:text`` or ``-12:text``, with what is to be said of it.

    Args:
        change: the change.
        most: characters of its text that are shown; None for all there are.
        whole_line: where all of it is, if it is not shown.
        brief: leave the counts out.
    """
    text = change.text if most is None else change.text[: grapheme_boundary(change.text, most)]
    note = "" if change.complete and len(text) == len(change.text) else f"[... {whole_line}]"
    if change.more:
        counts = "" if brief else f"; {change.base:,} in the base, {change.now:,} now"
        note += f"  [and {change.more:,} more like this{counts}]"
    return f"{'+' if change.sort == 'new' else '-'}{change.line}:{text}{note}\n"
