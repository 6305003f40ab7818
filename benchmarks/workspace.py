"""Room on the same disk as the data, and what several measurements share: stored files, made once a run."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchmarks import process, stream
from benchmarks.data import FOLDER, MIB, source

if TYPE_CHECKING:
    from types import TracebackType

    from benchmarks.data import Source

SESSION = "bench"


class Workspace:
    """A temporary folder; a context manager. ``quick`` asks for smaller data and fewer rounds."""

    def __init__(self, *, quick: bool) -> None:
        FOLDER.mkdir(exist_ok=True)
        self.quick = quick
        self.large = (256 if quick else 1024) * MIB
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=FOLDER))
        self._stored: dict[tuple[str, int], tuple[Path, dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def fresh(self, name: str) -> Path:
        """A path at which nothing is."""
        path = self.folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return path

    def source(self, kind: str, size: int) -> Source:
        """The file of that kind and size."""
        return source(kind, size)

    def stored(self, kind: str, size: int) -> tuple[Path, dict[str, Any]]:
        """A store root whose session holds that file, and what the worker reported of it."""
        key = (kind, size)
        if key not in self._stored:
            root = self.fresh(f"stored-{kind}-{size // MIB}")
            self._stored[key] = (
                root,
                process.python("worker", "write", self.source(kind, size).path, root, "normal"),
            )
        return self._stored[key]

    def keep(self, kind: str, size: int, root: Path, report: dict[str, Any]) -> None:
        """Let others use a root that was filled anyway."""
        if (kind, size) in self._stored:
            shutil.rmtree(root)
            return
        kept = root.rename(self.folder / f"stored-{kind}-{size // MIB}")
        self._stored[kind, size] = kept, report

    def compressed(self, kind: str, size: int) -> Path:
        """The same file as one zstd stream."""
        target = self.folder / f"stream-{kind}-{size // MIB}.zst"
        if not target.exists():
            process.run(stream.command(self.source(kind, size).path, target))
        return target
