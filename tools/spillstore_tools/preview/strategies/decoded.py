"""Text in UTF-16 or UTF-32, decoded while it passes, so that it can be cut as the text that it is."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from spillstore_tools.preview.binary.recognise import HEAD_BYTES, wide_encoding
from spillstore_tools.preview.scan.scan import Scan

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Block, Observer
    from spillstore_tools.preview.scan.overview import Overview

_CHARS = 32 * 1024  # of either end that are kept: more than any preview shows of them
_MARK = "\ufeff"


def encoding_of(first: Block) -> str | None:
    """The encoding of an output that begins so, where it is not UTF-8."""
    return None if first.start else wide_encoding(first.raw[:HEAD_BYTES])


class Decoded:
    """Decodes blocks of one output, and passes the text to an observer as blocks of UTF-8.

    Args:
        encoding: of the output.
        keep_bytes: keep all of the text up to this size, in UTF-8.
        observer: receives the text.

    Attributes:
        as_stored: whether each line of the text is a line of the stored bytes: no character but that of a line end holds its byte.
    """

    def __init__(self, encoding: str, keep_bytes: int, observer: Observer) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._scan = Scan(
            head_chars=_CHARS, tail_chars=_CHARS, keep_bytes=keep_bytes, observer=observer, exact=False
        )
        self._ends = 0  # of lines of the bytes, less those of the text
        self._whole = True

    @property
    def as_stored(self) -> bool:
        """See the class."""
        return self._ends == 0

    def block(self, block: Block) -> None:
        """Decode the next block."""
        if block.long is not None:  # its bytes are not held
            self._whole = False
            return
        text = self._decoder.decode(block.raw)
        if not block.start:
            text = text.removeprefix(_MARK)
        self._ends += block.raw.count(b"\n") - text.count("\n")
        self._scan.feed(text.encode("utf-8", "replace"))
        self._scan.flush()

    def overview(self) -> Overview | None:
        """The overview of the text so far; None where not all of it could be decoded."""
        return self._scan.snapshot()[0] if self._whole else None
