r"""What binary formats begin with.

A row is a regular expression for the first bytes of a format. Its bytes are beyond doubt: four or more, of which one is
no text, or bytes at an offset where text has none. A format whose first bytes are shorter or words has a function that
reads a length or an offset. Only content with a byte that is not plain text gets here, so a page that begins with ``BM`` or
``PAR1`` is not mistaken.

Sources: the specifications named beside the rows; for the others the format's own documentation, as collected in the
IANA media type registry and in the ``magic`` files of file(1). An ``x-`` type is in common use and not registered.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from spillstore.runtime import lazy_patterns as re


class BinaryType(NamedTuple):
    """A kind of binary content.

    Attributes:
        media_type: as in an HTTP `Content-Type`, such as `image/png`.
        name: what a person calls it, such as `PNG image`.
    """

    media_type: str
    name: str


_ODF = "application/vnd.oasis.opendocument."
_OFFICE = "application/vnd.openxmlformats-officedocument."
_SFNT = rb"\0\x01\0\0\0[\x01-\x63].{6}[0-9A-Za-z][0-9A-Za-z/ ]{3}"  # few tables, the first with a name

# (the first bytes, media type, name); the first row that matches counts
_FORMATS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x89PNG\r\n\x1a\n", "image/png", "PNG image"),  # W3C PNG, 5.2
    (rb"\xff\xd8\xff", "image/jpeg", "JPEG image"),  # ITU-T T.81, B.1: SOI, then a marker
    (rb"GIF8[79]a", "image/gif", "GIF image"),  # GIF89a specification, 17
    (rb"II\*\0|MM\0\*", "image/tiff", "TIFF image"),  # TIFF 6.0, section 2
    (rb"II\+\0|MM\0\+", "image/tiff", "BigTIFF image"),
    (rb"RIFF.{4}WEBP", "image/webp", "WebP image"),  # RFC 9649
    (rb"BM.{4}\0{4}.{4}[\x0c(48@l|]\0{3}", "image/bmp", "BMP image"),  # reserved zeros; lengths of headers
    (rb"\0{3}\x0cJXL \r\n\x87\n", "image/jxl", "JPEG XL image"),  # ISO/IEC 18181-2
    (rb"\0{3}\x0cjP  \r\n\x87\n", "image/jp2", "JPEG 2000 image"),  # ITU-T T.800, I.5.1
    (rb"8BPS\0\x01", "image/vnd.adobe.photoshop", "Photoshop image"),
    (rb".{4}ftyphei[cx]", "image/heic", "HEIC image"),  # ISO/IEC 14496-12, 4.3: the major brand
    (rb".{4}ftypmif1", "image/heif", "HEIF image"),
    (rb".{4}ftypavif", "image/avif", "AVIF image"),
    (rb".{4}ftypM4[AB] ", "audio/mp4", "MPEG-4 audio"),
    (rb".{4}ftypqt  ", "video/quicktime", "QuickTime video"),
    (rb".{4}ftyp3gp[45]", "video/3gpp", "3GPP video"),
    (rb".{4}ftyp", "video/mp4", "MPEG-4 video"),
    (rb"\x1aE\xdf\xa3.{0,56}?webm", "video/webm", "WebM video"),  # RFC 9559: in the header, which comes first
    (rb"\x1aE\xdf\xa3", "video/matroska", "Matroska video"),
    (rb"\0\0\x01\xba", "video/mpeg", "MPEG video"),  # ISO/IEC 13818-1, pack_start_code
    (rb"RIFF.{4}AVI ", "video/x-msvideo", "AVI video"),
    (rb"FLV\x01", "video/x-flv", "Flash video"),
    (rb"RIFF.{4}WAVE", "audio/wav", "WAV audio"),
    (rb"ID3[\x02-\x04]", "audio/mpeg", "MP3 audio"),  # id3.org, ID3v2.2 to ID3v2.4, 3.1
    (rb"fLaC[\0\x80]", "audio/flac", "FLAC audio"),  # RFC 9639, 6; then a streaminfo block, maybe the last
    (rb"MThd\0{3}\x06", "audio/midi", "MIDI music"),
    (rb"OggS\0.{0,115}?\x80theora", "video/ogg", "Ogg video"),  # RFC 3533: the first stream's codec
    (rb"OggS\0.{0,115}?(?:\x01vorbis|OpusHead|\x7fFLAC|Speex   )", "audio/ogg", "Ogg audio"),
    (rb"OggS\0", "application/ogg", "Ogg file"),
    (rb"%PDF-", "application/pdf", "PDF document"),  # ISO 32000-1, 7.5.2
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "OLE compound file"),  # MS-CFB, 2.2
    (rb"\x1f\x8b\x08", "application/gzip", "gzip archive"),  # RFC 1952, 2.3.1
    (rb"\x28\xb5\x2f\xfd", "application/zstd", "Zstandard archive"),  # RFC 8878, 3.1.1
    (rb"\xfd7zXZ\0", "application/x-xz", "xz archive"),  # The .xz File Format, 2.1.1.1
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "application/x-bzip2", "bzip2 archive"),  # a block, or the end
    (rb"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "7-Zip archive"),
    (rb"Rar!\x1a\x07", "application/vnd.rar", "RAR archive"),
    (rb"\x04\x22\x4d\x18", "application/x-lz4", "LZ4 archive"),
    (rb"LZIP\x01", "application/lzip", "lzip archive"),
    (rb"MSCF\0{4}", "application/vnd.ms-cab-compressed", "cabinet archive"),
    (rb".{257}ustar", "application/x-tar", "tar archive"),  # POSIX.1-1988, 10.1.1
    (rb"\xed\xab\xee\xdb", "application/x-rpm", "RPM package"),
    (rb"!<arch>\ndebian-binary", "application/vnd.debian.binary-package", "Debian package"),
    (rb"!<arch>\n", "application/x-archive", "ar archive"),
    (rb"\x7fELF", "application/x-elf", "ELF program or library"),  # System V ABI, 4
    (
        rb"\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe",
        "application/x-mach-binary",
        "Mach-O program or library",
    ),
    # Java classes and fat Mach-O files share four bytes; no class file has a version below 45 (JVMS 4.1).
    (rb"\xca\xfe\xba\xbe..(?:\0[\x2d-\xff]|[^\0].)", "application/java-vm", "Java class"),
    (rb"\xca\xfe\xba\xbe", "application/x-mach-binary", "Mach-O program or library for several processors"),
    (rb"\0asm", "application/wasm", "WebAssembly module"),  # WebAssembly Core, 5.5.16
    (rb"dex\n03", "application/x-dex", "Dalvik bytecode"),
    (rb"BC\xc0\xde", "application/x-llvm-bitcode", "LLVM bitcode"),
    (rb"\x1bLua", "application/x-lua-bytecode", "Lua bytecode"),
    # PEP 552, and pycore_magic_number.h: 3390 is 3.7, each release has a few more; then one of three flags.
    (
        rb"(?:[\x3e-\xff]\x0d|.\x0e|[\0-\x9f]\x0f)\r\n[\0\x01\x03]\0{3}",
        "application/x-python-code",
        "Python bytecode",
    ),
    (
        rb"SQLite format 3\0",
        "application/vnd.sqlite3",
        "SQLite database",
    ),  # sqlite.org/fileformat.html, 1.3.1
    (rb"\x37\x7f\x06[\x82\x83]", "application/x-sqlite3-wal", "SQLite write-ahead log"),  # the same, 4.1
    (rb"PAR1\x15", "application/vnd.apache.parquet", "Parquet file"),  # then Thrift: field 1, i32
    (rb"ARROW1\0\0", "application/vnd.apache.arrow.file", "Arrow file"),
    (rb"Obj\x01", "application/vnd.apache.avro+binary", "Avro file"),
    (rb"\x89HDF\r\n\x1a\n", "application/x-hdf5", "HDF5 file"),
    (rb"\x93NUMPY", "application/x-npy", "NumPy array"),
    (rb"PACK\0{3}", "application/x-git-packed-objects", "Git pack"),  # gitformat-pack(5)
    (rb"\xfftOc", "application/x-git-packed-objects-toc", "Git pack index"),
    (rb"DIRC\0{3}", "application/x-git-index", "Git index"),  # gitformat-index(5)
    (rb"\0{3}\x01Bud1", "application/x-apple-ds-store", ".DS_Store file"),
    (rb"\xde\x12\x04\x95|\x95\x04\x12\xde", "application/x-gettext-translation", "gettext catalogue"),
    (rb"bplist0", "application/x-bplist", "binary property list"),
    (rb"wOFF(?:\0\x01\0\0|OTTO)", "font/woff", "WOFF font"),  # W3C WOFF 1.0, 4; flavour 1.0 or OTTO
    (rb"wOF2(?:\0\x01\0\0|OTTO)", "font/woff2", "WOFF2 font"),  # W3C WOFF 2.0, 4.1
    (rb"OTTO\0", "font/otf", "OpenType font"),  # OpenType, Table Directory
    (rb"true\0|" + _SFNT, "font/ttf", "TrueType font"),
    (rb"ttcf\0", "font/collection", "font collection"),
)
# APPNOTE.TXT, 4.3.7: the use of a ZIP file shows in the names of its members, or in one called ``mimetype`` (EPUB, ODF).
_MEMBER = rb"PK\x03\x04.{26}"
_MIME = _MEMBER + rb"mimetype.{0,64}?application/"
_ZIPPED: tuple[tuple[bytes, str, str], ...] = (
    (_MEMBER + rb"word/", _OFFICE + "wordprocessingml.document", "Word document"),
    (_MEMBER + rb"xl/", _OFFICE + "spreadsheetml.sheet", "Excel workbook"),
    (_MEMBER + rb"ppt/", _OFFICE + "presentationml.presentation", "PowerPoint presentation"),
    (
        _MEMBER + rb"(?:AndroidManifest\.xml|classes\.dex)",
        "application/vnd.android.package-archive",
        "Android package",
    ),
    (_MEMBER + rb"META-INF/MANIFEST\.MF", "application/java-archive", "Java archive"),
    (_MIME + rb"epub\+zip(?=PK)", "application/epub+zip", "EPUB book"),
    (_MIME + rb"vnd\.oasis\.opendocument\.text(?=PK)", _ODF + "text", "OpenDocument text"),
    (
        _MIME + rb"vnd\.oasis\.opendocument\.spreadsheet(?=PK)",
        _ODF + "spreadsheet",
        "OpenDocument spreadsheet",
    ),
    (
        _MIME + rb"vnd\.oasis\.opendocument\.presentation(?=PK)",
        _ODF + "presentation",
        "OpenDocument presentation",
    ),
)
_BIT_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)


@functools.cache
def _format() -> re.Pattern[bytes]:
    """All formats as one expression, with a group for each; compiling takes a few milliseconds."""
    return re.compile(b"|".join(b"(%b)" % pattern for pattern, _, _ in _FORMATS), re.DOTALL)


def by_magic(head: bytes, size: int) -> BinaryType | None:
    """The type that the first bytes of content of ``size`` bytes announce, if any."""
    if found := _format().match(head):
        return BinaryType(*_FORMATS[(found.lastindex or 0) - 1][1:])
    for magic, read in _READERS:
        if head.startswith(magic):
            return read(head, size)
    return None


def _zip(head: bytes, size: int) -> BinaryType:  # noqa: ARG001  # all readers take the same
    for pattern, media_type, name in _ZIPPED:
        if re.search(pattern, head, re.DOTALL):
            return BinaryType(media_type, name)
    return BinaryType("application/zip", "ZIP archive")


def _pe(head: bytes, size: int) -> BinaryType | None:
    """PE Format, MS-DOS Stub: the offset of the signature is at 0x3c."""
    at = int.from_bytes(head[0x3C:0x40], "little")
    if head.startswith(b"PE\0\0", at) or len(head) <= at < size:
        return BinaryType("application/vnd.microsoft.portable-executable", "Windows program or library")
    return None


def _icon(head: bytes, size: int) -> BinaryType | None:  # noqa: ARG001
    """ICONDIR: the first image lies behind the list of images."""
    images = int.from_bytes(head[4:6], "little")
    if images and head[9:10] == b"\0" and int.from_bytes(head[18:22], "little") >= 6 + 16 * images:
        return BinaryType("image/vnd.microsoft.icon", "icon")
    return None


def _mp3(head: bytes, size: int) -> BinaryType | None:
    """ISO/IEC 11172-3, 2.4.1.3: a header of MPEG-1 layer III, and another one where its frame ends."""
    if len(head) < 4:  # noqa: PLR2004
        return None
    rate, sampling, padding = head[2] >> 4, head[2] >> 2 & 3, head[2] >> 1 & 1
    if rate in {0, 15} or sampling == 3:  # noqa: PLR2004  # free, bad, reserved
        return None
    end = 144_000 * _BIT_RATES[rate] // (44_100, 48_000, 32_000)[sampling] + padding
    if head[end : end + 2] == head[:2] or len(head) <= end < size:
        return BinaryType("audio/mpeg", "MP3 audio")
    return None


def _pickle(head: bytes, size: int) -> BinaryType | None:
    """pickletools: PROTO and its number first, STOP last."""
    protocol = head[1:2]
    last = head[-1:] == b"." if size <= len(head) else protocol < b"\x04" or head[2:3] == b"\x95"
    if b"\x02" <= protocol <= b"\x05" and last:
        return BinaryType("application/x-pickle", "Python pickle")
    return None


_READERS = (
    (b"PK\x03\x04", _zip),
    (b"PK\x05\x06", _zip),  # an empty archive
    (b"MZ", _pe),
    (b"\0\0\x01\0", _icon),
    (b"\xff\xfb", _mp3),
    (b"\xff\xfa", _mp3),
    (b"\x80", _pickle),
)
