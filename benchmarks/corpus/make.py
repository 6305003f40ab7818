"""Outputs are made once, and kept in ``benchmarks/.data/corpus/outputs``, a folder for each half.

They are made outside the project, whose own settings tools would find in the folders above.
"""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus.case import Place
from benchmarks.data import FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus.case import Case

OUTPUTS = FOLDER / "corpus" / "outputs"
_AT_ONCE = 2


class Made(NamedTuple):
    """What became of a case: its output, or why there is none."""

    case: Case
    data: bytes
    reason: str = ""


def path_of(case: Case) -> Path:
    """Where its output is kept."""
    return OUTPUTS / case.half / f"{case.name}.out"


def make(cases: Sequence[Case], *, again: bool = False) -> list[Made]:
    """The outputs of those cases, in their order; those that are not there yet are made, which is told."""
    with (
        tempfile.TemporaryDirectory(prefix="corpus-", ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        return list(pool.map(lambda case: _made(case, Path(folder), again=again), cases))


def _made(case: Case, folder: Path, *, again: bool) -> Made:
    path = path_of(case)
    if path.exists() and not again:
        return Made(case, path.read_bytes())
    if case.missing:
        return Made(case, b"", f"missing: {', '.join(case.missing)}")
    (folder / case.name).mkdir()
    place = Place(folder / case.name)
    try:
        case.fill(place)
    except (OSError, subprocess.SubprocessError) as error:
        return Made(case, b"", f"{type(error).__name__}: {error}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(place.output)
    print(f"{case.name}: {len(place.output):,} bytes", flush=True)
    return Made(case, bytes(place.output))
