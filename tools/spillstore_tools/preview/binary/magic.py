"""What binary formats begin with.

The table holds what is beyond doubt: four bytes or more, of which one is no text, or a place where no text has it.
Shorter or wordlike beginnings, and containers of several formats, have a function that looks further. Only content
with a byte that is not plain text gets here, so a page that begins with `BM` or `PAR1` is not mistaken.

Sources: the specifications named beside the rows; for the others the format's own documentation, as collected in the
IANA media type registry and in the `magic` files of file(1). An `x-` type is in common use and not registered.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclasses.dataclass(frozen=True, slots=True)
class BinaryType:
    """A kind of binary content.

    Attributes:
        media_type: as in an HTTP `Content-Type`, such as `image/png`.
        name: what a person calls it, such as `PNG image`.
    """

    media_type: str
    name: str


_OFFICE = "application/vnd.openxmlformats-officedocument."

# (offset, bytes there, media type, name)
_FIXED: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png", "PNG image"),  # W3C PNG, 5.2
    (0, b"\xff\xd8\xff", "image/jpeg", "JPEG image"),  # ITU-T T.81, B.1: SOI, then a marker
    (0, b"GIF87a", "image/gif", "GIF image"),  # GIF89a specification, 17
    (0, b"GIF89a", "image/gif", "GIF image"),
    (0, b"II*\0", "image/tiff", "TIFF image"),  # TIFF 6.0, section 2
    (0, b"MM\0*", "image/tiff", "TIFF image"),
    (0, b"II+\0", "image/tiff", "BigTIFF image"),
    (0, b"MM\0+", "image/tiff", "BigTIFF image"),
    (0, b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl", "JPEG XL image"),  # ISO/IEC 18181-2
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2", "JPEG 2000 image"),  # ITU-T T.800, I.5.1
    (0, b"8BPS\0\x01", "image/vnd.adobe.photoshop", "Photoshop image"),
    (0, b"%PDF-", "application/pdf", "PDF document"),  # ISO 32000-1, 7.5.2
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "OLE compound file"),  # MS-CFB, 2.2
    (0, b"\x1f\x8b\x08", "application/gzip", "gzip archive"),  # RFC 1952, 2.3.1
    (0, b"\x28\xb5\x2f\xfd", "application/zstd", "Zstandard archive"),  # RFC 8878, 3.1.1
    (0, b"\xfd7zXZ\0", "application/x-xz", "xz archive"),  # The .xz File Format, 2.1.1.1
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar", "RAR archive"),
    (0, b"\x04\x22\x4d\x18", "application/x-lz4", "LZ4 archive"),
    (0, b"LZIP\x01", "application/lzip", "lzip archive"),
    (0, b"MSCF\0\0\0\0", "application/vnd.ms-cab-compressed", "cabinet archive"),
    (0, b"\xed\xab\xee\xdb", "application/x-rpm", "RPM package"),
    (0, b"!<arch>\ndebian-binary", "application/vnd.debian.binary-package", "Debian package"),
    (0, b"!<arch>\n", "application/x-archive", "ar archive"),
    (257, b"ustar", "application/x-tar", "tar archive"),  # POSIX.1-1988, 10.1.1; GNU tar has blanks after it
    (0, b"\x7fELF", "application/x-elf", "ELF program or library"),  # System V ABI, 4
    (0, b"\xfe\xed\xfa\xce", "application/x-mach-binary", "Mach-O program or library"),  # mach-o/loader.h
    (0, b"\xfe\xed\xfa\xcf", "application/x-mach-binary", "Mach-O program or library"),
    (0, b"\xce\xfa\xed\xfe", "application/x-mach-binary", "Mach-O program or library"),
    (0, b"\xcf\xfa\xed\xfe", "application/x-mach-binary", "Mach-O program or library"),
    (0, b"\0asm", "application/wasm", "WebAssembly module"),  # WebAssembly Core, 5.5.16
    (0, b"dex\n03", "application/x-dex", "Dalvik bytecode"),
    (0, b"BC\xc0\xde", "application/x-llvm-bitcode", "LLVM bitcode"),
    (0, b"\x1bLua", "application/x-lua-bytecode", "Lua bytecode"),
    (
        0,
        b"SQLite format 3\0",
        "application/vnd.sqlite3",
        "SQLite database",
    ),  # sqlite.org/fileformat.html, 1.3.1
    (0, b"\x37\x7f\x06\x82", "application/x-sqlite3-wal", "SQLite write-ahead log"),  # the same, 4.1
    (0, b"\x37\x7f\x06\x83", "application/x-sqlite3-wal", "SQLite write-ahead log"),
    (
        0,
        b"PAR1\x15",
        "application/vnd.apache.parquet",
        "Parquet file",
    ),  # parquet-format; then Thrift, field 1, i32
    (0, b"ARROW1\0\0", "application/vnd.apache.arrow.file", "Arrow file"),
    (0, b"Obj\x01", "application/vnd.apache.avro+binary", "Avro file"),
    (0, b"\x89HDF\r\n\x1a\n", "application/x-hdf5", "HDF5 file"),
    (0, b"\x93NUMPY", "application/x-npy", "NumPy array"),
    (0, b"PACK\0\0\0", "application/x-git-packed-objects", "Git pack"),  # gitformat-pack(5)
    (0, b"\xfftOc", "application/x-git-packed-objects-toc", "Git pack index"),
    (0, b"DIRC\0\0\0", "application/x-git-index", "Git index"),  # gitformat-index(5)
    (0, b"\0\0\0\x01Bud1", "application/x-apple-ds-store", ".DS_Store file"),
    (
        0,
        b"\xde\x12\x04\x95",
        "application/x-gettext-translation",
        "gettext catalogue",
    ),  # gettext manual, 10.3
    (0, b"\x95\x04\x12\xde", "application/x-gettext-translation", "gettext catalogue"),
    (0, b"bplist0", "application/x-bplist", "binary property list"),
    (0, b"ID3\x02", "audio/mpeg", "MP3 audio"),  # id3.org, ID3v2.2 to ID3v2.4, 3.1
    (0, b"ID3\x03", "audio/mpeg", "MP3 audio"),
    (0, b"ID3\x04", "audio/mpeg", "MP3 audio"),
    (0, b"fLaC\0", "audio/flac", "FLAC audio"),  # RFC 9639, 6; then a streaminfo block, maybe the last
    (0, b"fLaC\x80", "audio/flac", "FLAC audio"),
    (0, b"MThd\0\0\0\x06", "audio/midi", "MIDI music"),
    (0, b"\0\0\x01\xba", "video/mpeg", "MPEG video"),  # ISO/IEC 13818-1, pack_start_code
    (0, b"FLV\x01", "video/x-flv", "Flash video"),
    (0, b"wOFF\0\x01\0\0", "font/woff", "WOFF font"),  # W3C WOFF 1.0, 4; flavour 1.0 or OTTO
    (0, b"wOFFOTTO", "font/woff", "WOFF font"),
    (0, b"wOF2\0\x01\0\0", "font/woff2", "WOFF2 font"),  # W3C WOFF 2.0, 4.1
    (0, b"wOF2OTTO", "font/woff2", "WOFF2 font"),
    (0, b"OTTO\0", "font/otf", "OpenType font"),  # OpenType, Table Directory
    (0, b"true\0", "font/ttf", "TrueType font"),
    (0, b"ttcf\0", "font/collection", "font collection"),
)
_ROWS = tuple((at, magic, BinaryType(media_type, name)) for at, magic, media_type, name in _FIXED)


def by_magic(head: bytes, size: int) -> BinaryType | None:
    """The type that the beginning of content of ``size`` bytes announces, if any."""
    for at, magic, kind in _ROWS:
        if head.startswith(magic, at):
            return kind
    for at, magic, look in _LOOKS:
        if head.startswith(magic, at) and (found := look(head, size)):
            return BinaryType(*found)
    return None


# --- formats that need a second look ----------------------------------------------------------------------
_Found = tuple[str, str] | None

_MEMBERS: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", _OFFICE + "wordprocessingml.document", "Word document"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet", "Excel workbook"),
    (b"ppt/", _OFFICE + "presentationml.presentation", "PowerPoint presentation"),
    (b"AndroidManifest.xml", "application/vnd.android.package-archive", "Android package"),
    (b"classes.dex", "application/vnd.android.package-archive", "Android package"),
    (b"META-INF/MANIFEST.MF", "application/java-archive", "Java archive"),
)
_DOCUMENTS = {
    b"application/epub+zip": "EPUB book",
    b"application/vnd.oasis.opendocument.text": "OpenDocument text",
    b"application/vnd.oasis.opendocument.spreadsheet": "OpenDocument spreadsheet",
    b"application/vnd.oasis.opendocument.presentation": "OpenDocument presentation",
}


def _zip(head: bytes, size: int) -> _Found:  # noqa: ARG001  # all looks take the same
    """APPNOTE.TXT, 4.3.7: what a ZIP file is for shows in the names of its first members."""
    members = list(_zip_members(head))
    for wanted, media_type, name in _MEMBERS:
        if any(member.startswith(wanted) for member, _ in members):
            return media_type, name
    if members and members[0][0] == b"mimetype":
        content = members[0][1].partition(b"PK")[0]
        if content in _DOCUMENTS:
            return content.decode(), _DOCUMENTS[content]
    return "application/zip", "ZIP archive"


def _zip_members(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names of the members whose headers are in ``head``, and what follows each."""
    at = 0
    while (at := head.find(b"PK\x03\x04", at)) >= 0 and len(head) >= at + 30:
        name, extra = struct.unpack_from("<HH", head, at + 26)
        yield head[at + 30 : at + 30 + name], head[at + 30 + name + extra :]
        at += 30


def _riff(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """Resource Interchange File Format: the form stands behind the length."""
    return {
        b"WEBP": ("image/webp", "WebP image"),
        b"WAVE": ("audio/wav", "WAV audio"),
        b"AVI ": ("video/x-msvideo", "AVI video"),
    }.get(head[8:12])


def _iso_media(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """ISO/IEC 14496-12, 4.3: the major brand stands behind `ftyp`."""
    return {
        b"M4A ": ("audio/mp4", "MPEG-4 audio"),
        b"M4B ": ("audio/mp4", "MPEG-4 audio"),
        b"qt  ": ("video/quicktime", "QuickTime video"),
        b"heic": ("image/heic", "HEIC image"),
        b"heix": ("image/heic", "HEIC image"),
        b"mif1": ("image/heif", "HEIF image"),
        b"avif": ("image/avif", "AVIF image"),
        b"3gp4": ("video/3gpp", "3GPP video"),
        b"3gp5": ("video/3gpp", "3GPP video"),
    }.get(head[8:12], ("video/mp4", "MPEG-4 video"))


def _ebml(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """RFC 9559: the document type is in the EBML header, which comes first."""
    if b"webm" in head[:64]:
        return "video/webm", "WebM video"
    return "video/matroska", "Matroska video"


def _ogg(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """RFC 3533: the first page holds the header of the first stream's codec."""
    page = head[:128]
    if b"\x80theora" in page:
        return "video/ogg", "Ogg video"
    if any(codec in page for codec in (b"\x01vorbis", b"OpusHead", b"\x7fFLAC", b"Speex   ")):
        return "audio/ogg", "Ogg audio"
    return "application/ogg", "Ogg file"


def _cafe_babe(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """Java classes and fat Mach-O files share four bytes; no class file has a version below 45 (JVMS 4.1)."""
    if int.from_bytes(head[6:8], "big") >= 45:  # noqa: PLR2004  # JDK 1.0.2
        return "application/java-vm", "Java class"
    return "application/x-mach-binary", "Mach-O program or library for several processors"


def _pe(head: bytes, size: int) -> _Found:
    """PE Format, MS-DOS Stub: the place of the signature is at 0x3c."""
    at = int.from_bytes(head[0x3C:0x40], "little")
    if head.startswith(b"PE\0\0", at) or len(head) <= at < size:
        return "application/vnd.microsoft.portable-executable", "Windows program or library"
    return None


def _bmp(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """Bitmap Storage: four zero bytes, and the length of one of the known headers."""
    if head[6:10] == b"\0\0\0\0" and int.from_bytes(head[14:18], "little") in {12, 40, 52, 56, 64, 108, 124}:
        return "image/bmp", "BMP image"
    return None


def _icon(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """ICONDIR: the first image lies behind the list of images."""
    images = int.from_bytes(head[4:6], "little")
    if images and head[9:10] == b"\0" and int.from_bytes(head[18:22], "little") >= 6 + 16 * images:
        return "image/vnd.microsoft.icon", "icon"
    return None


def _true_type(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """OpenType, Table Directory: a few tables, each with a name of four letters."""
    tables = int.from_bytes(head[4:6], "big")
    first = head[12:16].replace(b"/", b"").rstrip()  # such as b"OS/2" and b"cvt "
    if 0 < tables < 100 and first.isascii() and first.isalnum():  # noqa: PLR2004
        return "font/ttf", "TrueType font"
    return None


def _bzip2(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """A level, then the first block, or the end of an empty archive."""
    if head[3:4] in b"123456789" and head[4:10] in {b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"}:
        return "application/x-bzip2", "bzip2 archive"
    return None


_BIT_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)


def _mp3(head: bytes, size: int) -> _Found:
    """ISO/IEC 11172-3, 2.4.1.3: a header of MPEG-1 layer III, and another one where its frame ends."""
    if len(head) < 4:  # noqa: PLR2004
        return None
    rate, sampling, padding = head[2] >> 4, head[2] >> 2 & 3, head[2] >> 1 & 1
    if rate in {0, 15} or sampling == 3:  # noqa: PLR2004  # free, bad, reserved
        return None
    end = 144_000 * _BIT_RATES[rate] // (44_100, 48_000, 32_000)[sampling] + padding
    if head[end : end + 2] == head[:2] or len(head) <= end < size:
        return "audio/mpeg", "MP3 audio"
    return None


def _pickle(head: bytes, size: int) -> _Found:
    """pickletools: PROTO and its number first, STOP last."""
    protocol = head[1:2]
    last = head[-1:] == b"." if size <= len(head) else protocol < b"\x04" or head[2:3] == b"\x95"
    return ("application/x-pickle", "Python pickle") if b"\x02" <= protocol <= b"\x05" and last else None


def _pyc(head: bytes, size: int) -> _Found:  # noqa: ARG001
    """PEP 552, and Include/internal/pycore_magic_number.h: 3.7 has 3390, and each release a few more."""
    number, flags = int.from_bytes(head[:2], "little"), int.from_bytes(head[4:8], "little")
    if 3390 <= number < 4000 and flags in {0, 1, 3}:  # noqa: PLR2004
        return "application/x-python-code", "Python bytecode"
    return None


# (offset, bytes there, look further)
_LOOKS: tuple[tuple[int, bytes, Callable[[bytes, int], _Found]], ...] = (
    (0, b"PK\x03\x04", _zip),
    (0, b"PK\x05\x06", _zip),  # an empty archive
    (0, b"RIFF", _riff),
    (4, b"ftyp", _iso_media),
    (0, b"\x1a\x45\xdf\xa3", _ebml),
    (0, b"OggS\0", _ogg),
    (0, b"\xca\xfe\xba\xbe", _cafe_babe),
    (0, b"MZ", _pe),
    (0, b"BM", _bmp),
    (0, b"\0\0\x01\0", _icon),
    (0, b"\0\x01\0\0", _true_type),
    (0, b"BZh", _bzip2),
    (0, b"\xff\xfb", _mp3),
    (0, b"\xff\xfa", _mp3),
    (0, b"\x80", _pickle),
    (2, b"\r\n", _pyc),
)
