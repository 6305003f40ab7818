"""Results of reading: places, runs of bytes, and where bytes come from."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from spillstore.info.choices import Stream


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A place in a view.

    Attributes:
        byte: its byte, from 0.
        line: the line that byte is in, from 1.
    """

    byte: int
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """A run of bytes that entered the sequence together.

    Attributes:
        stream: ``stdout`` or ``stderr``.
        time: seconds since the artifact began.
        data: the bytes.
        byte: where the first of them stands in the combined view.
        stream_byte: where it stands in its own stream.
    """

    stream: Literal["stdout", "stderr"]
    time: float
    data: bytes
    byte: int
    stream_byte: int


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """Where bytes come from that were printed again.

    Attributes:
        artifact_id: the artifact that holds them.
        stream: the view that the positions mean.
        start, end: bytes ``[start, end)``.
    """

    artifact_id: str
    stream: Stream
    start: int
    end: int
