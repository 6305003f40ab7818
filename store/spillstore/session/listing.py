"""The artifacts of a session: one by its id or its tool call, or page by page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.artifact import Artifact
from spillstore.engine.rows import END, ArtifactFilter
from spillstore.exceptions import ArtifactNotFoundError, InvalidSettingError
from spillstore.ingest.session_core import not_found, with_derived_state
from spillstore.model.arguments import (
    LARGEST,
    filter_text,
    filter_time,
    page_start,
    storable,
    whole_number,
)
from spillstore.model.ids import ARTIFACT_ID, named_by
from spillstore.model.records import ArtifactRow
from spillstore.model.validation import read_artifact_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from spillstore.info import ArtifactInfo, Page, State
    from spillstore.session.handle import SessionHandle

    T = TypeVar("T")

_PAGE = 100
_LONGEST_ID = 4096  # characters of a refused id that are checked for secrets
_STATES = ("open", "sealed", "interrupted")


class ArtifactListing:
    """Finds artifacts of one session."""

    def __init__(self, session: SessionHandle) -> None:
        self._session = session

    def artifact(self, artifact_id: str) -> Artifact:
        """The artifact of that id, or of a URI ``artifact://ID``. One that is refused is recorded, as the event ``denied``.

        A URI may end in ``?stream=stderr``; it changes nothing here, since each read names its stream.

        Raises:
            ArtifactNotFoundError: this session has none of that id; an id of another session looks just the same.
        """
        try:
            return self._find(artifact_id)
        except ArtifactNotFoundError:
            well_formed = isinstance(artifact_id, str) and ARTIFACT_ID.fullmatch(named_by(artifact_id)[0])
            rules = self._session.redaction()
            refused = str(artifact_id)[:_LONGEST_ID]
            refused = refused if rules is None else rules.redact(refused)
            self._session.core.audit.denied(refused, "unknown" if well_formed else "malformed")
            raise

    def _find(self, artifact_id: str) -> Artifact:
        core = self._session.core
        self._session.check_open()
        name = named_by(artifact_id)[0] if isinstance(artifact_id, str) else ""
        if not ARTIFACT_ID.fullmatch(name):
            raise not_found(str(artifact_id)[:100], core.row.session_id)
        with core.reader() as rows:
            record = core.artifact_row(rows, name)
        core.audit.about(name)
        return Artifact(core, name, record)

    def exists(self, artifact_id: str) -> bool:
        """Whether this session holds an artifact of that id or URI."""
        try:
            self._find(artifact_id)
        except ArtifactNotFoundError:
            return False
        return True

    def matching(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``, at most ``limit``; all of an id's characters are ASCII.

        Raises:
            RangeError: the limit is no whole number from 0 on.
        """
        self._session.check_open()
        limit = min(whole_number(limit, "limit", "matching(prefix, 10)"), LARGEST)
        if not prefix.isascii():
            return []
        with self._session.core.reader() as rows:
            return rows.artifact_ids(prefix, prefix + "\U0010ffff", limit)

    def find(self, tool_call_id: str) -> Artifact:
        """The newest artifact that answers a tool call; ``artifacts(tool_call_id=...)`` has all of them.

        Cost: a look at each artifact's row, 7 ms at 10,000 of them.

        Raises:
            ArtifactNotFoundError: there is none.
            InvalidSettingError: the id is no text.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     _ = session.put("one", tool_call_id="call_1")
            ...     session.find("call_1").read()
            b'one'
        """
        if not isinstance(tool_call_id, str):
            raise InvalidSettingError(f"tool_call_id must be a string, not {tool_call_id!r}")
        for artifact in self.artifacts(tool_call_id=tool_call_id, limit=1):
            return artifact
        raise ArtifactNotFoundError(
            f"session {self._session.core.row.session_id!r} holds no artifact of the tool call {tool_call_id[:100]!r}; "
            "Session.infos() lists what there is"
        )

    def artifacts(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Artifact]:
        """The newest artifacts first: iterate over all of them, or take a page at a time.

        Args:
            source: only those of this tool.
            state: only ``open``, ``sealed`` or ``interrupted`` ones.
            tool_call_id: only those that answer this tool call.
            since: only those begun at this time or later, in seconds since 1970.
            limit: the most that a page holds, and then only that page is iterated over; None for pages of 100, and all of
                them are.
            cursor: a former page's ``cursor``, for the next one.

        Returns:
            The page. Cost: an index walk over what the page and its filters touch.

        Raises:
            InvalidSettingError: a filter, limit or cursor that means nothing.
        """
        core = self._session.core
        return self._listed(
            lambda row: Artifact(core, row.artifact_id, row),
            source,
            state,
            tool_call_id,
            since,
            limit,
            cursor,
        )

    def infos(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[ArtifactInfo]:
        """Like ``artifacts``, but what is known of each, read in one snapshot."""
        convert = partial(infos.artifact_info, self._session.core.row)
        return self._listed(convert, source, state, tool_call_id, since, limit, cursor)

    def _listed(
        self,
        convert: Callable[[ArtifactRow], T],
        source: str | None,
        state: str | None,
        tool_call_id: str | None,
        since: float | None,
        limit: int | None,
        cursor: str | None,
    ) -> Page[T]:
        """The page of ``artifacts``; each row is converted."""
        if state is not None and state not in _STATES:
            raise InvalidSettingError(f"state must be one of {', '.join(_STATES)}, not {state!r}")
        session = self._session
        tool, call = filter_text(source, "source"), filter_text(tool_call_id, "tool_call_id")
        filters = ArtifactFilter(
            since_us=filter_time(since, "since") or 0,
            source=None if tool is None else storable(session.hidden(tool)),
            tool_call_id=None if call is None else storable(session.redacted_name(call)),
        )

        def page(cursor: str | None) -> Page[T]:
            found, following = self.page(filters, state, limit, cursor)
            return infos.Page(list(map(convert, found)), following, page if limit is None else None)

        return page(cursor)

    def page(
        self, filters: ArtifactFilter, state: str | None, limit: int | None, cursor: str | None
    ) -> tuple[list[ArtifactRow], str | None]:
        """The rows of a page, and the cursor of the next."""
        limit = _PAGE if limit is None else limit
        before_us, before_key = page_start(limit, cursor) or (END, 0)
        self._session.check_open()
        core = self._session.core
        filters = filters._replace(before_us=before_us, before_key=before_key)
        found: list[ArtifactRow] = []
        with core.snapshot("listing") as snapshot:
            while True:
                rows = snapshot.artifacts(filters, min(limit, _PAGE) + 1)
                for row in rows:
                    record = read_artifact_row(row, core.row.digest_algorithm)
                    record = with_derived_state(record, core.store, snapshot)
                    if state is not None and record.state != state:
                        continue
                    if len(found) == limit:
                        return found, f"{found[-1].created_us}-{found[-1].artifact_key}"
                    found.append(record)
                if len(rows) <= min(limit, _PAGE):
                    return found, None
                last = ArtifactRow(*rows[-1])
                filters = filters._replace(before_us=last.created_us, before_key=last.artifact_key)
