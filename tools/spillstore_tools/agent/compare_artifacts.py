r"""The tool ``compare_artifacts``: lines that are new in an artifact, and lines that are gone since the one before.

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

Answers are bounded as those of ``get_artifact`` are; a cursor leads to the next lines, and following the cursors shows
each line once. The first answer has the facts about both artifacts. A comparison that takes longer than five seconds is
reported as unfinished, and its cursor continues it. The last two comparisons of a session stay in memory, so a page costs
what it shows.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakKeyDictionary

from spillstore_tools.agent.answers import (
    SECONDS,
    Answer,
    answer_size,
    max_chars_argument,
    reading_tool,
    signed,
)
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, one_of, unquoted
from spillstore_tools.agent.artifacts import STREAMS, find_artifact, previous_run, stream_argument
from spillstore_tools.agent.definitions import CURSOR, MAX_CHARS, STREAM, ToolDefinition
from spillstore_tools.compare.report import change_row, facts, section_title, summary
from spillstore_tools.describe import human_size, shortened
from spillstore_tools.output.signed_answers import ROOM as SIGNATURE_ROOM
from spillstore_tools.preview.text.clean import one_line
from spillstore_tools.process.working_folders import folder_of

if TYPE_CHECKING:
    from spillstore import Artifact, Session
    from spillstore.info import Stream
    from spillstore_tools.compare.changed_lines import Change
    from spillstore_tools.compare.differences import Differences

_LINE = 400  # characters of a line that are shown
_KEPT = 2  # comparisons of a session
_COMMAND = 60
_SIDE = 40  # characters of the facts about one artifact for which there is always room
_AROUND = 10  # lines before and after the first change, in the call that shows it
_CURSOR = re.compile(
    r"(combined|stdout|stderr)(:exact)?:(\d{1,18})-(\d{1,18}):(?:wait(\d{1,9})|(\d)\.(\d{1,18})\.([0-9a-f]{8}))",
    re.ASCII,
)
_ALL = "[that is all]\n"
_CUT = "]\n"
_EXAMPLE = 'compare_artifacts(id="{}", base="{}")'

DEFINITION = ToolDefinition(
    name="compare_artifacts",
    description=(
        "Compare a stored output with that of the run before: lines that are new and lines that are gone, errors "
        "and failures first. Times, numbers and addresses are not compared."
    ),
    properties={
        "id": {"type": "string", "description": "The newer artifact's id"},
        "base": {
            "type": "string",
            "description": "The older artifact's id (default: the run before of the same command)",
        },
        "stream": STREAM,
        "exact": {"type": "boolean", "description": "Compare times, numbers and addresses, too"},
        "cursor": CURSOR,
        "max_chars": MAX_CHARS,
    },
    required=("id",),
)


@reading_tool("compare")
def compare_artifacts(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name in the tool's schema
    base: object = None,
    stream: object = None,
    exact: object = None,
    cursor: object = None,
    max_chars: object = None,
) -> Answer:
    """Lines that are new in an artifact and lines that are gone, in at most ``max_chars`` characters. Arguments are a model's.

    Args:
        session: the session that holds both.
        id: the newer one.
        base: the older one; by default the last one before it of the same tool and command, run in the same folder.
        stream: ``combined`` (the default), ``stdout`` or ``stderr`` of both.
        exact: whether times, numbers and addresses are compared, too.
        cursor: from the answer before.
        max_chars: 8,000 by default, from 500 to 100,000.

    Returns:
        The answer; after five seconds it says how far the comparison has come. Cost: about 50 ns a byte of both for the
        first answer, what is shown for each that follows soon.

    Raises:
        ClosedError: the session is closed.
    """
    artifact, view = find_artifact(session, id)
    older = _run_before(session, artifact) if absent(base) else find_artifact(session, base)[0]
    size = answer_size(max_chars)
    if absent(cursor):
        chosen = cast("Stream", one_of("stream", stream, STREAMS, view or "combined"))
        request = _Request(older.id, artifact.id, chosen, exact=flag("exact", exact))
        place = _Place()
    else:
        request, place = _of_cursor(cursor, older, artifact)
    try:
        answer = _ComparisonAnswer(session, older, artifact, request, size).answer(place)
    except OSError as error:
        raise ArgumentError(f"no room for its files: {error.strerror or error}") from error
    return signed(session, answer)


def _run_before(session: Session, artifact: Artifact) -> Artifact:
    info = artifact.info
    if (found := previous_run(session, artifact)) is not None:
        return found
    folder = folder_of(artifact)
    where = "" if folder is None else f" in {one_line(folder)}"
    what = f"{one_line(info.source)[:40]} {one_line(info.command or '')[:_COMMAND]}".strip()
    raise ArgumentError(
        f"nothing was stored of {what!r}{where} before {artifact.id}; name the older one, "
        f"for example {_EXAMPLE.format(artifact.id, 'art_...')}; list_artifacts() shows what there is"
    )


class _Request(NamedTuple):
    """Two artifacts and how they are compared; ``sizes`` are the bytes of both, None for all."""

    base: str
    id: str
    stream: Stream
    exact: bool
    sizes: tuple[int, int] | None = None


class _Place(NamedTuple):
    """Where an answer begins: a section and a place in it, or the seconds spent on an unfinished comparison."""

    section: int = 0
    start: int = 0
    checksum: str | None = None  # of the comparison; None for the first answer
    waited: int = 0


def _of_cursor(cursor: object, base: Artifact, artifact: Artifact) -> tuple[_Request, _Place]:
    match = _CURSOR.fullmatch(unquoted(cursor))
    if match is None:
        raise ArgumentError(
            f"{str(cursor)[:80]!r} is no cursor; take it from the answer before, or begin with "
            + _EXAMPLE.format(artifact.id, base.id)
        )
    sizes = int(match[3]), int(match[4])
    request = _Request(base.id, artifact.id, cast("Stream", match[1]), bool(match[2]), sizes)
    if match[5] is not None:
        return request, _Place(waited=int(match[5]))
    return request, _Place(int(match[6]), int(match[7]), match[8])


class _Recent:
    """The comparisons that were made last, by session: a request that comes again continues the same one."""

    def __init__(self) -> None:
        self._by_session: WeakKeyDictionary[Session, OrderedDict[_Request, Differences]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def find_or_add(self, session: Session, request: _Request, new: Differences) -> tuple[Differences, bool]:
        """The comparison for a request, and whether it was there before."""
        with self._lock:
            known = self._by_session.setdefault(session, OrderedDict())
            was_known = request in known
            found = known.setdefault(request, new)
            known.move_to_end(request)
            while len(known) > _KEPT:
                known.popitem(last=False)
        return found, was_known

    def forget(self, session: Session, request: _Request) -> None:
        """Drop a comparison that failed."""
        with self._lock:
            self._by_session[session].pop(request, None)

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._by_session.clear()


_recent = _Recent()


class _ComparisonAnswer:
    """Makes the answers for one comparison.

    Args:
        session: the session that holds both artifacts.
        base: the older one.
        artifact: the newer one.
        request: how they are compared.
        size: characters of the answer.
    """

    def __init__(
        self, session: Session, base: Artifact, artifact: Artifact, request: _Request, size: int
    ) -> None:
        from spillstore_tools.compare.differences import Differences  # noqa: PLC0415  # few compare, and it is large

        self._base = base
        self._artifact = artifact
        self._chars = size
        differences = Differences(
            base, artifact, stream=request.stream, exact=request.exact, sizes=request.sizes
        )
        self._request = request._replace(sizes=differences.sizes)
        self._session = session
        self._differences, self._was_begun = _recent.find_or_add(session, self._request, differences)

    def answer(self, place: _Place) -> Answer:
        """The answer that begins at a place."""
        found = self._differences
        with found.lock:
            try:
                # Where the work so far is lost, each call gets more time: it must finish some day.
                finished = found.run(SECONDS if self._was_begun else SECONDS + place.waited)
            except BaseException:
                _recent.forget(self._session, self._request)
                raise
            if not finished:
                return self._unfinished(place.waited + math.ceil(SECONDS))
            if found.verdict != "different" or any(found.kinds):
                return self._composed(self._facts(_ALL), "", None)
            checksum = f"{found.checksum():08x}"
            if place.checksum not in {None, checksum}:
                raise ArgumentError(
                    "the cursor is of another comparison, or more was dropped since; begin again: "
                    + _EXAMPLE.format(self._artifact.id, self._base.id)
                )
            return self._page(place._replace(checksum=checksum), first=place.checksum is None)

    def _page(self, place: _Place, *, first: bool) -> Answer:
        sections = self._differences.sections()
        more = self._more(place._replace(start=max(section.size for section in sections)))
        header = self._facts(more) if first else self._header(continued=True)
        room = self._chars - SIGNATURE_ROOM - len(header) - len(more)
        pieces: list[str] = []
        shown: Change | None = None
        for number, section in enumerate(sections[place.section :], place.section):
            start = place.start if number == place.section else 0
            before = f"[{section_title(section, sections)}]\n"
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
        view = stream_argument(self._request.stream)
        place = f"start_byte={change.start}, end_byte={change.end}"
        shown = change_row(change, _LINE, f'all of it: get_artifact(id="{artifact.id}", {place}{view})')
        if room is None or len(shown) <= room:
            return shown
        whole_line = f"bytes {change.start}-{change.end}"
        words = len(change_row(change, 0, whole_line, brief=True))
        return change_row(change, max(0, room - words), whole_line, brief=True)

    def _composed(
        self, header: str, content: str, place: _Place | None, shown: Change | None = None
    ) -> Answer:
        cursor = None
        end = _ALL
        if place is not None:
            cursor = self._cursor(f"{place.section}.{place.start}.{place.checksum}")
            end = self._more(place)
        elif shown is not None:
            artifact = self._artifact if shown.sort == "new" else self._base
            low, high = max(1, shown.line - _AROUND), shown.line + _AROUND
            view = stream_argument(self._request.stream)
            call = f'get_artifact(id="{artifact.id}", start_line={low}, end_line={high}{view})'
            longer = f"[that is all; around the first: {call}]\n"
            fits = len(header) + len(content) + len(longer) + SIGNATURE_ROOM <= self._chars
            end = longer if fits else end
        return self._answer(f"{header}{content}{end}", content, cursor)

    def _unfinished(self, waited: int) -> Answer:
        cursor = self._cursor(f"wait{waited}")
        done = int(self._differences.progress * 100)
        rest = (
            f"[{self._artifact.id} against {self._base.id}: not finished after {waited} seconds; {done} % of "
            f"{human_size(sum(self._differences.sizes))} are read; go on: {self._call(cursor)}]\n"
        )
        return self._answer(f"{self._sides(self._chars - SIGNATURE_ROOM - len(rest))}{rest}", "", cursor)

    def _answer(self, text: str, content: str, cursor: str | None) -> Answer:
        view, size = self._artifact.info.view(self._request.stream), self._differences.sizes[1]
        return Answer(
            text=text,
            content=content,
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=self._request.stream,
            total_size=size,
            total_lines=view.lines if view.size == size else 0,  # those of a part are not known
        )

    def _facts(self, rest: str) -> str:
        """The facts about both, in what room the rest of the answer leaves."""
        room = self._chars - SIGNATURE_ROOM - len(rest)
        header, most = self._header(), room - 2 * _SIDE
        if len(header) > most:
            header = f"{shortened(header, most - len(_CUT))}{_CUT}"
        return header + self._sides(room - len(header))

    def _header(self, *, continued: bool = False) -> str:
        if continued:
            return f"[{self._artifact.id} against {self._base.id}, continued]\n"
        return f"[{self._artifact.id} against {self._base.id}: {summary(self._differences, exact=self._request.exact)}]\n"

    def _sides(self, room: int) -> str:
        """The facts about each, in a line; where the room is short, half of it for each."""
        before, now = self._base.info, self._artifact.info
        swapped = ", newer than the other" if before.created > now.created else ""
        stream = self._request.stream
        lines = [("base: ", facts(before, stream), f"{swapped}\n"), ("now: ", facts(now, stream), "\n")]
        if sum(map(len, itertools.chain.from_iterable(lines))) > room:
            each = max(_SIDE, room // 2)
            lines = [(name, shortened(words, each - len(name) - len(end)), end) for name, words, end in lines]
        return "".join(itertools.chain.from_iterable(lines))

    def _cursor(self, place: str) -> str:
        before, now = self._differences.sizes
        return f"{self._request.stream}{':exact' if self._request.exact else ''}:{before}-{now}:{place}"

    def _more(self, place: _Place) -> str:
        return f"[more: {self._call(self._cursor(f'{place.section}.{place.start}.{place.checksum}'))}]\n"

    def _call(self, cursor: str) -> str:
        chars = max_chars_argument(self._chars)
        return (
            f'compare_artifacts(id="{self._artifact.id}", base="{self._base.id}", cursor="{cursor}"{chars})'
        )
