"""Rows as an engine gives them, checked and made into values.

A right digest says that a row is as it was written, and without a key anybody can write one. So what reads rely on is
checked besides: that a chunk's place follows from a position, that no loop runs over more chunks than there are bytes, that
the owner's name is no path, that times are dates. It costs 8 us a row, and rows of sealed artifacts are kept.
"""

from __future__ import annotations

from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from spillstore.exceptions import IntegrityError, InvalidIdError
from spillstore.format.chunk_codec import MAX_CHUNK
from spillstore.format.digests import DIGEST_SIZE, digest_row, stored_algorithm
from spillstore.model.ids import ARTIFACT_ID, UID, check_id
from spillstore.model.records import ArtifactRow, SessionRow
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore.format.digests import Algorithm
    from spillstore.model.records import Hole

WHOLE: Final = 2**62
LATEST_US: Final = 253_402_300_799_000_000  # the end of the year 9999, the last that dates can have
_STATES: Final = frozenset({"open", "sealed", "interrupted", "deleted"})
_NEWLINES: Final = frozenset({"auto", "lf", "cr"})
_POLICIES: Final = frozenset({"roll", "stop", "reject"})
_FLAGS: Final = 0b111
_OWNER: Final = re.compile(r"[0-9a-z]+-[0-9a-f]{16}(\.[a-z]+)?", re.ASCII)  # the name of a claim: no path
_ID_LENGTH: Final = 100
_HINTS: Final = get_type_hints(ArtifactRow)


def _fields(hint: object) -> attrgetter[tuple[Any, ...]]:
    """Gets all values of a row whose fields have that type."""
    return attrgetter(*(name for name, each in _HINTS.items() if each == hint))


_counts: Final = _fields(int)
_texts: Final = _fields(str)
_maybe_texts: Final = _fields(str | None)
_maybe_digests: Final = _fields(bytes | None)


def read_session_row(row: Sequence[Any] | None, key: bytes | None) -> SessionRow:
    """A verified session row.

    Args:
        row: what the database gave.
        key: the store's digest key, or None.

    Raises:
        DigestKeyError: it needs another key.
        IntegrityError: the row is missing or not what was written.
    """
    if row is None:
        raise IntegrityError("the session's row is missing")
    record = SessionRow(*row)
    # The uid becomes the name of a folder in the trash, the ids are shown; and the author of a file computes its digests.
    if not isinstance(record.uid, str) or not UID.fullmatch(record.uid):
        raise IntegrityError("the session's row is damaged: its uid is none")
    record = record._replace(digest_algorithm=stored_algorithm(record.digest_algorithm, record.uid, key))
    try:
        check_id("session", record.session_id)
        if record.project_id is not None:
            check_id("project", record.project_id)
    except InvalidIdError as error:
        raise IntegrityError(f"the session's row is damaged: {error}") from None
    times = (record.created_us, record.ended_us or 0, record.deleted_us or 0)
    if not all(is_count(value, LATEST_US) for value in times) or not is_count(record.next_artifact_key):
        raise IntegrityError("the session's row is damaged: it holds a number that cannot be")
    if record.artifacts_sum is not None and not isinstance(record.artifacts_sum, bytes):
        raise IntegrityError("the session's row is damaged: the sum of its artifacts is none")
    if record.computed_digest() != record.digest:
        raise IntegrityError("the session's row is damaged: its digest does not match")
    return record


def _problem(row: ArtifactRow) -> str | None:
    """The first invalid value of a row whose digest is right; None if all are valid."""
    if not types_fit(row):
        return "a value is of a wrong type or out of range"
    if not values_fit(row):
        return "its values contradict each other"
    try:
        hole = row.parsed_hole()
    except (ValueError, TypeError, KeyError, RecursionError):
        return "its hole is none"
    return None if hole_fits(row, hole) else "its hole contradicts the rest"


def read_artifact_row(row: Sequence[Any], algorithm: Algorithm) -> ArtifactRow:
    """A verified artifact row.

    Raises:
        IntegrityError: the row is not what was written.
    """
    record = ArtifactRow(*row)
    try:
        expected = digest_row(algorithm, record[1:-1])
    except (AttributeError, TypeError):
        expected = b""
    if expected != record.digest:
        raise IntegrityError(
            f"the row of artifact {record.artifact_id!r:.100} is damaged: its digest does not match"
        )
    if (problem := _problem(record)) is not None:
        raise IntegrityError(f"the row of artifact {record.artifact_id!r:.100} is damaged: {problem}")
    return record


def is_count(value: object, most: int = WHOLE) -> bool:
    """Whether it is a whole number from 0 to ``most``."""
    return type(value) is int and 0 <= value <= most


def types_fit(row: ArtifactRow) -> bool:
    """Whether every column holds what its type says; an engine may let each hold anything."""
    return (
        set(map(type, counts := _counts(row))) == {int}
        and min(counts) >= 0
        and max(counts) <= WHOLE
        and set(map(type, _texts(row))) == {str}
        and set(map(type, _maybe_texts(row))) <= {str, NoneType}
        and all(
            digest is None or (type(digest) is bytes and len(digest) == DIGEST_SIZE)
            for digest in _maybe_digests(row)
        )
        and is_count(row.created_us, LATEST_US)
        and (row.ended_us is None or is_count(row.ended_us, LATEST_US))
        and is_count(row.line_flags, _FLAGS)
        and (row.exit_code is None or type(row.exit_code) is int)
    )


def values_fit(row: ArtifactRow) -> bool:
    """Whether the values of a row whose types fit can stand beside each other, the hole aside."""
    return (
        len(row.artifact_id) <= _ID_LENGTH
        and ARTIFACT_ID.fullmatch(row.artifact_id) is not None
        and _OWNER.fullmatch(row.owner) is not None
        and row.state in _STATES
        and row.newline in _NEWLINES
        and row.policy in _POLICIES
        and 1 <= row.chunk_size <= MAX_CHUNK
        and row.chunks == -(-row.size // row.chunk_size)
        and row.stdout_size + row.stderr_size == row.size
        and row.stdout_lines <= row.stdout_size
        and row.stderr_lines <= row.stderr_size
        and row.chars <= row.size
    )


def hole_fits(row: ArtifactRow, hole: Hole | None) -> bool:
    """Whether what was dropped is whole chunks of the artifact, and what is kept the rest."""
    if hole is None:
        return row.kept == row.size
    numbers = (hole.first_seq, hole.last_seq, hole.time_start, hole.time_end)
    spans = [hole.spans[name] for name in ("combined", "stdout", "stderr")]
    sizes = (row.size, row.stdout_size, row.stderr_size)
    ends = (row.stdout_lines + row.stderr_lines, row.stdout_lines, row.stderr_lines)
    if not all(map(is_count, numbers)) or not is_count(hole.flags, _FLAGS):
        return False
    if not all(
        _ascend(0, span.start, span.end, size)
        and _ascend(0, span.line_ends_before, span.line_ends_after, end)
        for span, size, end in zip(spans, sizes, ends, strict=True)
    ):
        return False
    whole, stdout, stderr = (span.end - span.start for span in spans)
    return (spans[0].start, spans[0].end) == (
        hole.first_seq * row.chunk_size,
        hole.last_seq * row.chunk_size,
    ) and whole == stdout + stderr == row.size - row.kept


def _ascend(*numbers: object) -> bool:
    return all(map(is_count, numbers)) and list(numbers) == sorted(numbers)  # type: ignore[type-var]  # all int by then
