"""Recognising binary content, and what is shown instead of it."""

from __future__ import annotations

import base64
import bz2
import compileall
import gzip
import io
import lzma
import pickle
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import sysconfig
import tarfile
import wave
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st
from support import each_of

from spillstore_tools.preview.binary.dimensions import dimensions
from spillstore_tools.preview.binary.magic import BinaryType
from spillstore_tools.preview.binary.recognise import HEAD_BYTES, recognise, text_encoding
from spillstore_tools.preview.binary.summary import summarise

OCTETS = "application/octet-stream"
LOG = b"".join(b"2026-07-01T12:00:00 INFO request %d took %d ms\n" % (i, i * 7 % 90) for i in range(200))
WORDS = "Größe, naïve, señor, Ærø: déjà vu.\n"


def media_type(data: bytes, size: int | None = None) -> str | None:
    kind = recognise(data[:HEAD_BYTES], len(data) if size is None else size)
    return kind and kind.media_type


# --- real files, made here --------------------------------------------------------------------------------


def png(width=640, height=480) -> bytes:
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = zlib.compress(b"".join(b"\0" + b"\x10\x20\x30" * width for _ in range(height)))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def gif(width=3, height=2) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff;"


def bmp(width=5, height=-7) -> bytes:
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def core_bmp(width=5, height=7) -> bytes:
    return b"BM" + struct.pack("<IHHIIHHHH", 26, 0, 0, 26, 12, width, height, 1, 24)


def jpeg(width=800, height=600, frame=0xC0) -> bytes:
    app = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    tables = b"\xff\xdb\x00\x43\x00" + bytes(range(64)) + b"\xff\xc4\x00\x05abc"
    start = b"\xff\xff" + bytes([frame]) + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + app + tables + start + b"\xff\xd9"


def webp(chunk: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


VP8X = webp(b"VP8X" + struct.pack("<II", 10, 0) + (299).to_bytes(3, "little") + (199).to_bytes(3, "little"))
VP8L = webp(b"VP8L" + struct.pack("<IBI", 5, 0x2F, 299 | 199 << 14))
VP8 = webp(b"VP8 " + struct.pack("<I", 10) + b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", 300, 200))


def archive(*names: str, content: bytes = LOG) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name in names:
            out.writestr(name, content)
    return file.getvalue()


def epub() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as out:
        out.writestr("mimetype", "application/epub+zip")
        out.writestr("META-INF/container.xml", "<container/>")
    return file.getvalue()


def tar(kind) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=kind) as out:
        member = tarfile.TarInfo("logs/build.log")
        member.size = len(LOG)
        out.addfile(member, io.BytesIO(LOG))
    return file.getvalue()


def sqlite(folder: Path) -> bytes:
    connection = sqlite3.connect(folder / "x.db")
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()
    return (folder / "x.db").read_bytes()


def wav() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(1600))
    return file.getvalue()


def pyc(folder: Path) -> bytes:
    (folder / "m.py").write_text("x = 1\n")
    compileall.compile_file(folder / "m.py", quiet=2, legacy=True)
    return (folder / "m.pyc").read_bytes()


def program() -> bytes:
    return b"MZ" + bytes(58) + struct.pack("<I", 0x80) + bytes(64) + b"PE\0\0" + bytes(200)


def icon() -> bytes:
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, 100, 22) + png(16, 16)


def font(tag: bytes) -> bytes:
    return b"\0\1\0\0" + struct.pack(">HHHH", 12, 128, 3, 64) + tag + bytes(100)


def mp3() -> bytes:
    frame = b"\xff\xfb\x90\x64" + bytes(413)  # 128 kbit/s, 44,100 Hz
    return frame * 3


def page(codec: bytes) -> bytes:
    return b"OggS\0\x02" + bytes(20) + b"\x01\x1e" + codec + bytes(30)


MADE = {
    "image/png": png(),
    "image/gif": gif(),
    "image/bmp": bmp(),
    "image/jpeg": jpeg(),
    "image/webp": VP8X,
    "image/vnd.microsoft.icon": icon(),
    "image/tiff": b"II*\0\x08\0\0\0" + bytes(50),
    "image/avif": b"\0\0\0\x20ftypavif" + bytes(20),
    "image/heic": b"\0\0\0\x20ftypheic" + bytes(20),
    "application/pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n",
    "application/zip": archive("a.txt", "b.txt"),
    "application/java-archive": archive("META-INF/", "META-INF/MANIFEST.MF", "a/B.class"),
    "application/vnd.android.package-archive": archive("AndroidManifest.xml", "META-INF/MANIFEST.MF"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": archive(
        "[Content_Types].xml", "_rels/.rels", "word/document.xml"
    ),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": archive(
        "[Content_Types].xml", "xl/workbook.xml"
    ),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": archive("ppt/slides/1.xml"),
    "application/epub+zip": epub(),
    "application/gzip": gzip.compress(LOG),
    "application/zstd": zstandard.compress(LOG),
    "application/x-xz": lzma.compress(LOG),
    "application/x-bzip2": bz2.compress(LOG),
    "application/x-7z-compressed": b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(24),
    "application/vnd.rar": b"Rar!\x1a\x07\x01\0" + bytes(24),
    "application/x-tar": tar(tarfile.PAX_FORMAT),
    "application/x-archive": b"!<arch>\na.o/            0           0     0     644     4         `\n\x7fELF",
    "application/x-mach-binary": b"\xcf\xfa\xed\xfe\x07\0\0\x01" + bytes(24),
    "application/vnd.microsoft.portable-executable": program(),
    "application/java-vm": b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 65, 20) + bytes(20),
    "application/wasm": b"\0asm\x01\0\0\0",
    "application/vnd.apache.parquet": b"PAR1\x15\x04\x15" + bytes(40) + b"PAR1",
    "application/x-python-code": None,
    "application/vnd.sqlite3": None,
    "application/x-elf": None,
    "application/x-pickle": pickle.dumps({"a": [1, 2, 3]}),
    "application/x-apple-ds-store": b"\0\0\0\x01Bud1\0\0\x10\0" + bytes(40),
    "application/x-gettext-translation": b"\xde\x12\x04\x95" + bytes(24) + LOG,
    "audio/wav": wav(),
    "audio/mpeg": mp3(),
    "audio/flac": b"fLaC\0\0\0\x22" + bytes(40),
    "audio/ogg": page(b"\x01vorbis"),
    "video/ogg": page(b"\x80theora"),
    "application/ogg": page(b"unknown"),
    "audio/mp4": b"\0\0\0\x20ftypM4A " + bytes(20),
    "video/mp4": b"\0\0\0\x20ftypisom" + bytes(20),
    "video/quicktime": b"\0\0\0\x14ftypqt  " + bytes(20),
    "video/webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm" + bytes(20),
    "video/matroska": b"\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska" + bytes(20),
    "font/woff": b"wOFF\0\x01\0\0" + bytes(40),
    "font/woff2": b"wOF2OTTO" + bytes(40),
    "font/otf": b"OTTO\0\x0b\0\x80" + bytes(40),
    "font/ttf": font(b"OS/2"),
    "font/collection": b"ttcf\0\x01\0\0" + bytes(40),
}


@pytest.mark.long
@each_of("expected", MADE)
def test_known_formats(tmp_path, expected):
    """Each format that has a magic number is called by its media type, whole and by its first 8 KiB."""
    made = {
        "application/x-python-code": lambda: pyc(tmp_path),
        "application/vnd.sqlite3": lambda: sqlite(tmp_path),
        "application/x-elf": elf,
    }
    data = MADE[expected]
    data = made[expected]() if data is None else data
    if data is not None:
        assert media_type(data) == expected
        assert media_type(data, len(data) * 1000) == expected


def elf() -> bytes | None:
    data = Path(sys.executable).resolve().read_bytes()
    return data if data.startswith(b"\x7fELF") else None


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_kind_of_tar(kind):
    """POSIX and GNU archives have the same five letters at the same place."""
    assert media_type(tar(kind)) == "application/x-tar"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [None, {"a": 1}, list(range(20_000))])
def test_every_kind_of_pickle(protocol, value):
    """Protocols from 2 on say so; small and large ones."""
    assert media_type(pickle.dumps(value, protocol)) == "application/x-pickle"


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("data", [b"", LOG])
def test_archives_of_nothing(level, data):
    """Empty archives are archives."""
    assert media_type(bz2.compress(data, level)) == "application/x-bzip2"
    assert media_type(gzip.compress(data, level)) == "application/gzip"
    assert media_type(archive()) == "application/zip"


def test_modules_of_this_interpreter():
    """Compiled modules of the standard library and of this project are bytecode."""
    folder = Path(sysconfig.get_path("stdlib"))
    for path in sorted(folder.glob("__pycache__/*.pyc"))[:50]:
        assert media_type(path.read_bytes()) == "application/x-python-code"


def test_a_fat_program_is_no_java_class():
    """They share the first four bytes; the count of processors is smaller than any class file's version."""
    assert media_type(b"\xca\xfe\xba\xbe\0\0\0\x02" + bytes(100)) == "application/x-mach-binary"


def test_a_format_has_a_name():
    """The short name is for people."""
    assert recognise(gif(), 20) == BinaryType("image/gif", "GIF image")


# --- text -------------------------------------------------------------------------------------------------

# Control characters and halves of surrogate pairs.
PLAIN = st.characters(exclude_categories=("Cc", "Cs"))


@given(st.text(PLAIN), st.integers(0, 400))
@example("PAR1", 4)
@example("BM6 is a model", 9)
@example("%PDF-1.4", 8)
@example("GIF89a", 6)
@example("MZ", 2)
@example("\ufeffx", 2)
@example("😀", 3)
def test_unicode_text_is_text_wherever_it_is_cut(text, cut):
    """Whatever its first letters spell, and in the middle of a character."""
    data = text.encode()
    assert recognise(data[:cut], len(data)) is None
    assert recognise(data, len(data)) is None


@given(st.text(st.sampled_from("ab é日😀\a\b\t\n\f\r\x1b"), max_size=100))
def test_what_a_terminal_gets_is_text(text):
    """Tabs, line ends, form feeds, backspaces, bells and escapes are no control characters here."""
    data = text.encode()
    assert recognise(data, len(data)) is None


@given(st.binary(max_size=600), st.integers(0, 10**6), st.integers(0, 300))
def test_random_bytes_never_crash(data, more, inline):
    """Any bytes are text or some type, and their summary is as short as was asked."""
    size = len(data) + more
    kind = recognise(data, size) or BinaryType(OCTETS, "x")
    assert len(summarise(kind, data, size, inline=inline)) <= inline
    assert text_encoding(data) is None or data[0] in {0xEF, 0xFF, 0xFE, 0x00}


@given(st.sampled_from(sorted(name for name, data in MADE.items() if data)), st.integers(0, 300), st.data())
def test_damaged_formats_never_crash(name, cut, data):
    """The beginning of a known format, cut off and with a byte changed."""
    head = bytearray(MADE[name][:cut])
    for at in data.draw(st.lists(st.integers(0, max(len(head) - 1, 0)), max_size=3)):
        head[at : at + 1] = b"\xff"
    kind = recognise(bytes(head), cut + 10) or BinaryType("image/x", "x")
    assert summarise(kind, bytes(head), cut + 10, inline=500).startswith("[Binary: ")


@each_of(
    "data",
    [
        b"",
        LOG,
        (WORDS * 50).encode("latin-1"),
        b"caf\xe9\n",
        b"\x1b[31merror\x1b[0m: \x1b]0;title\x07 50%\x08\x08\x08100%\r\n",
        b"\0".join(b"./src/module_%03d/file.py" % i for i in range(300)),
        b"PATH=/usr/bin:/bin\0HOME=/root\0LANG=C.UTF-8\0",
        b"key\0value",
        b"PAR1 and BM are words, d\xe9j\xe0 vu\n" * 20,
        b"MZ is a prefix in d\xe9j\xe0 vu\n" * 20,
        b"BM is a prefix in d\xe9j\xe0 vu\n" * 20,
        b"bad \xff byte in a long line of otherwise plain text\n" * 10,
        ("日本語のテキスト。" * 2000).encode()[:HEAD_BYTES],
        b"\x0cform feed\n",
        b"ring\x07 the bell\x07\n" * 3,
        "処理中: ファイル 12 完了\n".encode("shift-jis") * 40,  # was shown as a dump, as was what follows
        "ошибка: файл не найден\n".encode("koi8-r") * 40,
        "错误: 找不到文件\n".encode("gbk"),
        b"rec 1\0ok\0\nrec 2\0FAILED\0\n" * 90,
        b"/usr/share/doc\0/usr/share/doc/gzip\0" * 90,
    ],
)
def test_text_that_is_a_little_broken_is_text(data):
    """Few control characters, few invalid bytes: what a tool prints stays readable."""
    assert recognise(data, len(data)) is None


@each_of(
    "data",
    [
        bytes(100),
        bytes(1),
        b"\0\1\2\3",
        random.Random(0).randbytes(HEAD_BYTES),
        random.Random(1).randbytes(200),
        "x = 1\n".encode("utf-16-le"),
        "x = 1\n".encode("utf-32-be"),
        struct.pack("<200I", *range(200)),
        struct.pack("<200d", *(i / 7 for i in range(200))),
        zlib.compress(LOG, 9)[2:],
        bytes(range(0x80, 0x100)) * 10,
        b"\xff\xfe" + random.Random(2).randbytes(2000),
        b"\xff\xfb\xf0 not a frame" + bytes(100),
    ],
)
def test_what_has_no_magic_number_is_told_by_numbers(data):
    """NULs, control characters and invalid bytes in any number make data, of unknown type."""
    assert media_type(data) == OCTETS


def test_a_pdf_of_plain_text_is_a_pdf():
    """A version and a line end make it one, though no byte of it is binary."""
    assert media_type(b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\n") == "application/pdf"
    assert media_type(b"%PDF-1.4 is what a PDF begins with\n") is None


def test_only_the_first_bytes_count():
    """What lies behind 8 KiB is not looked at, even if it is handed over."""
    assert recognise(b"a" * HEAD_BYTES + bytes(HEAD_BYTES * 9), 10**6) is None


# --- encodings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@given(text=st.text(PLAIN | st.sampled_from("\t\n"), max_size=100), cut=st.integers(4, 400))
def test_text_with_a_byte_order_mark_is_text(encoding, text, cut):
    """UTF-16 and UTF-32 in both orders, wherever the head is cut."""
    data = f"\ufeff{text}".encode(encoding)
    assert text_encoding(data[:cut]) == encoding
    assert recognise(data[:cut], len(data)) is None


def test_utf8_with_a_mark_is_named_too():
    """Its text begins with the mark; what follows is judged like any UTF-8."""
    assert text_encoding(b"\xef\xbb\xbfyes") == "utf-8-sig"
    assert media_type(b"\xef\xbb\xbfyes") is None
    assert media_type(b"\xef\xbb\xbf" + bytes(100)) == OCTETS


@pytest.mark.parametrize("data", [b"", b"yes", b"\xef\xbb", "yes".encode("utf-16-le")])
def test_without_a_mark_there_is_no_encoding(data):
    """Nothing is guessed."""
    assert text_encoding(data) is None


# --- summaries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1,024 bytes (1.0 KB)"),
        (12_345, "12,345 bytes (12.1 KB)"),
        (10 * 1024**2, "10,485,760 bytes (10.0 MB)"),
        (3 * 1024**3, "3,221,225,472 bytes (3.0 GB)"),
        (5 * 1024**5, "5,629,499,534,213,120 bytes (5120.0 TB)"),
    ],
)
def test_the_size_is_exact_and_rounded(size, text):
    """Bytes with separators, and the largest unit that they fill."""
    assert summarise(BinaryType("image/png", "x"), b"", size, inline=99) == f"[Binary: image/png, {text}]"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (png(640, 480), (640, 480)),
        (gif(3, 2), (3, 2)),
        (bmp(5, -7), (5, 7)),
        (core_bmp(5, 7), (5, 7)),
        (jpeg(800, 600), (800, 600)),
        (jpeg(10, 20, frame=0xC2), (10, 20)),
        (VP8X, (300, 200)),
        (VP8L, (300, 200)),
        (VP8, (300, 200)),
    ],
)
def test_pictures_have_a_width_and_a_height(data, expected):
    """Of PNG, GIF, JPEG, WebP and BMP, if the head has them."""
    assert dimensions(data) == expected
    kind = recognise(data, len(data))
    assert kind is not None
    assert summarise(kind, data, 10**6, inline=500).startswith(
        f"[Binary: {kind.media_type}, 1,000,000 bytes (976.6 KB), {expected[0]}x{expected[1]} pixels]"
    )
    for cut in range(len(data)):
        assert dimensions(data[:cut]) in {None, expected}


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\nxxxxNOPE" + bytes(20), webp(b"NOPE" + bytes(30)), b"II*\0"]
)
def test_other_pictures_have_none(data):
    """Nothing is guessed."""
    assert dimensions(data) is None


def test_small_content_is_shown_whole_in_base64():
    """AC-085: lines of 76 characters that decode to the very bytes."""
    data = random.Random(3).randbytes(300)
    text = summarise(BinaryType(OCTETS, "x"), data, 300, inline=8000)
    title, label, *lines = text.split("\n")
    assert (title, label) == (f"[Binary: {OCTETS}, 300 bytes]", "base64 of all 300 bytes:")
    assert [len(line) for line in lines] == [76] * 5 + [20]
    assert base64.b64decode("".join(lines)) == data


def test_base64_gives_way_to_a_hex_dump_when_it_does_not_fit():
    """One character less than it needs, and the first 64 bytes are shown."""
    data = random.Random(4).randbytes(600)
    kind = BinaryType(OCTETS, "x")
    whole = summarise(kind, data, 600, inline=8000)
    assert summarise(kind, data, 600, inline=len(whole)) == whole
    assert "first 64 bytes:" in summarise(kind, data, 600, inline=len(whole) - 1)


def test_only_whole_content_is_encoded():
    """Base64 of a part would be taken for the whole."""
    assert "base64" not in summarise(BinaryType(OCTETS, "x"), bytes(50), 51, inline=8000)


def test_the_hex_dump_is_that_of_hexdump():
    """Offset, 16 bytes in two groups, and what they are in ASCII."""
    data = b"\x7fELF" + bytes(range(0x18, 0x60))
    text = summarise(BinaryType("application/x-elf", "x"), data, 9999, inline=1000)
    assert text.split("\n")[1:3] == [
        "first 64 bytes:",
        '00000000  7f 45 4c 46 18 19 1a 1b  1c 1d 1e 1f 20 21 22 23  |.ELF........ !"#|',
    ]
    assert len(text.split("\n")) == 6


@pytest.mark.skipif(shutil.which("hexdump") is None, reason="no hexdump here")
@pytest.mark.parametrize("length", [1, 8, 9, 16, 17, 64, 100])
def test_the_hex_dump_agrees_with_the_program(length):
    """Character for character, short last lines too."""
    data = random.Random(length).randbytes(length)
    done = subprocess.run(["hexdump", "-Cv"], input=data[:64], stdout=subprocess.PIPE, check=True)
    ours = summarise(BinaryType(OCTETS, "x"), data, 10**6, inline=1000).split("\n")[2:]
    assert ours == done.stdout.decode().splitlines()[:-1]


@pytest.mark.parametrize("inline", [-5, 0, 1, 20, 42, 60, 137, 138, 139, 400, 8000])
def test_a_summary_is_never_longer_than_allowed(inline):
    """Lines of the dump fall away first, whole, then the end of the title."""
    text = summarise(BinaryType(OCTETS, "x"), bytes(100), 10**9, inline=inline)
    assert len(text) <= max(inline, 0)
    assert all(line.endswith("|") for line in text.split("\n")[2:])


def test_the_start_of_large_content_is_not_encoded_for_nothing():
    """A caller may hand over all of a large file: the work is bounded by what is shown."""
    data = bytes(10**7)
    assert len(summarise(BinaryType(OCTETS, "x"), data, len(data), inline=1000)) < 500
