"""Width and height of a picture, from the first bytes of its file."""

from __future__ import annotations

import struct


def dimensions(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, JPEG, WebP or BMP image, if ``head`` has them.

    >>> dimensions(b"GIF89a" + bytes([2, 0, 3, 0]))
    (2, 3)
    """
    for magic, read in _READERS:
        if head.startswith(magic):
            try:
                return read(head)
            except struct.error:  # the head ends before
                return None
    return None


def _png(head: bytes) -> tuple[int, int] | None:
    if head[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def _gif(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", head, 6)
    return width, height


def _bmp(head: bytes) -> tuple[int, int]:
    if head[14:18] == b"\x0c\0\0\0":
        width, height = struct.unpack_from("<HH", head, 18)
    else:
        width, height = struct.unpack_from("<ii", head, 18)
    return width, abs(height)  # a negative height means rows from the top


_FILL = 0xFF
_FRAME_HEADERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # SOF0 to SOF15; DHT, JPG and DAC lie among them


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Walk the segments up to the frame header."""
    at = 2
    while head[at : at + 1] == b"\xff":
        marker, length = struct.unpack_from(">BH", head, at + 1)
        if marker in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 1 if marker == _FILL else 2 + length
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    """RFC 9649: 24 bits each in an extended file, 14 bits in a lossy or a lossless one."""
    kind = head[8:16]
    if kind == b"WEBPVP8X" and len(head) >= 30:  # noqa: PLR2004
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"WEBPVP8L" and head[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"WEBPVP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


_READERS = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"GIF8", _gif),
    (b"\xff\xd8\xff", _jpeg),
    (b"RIFF", _webp),
    (b"BM", _bmp),
)
