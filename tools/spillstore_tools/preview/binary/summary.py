"""What a model is shown instead of binary content: its type, its size, and its first bytes."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

from spillstore_tools.describe import count, exact_size, preview_size
from spillstore_tools.preview.binary.dimensions import dimensions

if TYPE_CHECKING:
    from spillstore_tools.preview.binary.magic import BinaryType

DUMPED_BYTES = 64


def summarise(kind: BinaryType, data_head: bytes, size: int, *, inline: int) -> str:
    r"""What is shown instead of binary content.

    A line with type, size and, of a picture, its width and height. Below it everything in base64 if ``data_head``
    is everything and there is room, else the first 64 bytes as ``hexdump -C`` shows them, as many lines as fit.

    Args:
        kind: the type, from ``recognise``.
        data_head: the first bytes of the content, or all of it.
        size: bytes of the whole content.
        inline: characters that the result may have.

    Returns:
        The text, without a line end, never longer than ``inline``.

    Example:
        >>> from spillstore_tools.preview.binary.magic import BinaryType
        >>> print(summarise(BinaryType("image/gif", "GIF image"), b"GIF89a\2\0\3\0", 10, inline=200))
        [Binary: image/gif, 10 bytes, 2x3 pixels]
        base64 of all 10 bytes:
        R0lGODlhAgADAA==
        >>> print(summarise(BinaryType("application/gzip", "gzip archive"), b"\x1f\x8b\b", 20_000, inline=200))
        [Binary: application/gzip, 20,000 bytes (19.5 KB)]
        first 3 bytes:
        00000000  1f 8b 08                                          |...|
    """
    title = _title(kind, data_head, size)
    if 0 < size <= len(data_head) and 4 * size <= 3 * inline:
        whole = "\n".join((title, f"base64 of all {count(size, 'byte')}:", *_base64(data_head[:size])))
        if len(whole) <= inline:
            return whole
    shown = data_head[: min(DUMPED_BYTES, size)]
    lines = _hex_dump(shown)
    if lines:
        lines[0] = f"first {count(len(shown), 'byte')}:\n{lines[0]}"
    text = title[: max(inline, 0)]
    for line in lines:
        if len(text) + 1 + len(line) > inline:
            break
        text += f"\n{line}"
    return text


def _title(kind: BinaryType, head: bytes, size: int) -> str:
    facts = [kind.media_type, exact_size(size, preview_size)]
    if kind.media_type.startswith("image/") and (found := dimensions(head)):
        facts.append(f"{found[0]}x{found[1]} pixels")
    return f"[Binary: {', '.join(facts)}]"


def _base64(data: bytes) -> list[str]:
    # 57 bytes are 76 characters, the line of RFC 2045.
    return [binascii.b2a_base64(data[at : at + 57], newline=False).decode() for at in range(0, len(data), 57)]


def _hex_dump(data: bytes) -> list[str]:
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004
        lines.append(f"{at:08x}  {row[:8].hex(' '):23}  {row[8:].hex(' '):23}  |{text}|")
    return lines
