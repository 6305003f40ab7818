"""What output is, told by its beginning: its media type, whether it is binary, what ends its lines."""

from __future__ import annotations

import json

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.binary.magic import BinaryType
from spillstore_tools.preview.binary.recognise import ENCODED_TEXT, HEAD_BYTES, recognise, text_encoding

_RECORDS = 10  # ended by CR alone, from which on they are lines and not a line drawn again and again
# What programs draw that show how far they are: shares, bars, turning wheels, counts, rates, and what erases or moves.
_PROGRESS = re.compile(
    rb"""% | \x1b | \x08 | [=\#.>*-]{5} | \[[=\#> -]+\] | \xe2[\x94-\x97\xa0-\xa3][\x80-\xbf]
      | (?:^|\r) \s* (?: [-\\|/] | [\d.,]+ ) [ ]* (?:\r|\Z)
      | \b \d+ \s? (?:/|of) \s? \d+ \b | \d [ ]? [kKMG]?i?[Bb] (?:/s|ps) | \b (?:ETA|eta|it/s) \b | [ ]{3}\r""",
    re.VERBOSE,
)
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")  # of JSON that the end of a text may cut
_ESCAPE = 6  # characters of one in a string


def terminator_of(data: bytes) -> bytes:
    r"""What ends a line where ``newline`` is ``auto``: CR where no LF stands but at the very end, unless it is progress.

    Example:
        >>> terminator_of(b"one\rtwo\r"), terminator_of(b"one\rtwo\n"), terminator_of(b"10%\r20%\n")
        (b'\r', b'\r', b'\n')
    """
    body = data.removesuffix(b"\n")
    if b"\n" in body or b"\r" not in body.rstrip(b"\r" if body != data else b""):
        return b"\n"
    return b"\n" if body != data and _PROGRESS.search(body) else b"\r"


def is_progress(data: bytes) -> bool:
    """Whether a beginning of output looks like a line that is drawn again and again."""
    return b"\r" in data and _PROGRESS.search(data) is not None


def is_cr_text(data: bytes) -> bool:
    """Whether what a command prints is records that CR ends, and no line that is drawn again and again."""
    body = data.removesuffix(b"\n")
    ends = body.count(b"\r")
    return ends >= _RECORDS and b"\n" not in body and b"\r\r" not in body and not _PROGRESS.search(body)


def kind_of(head: bytes, size: int) -> BinaryType | None:
    """The type of binary content, or of text in another encoding; None for UTF-8."""
    encoding = text_encoding(head)
    if encoding not in {None, "utf-8-sig"}:
        return BinaryType(f"{ENCODED_TEXT}{encoding}", f"Text in {encoding}")
    return recognise(head, size)


def media_type_of(data: bytes, *, whole: bool) -> str | None:
    """The media type of content, guessed from its beginning: text, JSON, or a kind that its first bytes name.

    Returns:
        The media type; None of nothing, and where only the rest can tell.

    Example:
        >>> media_type_of(b'{"a": [1, 2', whole=False), media_type_of(b"[INFO] up", whole=False)
        ('application/json', 'text/plain')
    """
    if not data:
        return None
    if (kind := kind_of(data[:HEAD_BYTES], len(data))) is not None:
        return kind.media_type
    found = _is_json(data, whole=whole)
    return None if found is None else "application/json" if found else "text/plain"


def _is_json(data: bytes, *, whole: bool) -> bool | None:
    """Whether it is one JSON object or array, or begins one; None if more may still prove that it is several."""
    text = data.decode("utf-8-sig", "replace").strip(" \t\r\n")
    if not text.startswith(("{", "[")):
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except RecursionError:
        return False
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        cut = (
            any(word.startswith(rest) for word in _WORDS)
            or error.msg.startswith("Unterminated string")
            or (error.msg.startswith("Invalid \\") and len(rest) < _ESCAPE)
        )
        return cut and not whole
    if end < len(text):
        return False
    return True if whole else None
