"""Lines of an artifact that match a pattern, and nodes of JSON in it that a query selects; each call is an event."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.artifact.reader import ArtifactReader
from spillstore.audit.read_log import iterated, recorded
from spillstore.exceptions import QueryError, RangeError
from spillstore.model.arguments import MAX_BYTES, line_number, whole_number
from spillstore.model.records import view_of
from spillstore.read.iteration import batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.info import BadLine, Cleaner, QueryMatch, QueryResult, SearchResult, Stream
    from spillstore.jsonpath.query import Query
    from spillstore.jsonstring import JSONString


class SearchableArtifact(ArtifactReader):
    """Searches what an artifact holds; ``Artifact`` describes the parameters that the methods share."""

    @recorded("search", stream="stream")
    def search(
        self,
        pattern: str,
        *,
        stream: Stream = "combined",
        context: int = 0,
        limit: int = 50,
        cursor: str | None = None,
        ignore_case: bool = False,
        literal: bool = False,
        invert: bool = False,
        cleaner: Cleaner | None = None,
        seconds: float | None = None,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> SearchResult:
        r"""Lines that match a regular expression (RE2 syntax), a page at a time, in time linear in what is read.

        Args:
            pattern: matched within lines; ``^`` and ``$`` are a line's ends.
            stream: the view.
            context: lines before and after each match that are given, too.
            limit: matching lines of a page; 0 to count alone, to the end.
            cursor: of the page before; the other arguments must be the same.
            ignore_case: letters of either case are the same.
            literal: the pattern is text, not an expression.
            invert: lines that do not match.
            cleaner: what a reader sees of lines; None searches the bytes as they are stored.
            seconds: time after which the page ends with what it has.
            on_progress: see the class.

        Returns:
            The page. Lines above 16 MiB are searched in windows that overlap by 1 MiB. What a rolled artifact has
            dropped is left out, and noted.

        Raises:
            PatternError: no expression, or one with look-around or back-references.
            RangeError: arguments that mean nothing.
            IntegrityError: a damaged chunk.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     page = session.put("one\ntwo\nthree\n").search("^t")
            ...     [(match.line, match.byte, match.text) for match in page.matches], page.complete
            ([(2, 4, 'two'), (3, 8, 'three')], True)
        """
        from spillstore.search.search_page import Search  # noqa: PLC0415  # few programs search

        example = 'search("error", limit=50)'
        if not isinstance(pattern, str):
            raise RangeError(f"pattern must be text, not {pattern!r}; for example {example}")
        view_of(stream)
        return Search(
            self.unrecorded(),
            functools.partial(batches, self._handle),
            pattern,
            stream=stream,
            context=whole_number(context, "context", example),
            limit=whole_number(limit, "limit", example),
            cursor=cursor,
            ignore_case=ignore_case,
            literal=literal,
            invert=invert,
            cleaner=cleaner,
            seconds=seconds,
            on_progress=on_progress,
        ).run()

    @recorded("query", stream="stream")
    def query(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        limit: int = 100,
        max_bytes: int = MAX_BYTES,
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> QueryResult:
        r"""Nodes of JSON that a JSONPath query (RFC 9535) selects, a page at a time.

        Args:
            query: for example ``$.users[?@.age > 30].name``.
            stream: the view.
            limit: nodes of a page; 0 to count alone.
            max_bytes: JSON of a page; a node that alone has more is a page of its own.
            cursor: of the page before; the other arguments must be the same.
            lines: whether each line is a document; None finds out.
            start_line: where the JSON begins, if something else was printed before.
            seconds: after which the query is given up; None for never.

        Returns:
            The page. Cost: decoding up to 16 MiB at once, at about 50 MB/s; what is larger is gone through in flat
            memory. Numbers are exact but for the last digit of a float. Of a name that an object repeats the last
            counts; in an object that is gone through, each does.

        Raises:
            QueryError: no JSONPath.
            QueryLimitError: a node of more than 16 MiB, ``$`` in a filter of a document that is larger, a query that
                takes too long.
            NotJSONError: no JSON, and nothing was found before that showed.
            RangeError, DroppedRangeError, IntegrityError: see the class.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put('{"users": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 7}]}')
            ...     page = artifact.query("$.users[?@.age > 30].name")
            ...     [(match.path, match.value) for match in page.matches], page.total
            ([("$['users'][0]['name']", 'Ann')], 1)
        """
        example = 'query("$.users[?@.age > 30]", limit=100)'
        most = whole_number(limit, "limit", example)
        size = whole_number(max_bytes, "max_bytes", example)
        return self._query(query, stream, cursor, lines, start_line, seconds).page(most, size)

    def nodes(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = None,
    ) -> Iterator[QueryMatch | BadLine]:
        """All nodes that a JSONPath query selects, one by one, in flat memory; parameters are those of ``query``.

        Yields:
            The nodes, and between them the lines that are no JSON, where each line is a document.

        Raises:
            QueryError, QueryLimitError, NotJSONError: as for ``query``, behind the nodes that were found before.
            RangeError, DroppedRangeError, IntegrityError: see the class.
        """
        found = self._query(query, stream, cursor, lines, start_line, seconds).nodes()
        return iterated(self._log, found, {"stream": stream}, lambda _: 1, kind="query", size="nodes")

    def string(
        self,
        path: str,
        *,
        stream: Stream = "combined",
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> JSONString:
        r"""The one string that a JSONPath query finds in JSON, with lines of its own; parameters are those of ``query``.

        Returns:
            The string. Cost: the query, and the string in memory, twice for a moment.

        Raises:
            QueryError: no JSONPath, or it finds nothing, several nodes, or what is no string.
            QueryLimitError, NotJSONError, RangeError, DroppedRangeError, IntegrityError: as for ``query``; a string may have
                16 MiB.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put('{"stdout": "one\\ntwo\\nthree", "exit_code": 1}')
            ...     artifact.string("$.stdout").read_lines(2, 2)
            b'two\n'
        """
        from spillstore.jsonstring import JSONString, only_string  # noqa: PLC0415  # few programs query

        page = self.query(path, stream=stream, limit=2, lines=lines, start_line=start_line, seconds=seconds)
        found, text = only_string(path, page.matches)
        return JSONString(self.info, found, text.encode(errors="replace"))

    def _query(
        self,
        query: str,
        stream: Stream,
        cursor: str | None,
        lines: bool | None,  # noqa: FBT001  # of our own calls
        start_line: int,
        seconds: float | None,
    ) -> Query:
        from spillstore.jsonpath.query import Query  # noqa: PLC0415  # few programs query

        example = 'query("$.users[?@.age > 30]")'
        if not isinstance(query, str):
            raise QueryError(f"a query is text, not {query!r}; for example {example}")
        start_line = line_number(start_line, "start_line", example)
        if cursor is not None and not isinstance(cursor, str):
            raise RangeError(f"{cursor!r} is no cursor; take it from the page before")
        view_of(stream)
        return Query(
            self.unrecorded(),
            query,
            stream=stream,
            cursor=cursor,
            lines=lines,
            start_line=start_line,
            seconds=seconds,
        )
