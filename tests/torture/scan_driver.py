"""The native scanner in a process of its own, under sanitizers: makes texts, checks its answers, and gives them out.

``scan_driver.c`` has the scanner's source and is compiled here. A read or write outside a block, undefined behaviour, a
check that fails or a hang ends that process, and ``Ended`` says what it wrote. Since it is a process of its own, Python needs
no sanitizer, and a driver that was built for another machine runs under an emulator.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path[:0] = [str(ROOT / "tests/store/redaction"), str(ROOT / "tests")]

import native_texts  # noqa: E402  # of the tests, as the next two
import secrets_made  # noqa: E402
from support import compiler_here  # noqa: E402

from spillstore import _native  # noqa: E402
from spillstore.redaction import finder, name_tables, scanner_tables  # noqa: E402
from spillstore.redaction.tables import scanner as table  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    Hit = tuple[int, int, int]

SOURCE = ROOT / "store/spillstore/_native"
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COUNTED = ("-fsanitize-coverage=trace-pc", "-Dmemchr=counted_memchr", "-Dmemcmp=counted_memcmp")
MOST_NAMES = 8192
_LITERALS = tuple(entry.literal.decode() for entry in finder.ENTRIES)
_FRAMES = ("@@", "  @@\n  next: line\n", '{"log": "@@", "x": 1}\n', "# @@ # note", "a = 1\r\n@@\r\nb = 2\n")
# Groups of pieces, and rows of groups of which texts are drawn.
_NAMES, _SIGNS, _BLANKS, _QUOTES, _WORDS, _VALUES, _TOKENS = range(7)
_TEMPLATES = (
    (_QUOTES, _NAMES, _QUOTES, _BLANKS, _SIGNS, _BLANKS, _QUOTES, _VALUES, _QUOTES, _BLANKS),
    (_NAMES, _SIGNS, _VALUES, _BLANKS),
    (_NAMES, _BLANKS, _WORDS, _BLANKS, _SIGNS, _BLANKS, _VALUES, _BLANKS),
    (_TOKENS, _VALUES, _BLANKS),
    (_WORDS, _BLANKS, _TOKENS, _SIGNS, _VALUES, _BLANKS),
    (_WORDS, _BLANKS),
    (_SIGNS, _BLANKS, _VALUES, _BLANKS),
)
_CANDIDATE = struct.Struct("<III")
_RUN = struct.Struct("<II")


class Ended(Exception):  # noqa: N818  # that it has ended is no error of the caller
    """The driver has ended by itself: what it wrote to stderr."""


class NoCompilerError(Exception):
    """There is nothing to build the driver with."""


def compiled(
    folder: Path,
    *,
    command: list[str] | None = None,
    flags: tuple[str, ...] = (*SANITIZERS, *COUNTED),
    source: Path = SOURCE,
) -> Path:
    """Build the driver in a folder.

    Args:
        folder: where.
        command: the compiler; None for the machine's own.
        flags: without those of sanitizers and counters, what they see is not seen.
        source: the folder of the scanner's source.
    """
    if command is None:
        found = compiler_here("gcc", "clang", "cc")
        if found is None:
            raise NoCompilerError("this machine has no C compiler")
        command = [found]
    made, steps = folder / "scan_driver", folder / "scan_steps.o"
    common = [*command, "-std=c11", "-Wall"]
    plain = [flag for flag in flags if flag not in COUNTED]
    for arguments in (
        [*common, *plain, "-c", "-o", str(steps), str(HERE / "scan_steps.c")],
        [*common, *flags, f"-I{source}", "-o", str(made), str(HERE / "scan_driver.c"), str(steps)],
    ):
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoCompilerError(f"{command[0]} cannot build the driver: {done.stderr[-2000:]}")
    return made


def _blob(of: bytes) -> bytes:
    return struct.pack("<I", len(of)) + of


def _group(of: list[bytes]) -> bytes:
    return struct.pack("<I", len(of)) + b"".join(map(_blob, of))


class _Made:
    """The scanner's tables as this process makes them, to be sent to a driver."""

    def __init__(self) -> None:
        library = _native.library()
        assert library is not None, "the caller has seen that there is one"
        self.tables, self._owned = scanner_tables.tables(library, finder.ENTRIES)
        size = ctypes.sizeof(scanner_tables.Literal)
        self._literals = ctypes.string_at(self.tables.literals, size * len(finder.ENTRIES))

    def pointed(self) -> list[bytes]:
        """What the pointers of the tables point at, in their order; empty where the driver makes it itself."""
        rows = (scanner_tables.Literal * len(finder.ENTRIES)).from_buffer_copy(self._literals)
        sets = 1 + max(max(row.set, row.no_name) for row in rows)
        own = {
            "columns": self._numbers("columns"),
            "literals": self._literals,
            "bytes": self._numbers("bytes"),
            "sets": self._at("sets", 256 * sets),
            **name_tables.name_tables()._asdict(),
            **dict.fromkeys(("next", "first", "ends", "names"), b""),
        }
        return [own[name] if name in own else getattr(self.tables, name) + b"\0" for name in self._pointers()]

    def words(self) -> list[str]:
        """The words of all lists."""
        return [word for words in (*table.WORDS.values(), *table.PARTS.values()) for word in words.split()]

    def _pointers(self) -> list[str]:
        fields = scanner_tables.Tables._fields_
        pointers = {ctypes.c_char_p, ctypes.c_void_p}
        return [name for name, _ in itertools.takewhile(lambda field: field[1] in pointers, fields)]

    def _numbers(self, name: str) -> bytes:
        return struct.pack("<256I", *(ctypes.c_uint32 * 256).from_address(getattr(self.tables, name)))

    def _at(self, name: str, size: int) -> bytes:
        pointer = ctypes.c_void_p.from_buffer(self.tables, getattr(scanner_tables.Tables, name).offset)
        return ctypes.string_at(pointer.value, size)


def _texts_of(seed: int, words: list[str]) -> bytes:
    """What texts are made of: groups of pieces, rows of groups, and whole texts to change."""
    rng = random.Random(seed)
    maker = secrets_made.Maker(seed)
    lines = [line for _, line in maker.within() + maker.elsewhere()] + maker.prefixed()
    whole = [frame.replace("@@", line) for line in lines for frame in rng.sample(_FRAMES, 2)]
    groups = (
        [*native_texts.NAMES, *(native_texts.name(rng) for _ in range(1000))],
        native_texts.SIGNS,
        native_texts.BLANKS,
        native_texts.QUOTES,
        native_texts.WORDS + words,
        [native_texts.value(rng) for _ in range(3000)],
        [*_LITERALS, *maker.tokens().values()],
    )
    seeds = [text.encode() for text in whole] + [native_texts.text(rng, _LITERALS) for _ in range(1500)]
    pieces = (_group([piece.encode() for piece in group]) for group in groups)
    rows = b"".join(bytes(row) + b"\xff" for row in _TEMPLATES)
    return b"".join((struct.pack("<I", len(groups)), *pieces, _blob(rows), _group(seeds)))


class Driver:
    """A running driver. Also a searcher of candidates, as ``finder.searcher`` returns one.

    Args:
        command: what starts it.
        seed: of what its texts are made of.
    """

    def __init__(self, command: list[str], seed: int = 0) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process
        options = {"ASAN_OPTIONS": "detect_leaks=0"}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **options},
            bufsize=1 << 16,
        )
        made = _Made()
        pointed = made.pointed()
        literals = [entry.literal for entry in finder.ENTRIES]
        self._send(struct.pack("<I", len(pointed)), *map(_blob, pointed))
        self._send(_blob(bytes(map(len, literals))), _blob(b"".join(literals)), _texts_of(seed, made.words()))
        self.steps = 0  # of the last scan
        self.start("", MOST_NAMES)

    def start(self, draw: object, names: int) -> None:
        """Forget all names and draw anew: a table of ``names`` names, a power of two."""
        rng = random.Random(f"{draw}")
        self._send(b"R", struct.pack("<QQI", rng.getrandbits(64), rng.getrandbits(64), names - 1))

    def check(self, count: int, large: int) -> tuple[int, int, int]:
        """Make and scan so many texts, one in ``large`` a large one; returns bytes, places that were given out, edges that ran."""
        self._send(b"C", struct.pack("<II", count, large))
        return struct.unpack("<QQI", self._receive(20))

    def texts(self, count: int, large: int) -> Iterator[tuple[bytes, bool, list[Hit], list[tuple[int, int]]]]:
        """Texts, whether their last line has ended, and the places and runs that the scanner gives out. All must be taken."""
        self._send(b"T", struct.pack("<II", count, large))
        for _ in range(count):
            size, final = struct.unpack("<II", self._receive(8))
            yield self._receive(size), bool(final), self._places(), self._runs()

    def hits(self, text: bytes, whole: int, low: int = 0, high: int | None = None) -> Iterator[Hit]:
        """As of a ``Scanner``."""
        self._send(b"S", struct.pack("<I", whole - low), _blob(text[low:high]))
        (self.steps,) = struct.unpack("<Q", self._receive(8))
        return ((number, start + low, end + low) for number, start, end in self._places())

    def runs(self, text: bytes, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        """As of a ``Scanner``."""
        self._send(b"U", _blob(text[low:high]))
        (self.steps,) = struct.unpack("<Q", self._receive(8))
        return ((start + low, end + low) for start, end in self._runs())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """End it; raises ``Ended`` if it did not end as it should, or had before."""
        try:
            if kind is not None:
                self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            code = self._process.wait()
            if kind is None and code:
                raise Ended(self._told(code))
        finally:
            self._process.stdout.close()
            self._errors.close()

    def _places(self) -> list[Hit]:
        (count,) = struct.unpack("<I", self._receive(4))
        return list(_CANDIDATE.iter_unpack(self._receive(_CANDIDATE.size * count)))

    def _runs(self) -> list[tuple[int, int]]:
        (count,) = struct.unpack("<I", self._receive(4))
        return list(_RUN.iter_unpack(self._receive(_RUN.size * count)))

    def _send(self, *parts: bytes) -> None:
        try:
            self._process.stdin.write(b"".join(parts))
        except BrokenPipeError:
            raise Ended(self._told(self._process.wait())) from None

    def _receive(self, size: int) -> bytes:
        try:
            self._process.stdin.flush()
            got = self._process.stdout.read(size)
        except BrokenPipeError:
            got = b""
        if len(got) < size:
            raise Ended(self._told(self._process.wait()))
        return got

    def _told(self, code: int) -> str:
        self._errors.seek(0)
        told = self._errors.read(1_000_000).decode(errors="replace").partition("\nShadow bytes")[0]
        return f"the driver ended with {code}: {told.strip()}"
