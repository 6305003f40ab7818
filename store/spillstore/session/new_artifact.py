"""An artifact that is about to be made: its arguments checked, its metadata without secrets, its row, and its pipeline."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from spillstore.audit.actor import call_context
from spillstore.exceptions import InvalidSettingError
from spillstore.format.chunk import ALL_BITS
from spillstore.ingest.pipeline import Pipeline
from spillstore.ingest.sequencer import Sequencer
from spillstore.model.arguments import storable
from spillstore.model.ids import new_artifact_id
from spillstore.model.records import ArtifactRow
from spillstore.settings import KIB, parse_size

if TYPE_CHECKING:
    from spillstore.info import Newline
    from spillstore.ingest.stream_filters import FilterFactory, Tap
    from spillstore.redaction import RedactionRules
    from spillstore.session.handle import SessionHandle
    from spillstore.session.options import Redact
    from spillstore.settings import Policy, Settings, Size

CHUNK_SIZE = 64 * KIB
_NEWLINES = ("auto", "lf", "cr")
_SHORT = 20  # letters and digits that are no secret without a name
_COUNTERS = (
    *("chunks", "received", "size", "kept", "stored_size", "chars"),
    *("stdout_size", "stdout_lines", "stderr_size", "stderr_lines"),
)
_EMPTY: Any = {  # columns of an artifact that holds nothing yet
    **dict.fromkeys(_COUNTERS, 0),
    **dict.fromkeys(("reason", "ended_us", "exit_code", "hole", "content_digest", "chunks_digest")),
    "state": "open",
    "line_flags": ALL_BITS,
    "digest": b"",
}


class NewArtifact:
    """The parameters are those of ``Session.create``."""

    def __init__(
        self,
        session: SessionHandle,
        *,
        source: str,
        tool_call_id: str | None,
        command: str | None,
        content_type: str | None,
        newline: Newline,
        limit: Size | None,
        policy: Policy | None,
        redact: Redact,
        filters: FilterFactory | None,
        tap: Tap | None,
        ago: float,
        spool: int | Sequencer | None,
    ) -> None:
        core = session.core
        self._core = core
        self._settings = core.settings
        if limit is not None or policy is not None:
            self._settings = _with_limit(core.settings, limit, policy)
        if newline not in _NEWLINES:
            raise InvalidSettingError(f"newline must be one of {', '.join(_NEWLINES)}, not {newline!r}")
        if not isinstance(source, str):
            raise InvalidSettingError(f"source must be a string, not {source!r}")
        self.rules = rules = session.redaction(redact)
        self._redact = redact
        self._redacted: dict[str, int] = {}
        self.source = storable(session.hidden(self._clean(source)))
        self._command = None if command is None else storable(session.hidden(self._text("command", command)))
        self._content_type = (
            None if content_type is None else storable(self._text("content_type", content_type))
        )
        if tool_call_id is not None:
            _check_text("tool_call_id", tool_call_id)
            tool_call_id = storable(tool_call_id if rules is None else rules.named(tool_call_id))
        self._tool_call_id = tool_call_id
        self._newline = newline
        _check_spool(spool)
        self._shared = isinstance(spool, Sequencer)
        self._tap = tap
        now = core.clock.time()
        if isinstance(spool, Sequencer):
            ago = spool.age
        if not 0 <= ago <= now:
            raise InvalidSettingError(
                f"ago must be 0 seconds or more, and begin in 1970 or later, not {ago!r}"
            )
        self._created = now - ago
        self._sequencer = spool if isinstance(spool, Sequencer) else self._new_sequencer(filters, ago)

    def _new_sequencer(self, filters: FilterFactory | None, ago: float) -> Sequencer:
        rules = self.rules
        return Sequencer(
            filters=None if filters is None else (filters("stdout"), filters("stderr")),
            redactors=None if rules is None else (rules.redactor(), rules.redactor()),
            clock=self._core.clock,
            ago=ago,
        )

    def _clean(self, text: str) -> str:
        """A text without its secrets, which are counted."""
        if self.rules is None or (text.isalnum() and len(text) < _SHORT):
            return text
        clean, found = self.rules.counted(text)
        for kind, count in found.items():
            self._redacted[kind] = self._redacted.get(kind, 0) + count
        return clean

    def _text(self, name: str, text: str) -> str:
        _check_text(name, text)
        return self._clean(text)

    def detail(self) -> dict[str, object]:
        """The fields of the event ``create`` that describe redaction."""
        rules = self.rules or _rules_of_caller(self._redact)
        return {"redact": False} if rules is None else rules.left()

    def pipeline(self, owner: str) -> Pipeline:
        """The pipeline of a new artifact, with its first row; the row's key is given when it begins."""
        pipeline = Pipeline(
            self._row(owner),
            self._sequencer,
            algorithm=self._core.row.digest_algorithm,
            redacted=self._redacted,
            actor=call_context().actor,
            shared=self._shared,
        )
        settings = self._settings
        self._sequencer.watch(
            self._tap,
            settings.artifact_limit if settings.artifact_policy == "stop" else None,
            hold_us=int(settings.hold_back * 1e6),
        )
        return pipeline

    def _row(self, owner: str) -> ArtifactRow:
        settings = self._settings
        size = CHUNK_SIZE
        if settings.artifact_policy == "roll":
            # It drops whole chunks: of an artifact that may keep little, they must be small.
            size = max(1, min(size, settings.artifact_limit // 8))
        return ArtifactRow(
            artifact_key=0,
            artifact_id=new_artifact_id(self._created),
            tool_call_id=self._tool_call_id,
            source=self.source,
            command=self._command,
            content_type=self._content_type,
            owner=owner,
            newline=self._newline,
            chunk_size=size,
            size_limit=settings.artifact_limit,
            policy=settings.artifact_policy,
            created_us=int(self._created * 1e6),
            **_EMPTY,
        )


def _check_spool(spool: object) -> None:
    if spool is None or isinstance(spool, Sequencer):
        return
    if isinstance(spool, bool) or not isinstance(spool, int) or spool < 0:
        raise InvalidSettingError(f"spool must be bytes, 0 or more, a Sequencer or None, not {spool!r}")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidSettingError(f"{name} must be a string or None, not {value!r}")


def _with_limit(settings: Settings, limit: Size | None, policy: Policy | None) -> Settings:
    """The settings with another limit and policy for one artifact."""
    size = parse_size("limit", limit) if isinstance(limit, str) else limit
    return dataclasses.replace(
        settings,
        artifact_limit=settings.artifact_limit if size is None else size,
        artifact_policy=settings.artifact_policy if policy is None else policy,
    )


def _rules_of_caller(redact: Redact) -> RedactionRules | None:
    """The rules by which a caller has taken secrets out itself."""
    if redact is None or isinstance(redact, bool):
        return None
    from spillstore.redaction import Redacted  # noqa: PLC0415  # it is there, since ``redact`` is one of its values

    return redact.rules if isinstance(redact, Redacted) else None
