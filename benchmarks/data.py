"""The files that are measured: made once for each kind and size, kept in ``.data``, never committed."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from benchmarks import logs, texts, tool_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MIB = 1024 * 1024
FOLDER = Path(__file__).parent / ".data"
KINDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "log": logs.blocks,
    "tool": tool_output.blocks,
    "json": functools.partial(texts.blocks, "JSON lines"),
    "sources": texts.sources,
    **{name: functools.partial(texts.blocks, name) for name in texts.TEN},
}
NAMES = {
    "log": "generated log",
    "tool": "real tool output",
    "json": "generated JSON lines",
    "sources": "sources of this machine",
}


class Source(NamedTuple):
    """One file and what it must read back as."""

    kind: str
    path: Path
    size: int
    digest: str

    @property
    def label(self) -> str:
        """For people."""
        return f"{NAMES.get(self.kind, self.kind)}, {self.size // MIB} MiB"


def digest_of(blocks: Iterable[bytes]) -> str:
    """One digest over many blocks."""
    total = blake3()
    for block in blocks:
        total.update(block)
    return total.hexdigest()


def read_blocks(path: Path) -> Iterator[bytes]:
    """A file in pieces of 1 MiB."""
    with path.open("rb", buffering=0) as file:
        while block := file.read(MIB):
            yield block


def source(kind: str, size: int) -> Source:
    """The file of that kind and size; made if it is not there."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{kind}-{size // MIB}m"
    if not path.exists():
        _make(path, kind, size)
    stamp = path.with_suffix(".blake3")
    if not stamp.exists():
        stamp.write_text(digest_of(read_blocks(path)))
    return Source(kind, path, size, stamp.read_text())


def _make(path: Path, kind: str, size: int) -> None:
    print(f"making {NAMES.get(kind, kind)}, {size // MIB} MiB ...", flush=True)
    hidden = path.with_suffix(f".{os.getpid()}")
    left = size
    with hidden.open("wb") as file:
        for block in _existing(kind, size) or KINDS[kind]():
            left -= file.write(block[:left])
            if not left:
                break
    hidden.rename(path)


def _existing(kind: str, size: int) -> Iterator[bytes] | None:
    """A larger file of the same kind begins with the same bytes."""
    for other in FOLDER.glob(f"{kind}-*m"):
        if other.stat().st_size >= size:
            return read_blocks(other)
    return None
