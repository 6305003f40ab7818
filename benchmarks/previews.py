"""How often a preview of at most 8,000 characters shows the line that says what failed.

Two collections decide. One is made here, by running tools (``benchmarks.corpus``); what is counted of it stands in
``benchmarks.corpus.scoring``. The rest of this module is about the other one.

The logs are failing CI runs whose lines that matter are marked (CiDiff, not part of this repository): one folder a log, in
it ``fail.log`` and ``groundtruth``. The first line of ``groundtruth`` names a format, each other one is ``E a-b`` or ``E a``
(the error), ``C a-b`` (its context), or has no letter (an error). Numbers count from 1, and LF, CRLF and lone CR all end a
line, so nothing here may use ``splitlines``, which knows nine more.

A line is *shown* if its text stands in the preview, both without escape sequences, control characters and white space
around them; 200 characters of it are enough, since a preview may clip. A line without letter or digit says nothing and is
passed over. A text that stands elsewhere in the log too counts wherever the preview has it from, which flatters everybody
alike. Logs a preview could hold whole say nothing about it and are left out of the rates, but never out of the check.

    python -m benchmarks previews                                  # ours beside five usual ways to truncate
    python -m benchmarks.previews [--data FOLDER] NAME ... | all   # log by log
"""

from __future__ import annotations

import argparse
import atexit
import functools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus import rows as corpus
from benchmarks.row import Row
from spillstore import Store
from spillstore_tools.output.truncation import TruncationProcessor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.workspace import Workspace

LIMIT = 8_000
VARIABLE = "SPILLSTORE_CI_FAILURES"

_COMPARED = 200
_MISSED = 0.05
_HEAD = LIMIT * 60 // 100
_TAIL_LINES, _TAIL_BYTES = 2_000, 50 * 1024
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erase
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\r\n]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[ -/]*[0-Z\\^-~]"  # the short ones
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_RANGE = re.compile(r"(?:([EC])\s+)?(\d+)(?:\s*-\s*(\d+))?")


class Log(NamedTuple):
    """One failing log: its raw bytes, the same as text, its cleaned lines, and the numbers of its ``E`` lines."""

    name: str
    data: bytes
    text: str
    lines: list[str]
    errors: list[int]

    @property
    def counts(self) -> bool:
        """Whether a preview has to leave something out."""
        return len(self.text) > LIMIT

    def line(self, number: int) -> str:
        """As much of that line as a preview has to show; numbers begin with 1."""
        return self.lines[number - 1][:_COMPARED].rstrip()


class Score(NamedTuple):
    """What one preview shows of one log."""

    first: float
    some: float
    share: float
    length: int


def measure(_space: Workspace) -> list[Row]:
    """All rows: of the corpus, and of the marked logs where they are."""
    return corpus.measure(preview) + _of_logs(_load(_folder()))


def _of_logs(logs: list[Log]) -> list[Row]:
    if not logs:
        print(f"\nno logs at {_folder()}; {VARIABLE} says where they are")
        return []
    ours = [_score(log, preview(log.data)) for log in logs]
    correct = all(score.length <= LIMIT for score in ours)
    peers = {name: [_score(log, peer(log.text)) for log in logs] for name, peer in _PEERS.items()}
    return list(_rows(logs, ours, peers, correct=correct))


def preview(data: bytes) -> str:
    """What a model is shown of a command's output, stored and all."""
    return _processor().process(data, "execute_command").content


@functools.cache
def _processor() -> TruncationProcessor:
    root = tempfile.mkdtemp(prefix="spillstore-previews-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return TruncationProcessor(Store(root, free_disk_floor=0, artifacts_per_minute=0).session("previews"))


def _rows(
    logs: Sequence[Log], ours: Sequence[Score], peers: dict[str, list[Score]], *, correct: bool
) -> Iterator[Row]:
    count = sum(log.counts for log in logs)
    mine = _total(logs, ours)
    yield Row(
        what=f"first E line not shown, {count} logs",
        ours=1 - mine.first,
        unit="of logs",
        limit=_MISSED,
        of_ratio=False,
        correct=correct,
        extra={"logs": count},
    )
    figures = (
        ("first E line shown", "of logs"),
        ("any E line shown", "of logs"),
        ("share of E lines shown, mean", "of lines"),
        ("longest preview", "characters"),
    )
    for column, (what, unit) in enumerate(figures):
        for name, scores in peers.items():
            theirs = _total(logs, scores)[column]
            yield Row(
                what=f"{what}, {count} logs",
                ours=mine[column],
                unit=unit,
                peer=theirs,
                peer_name=name,
                ratio=mine[column] / theirs if theirs else None,
                correct=correct,
                extra={"logs": count},
            )


def _folder() -> Path:
    """Where the marked logs are if nobody says otherwise: beside the project."""
    beside = Path(__file__).parents[2] / "shared" / "data" / "ci-failures"
    return Path(os.environ.get(VARIABLE) or beside)


def _load(folder: Path) -> list[Log]:
    return [_read(path.parent) for path in sorted(folder.glob("*/groundtruth"))]


def _read(folder: Path) -> Log:
    data = (folder / "fail.log").read_bytes()
    text = data.decode("utf-8", "replace")
    lines = [_clean(line) for line in _LINE_END.split(text)]
    marked = list(_marked((folder / "groundtruth").read_text()))
    # Ranges may overlap; the order of the file stays, for its first range is the one that counts.
    errors = [
        number
        for number in dict.fromkeys(marked)
        if number <= len(lines) and re.search(r"[^\W_]", lines[number - 1])
    ]
    if not errors:
        sys.exit(f"{folder}: no E range of the ground truth holds any text")
    return Log(folder.name, data, text, lines, errors)


def _marked(groundtruth: str) -> Iterator[int]:
    """The numbers in all ``E`` ranges, in their order."""
    for line in groundtruth.splitlines()[1:]:
        match = _RANGE.fullmatch(line.strip())
        if match and match[1] != "C":
            yield from range(int(match[2]), int(match[3] or match[2]) + 1)


def _clean(text: str) -> str:
    """Without escape sequences, control characters but LF, and white space around."""
    return _CONTROL.sub("", _ESCAPE.sub("", text)).strip()


def _score(log: Log, shown: str) -> Score:
    seen = "\n".join(map(_clean, _LINE_END.split(shown)))
    found = [log.line(number) in seen for number in log.errors]
    return Score(float(found[0]), float(any(found)), mean(found), len(shown))


def _total(logs: Sequence[Log], scores: Sequence[Score]) -> Score:
    """Rates over the logs that count, every log alike however many lines are marked; the longest preview of all logs."""
    counted = [score for log, score in zip(logs, scores, strict=True) if log.counts]
    if not counted:
        return Score(0.0, 0.0, 0.0, max(score.length for score in scores))
    first, some, share = (mean(column) for column in list(zip(*counted, strict=True))[:3])
    return Score(first, some, share, max(score.length for score in scores))


def _tail(text: str) -> str:
    return text[-LIMIT:]


def _head_and_tail(text: str) -> str:
    return text if len(text) <= LIMIT else text[:_HEAD] + text[_HEAD - LIMIT :]


def _first_and_last_lines(text: str, first: int, last: int) -> str:
    lines = _LINE.findall(text)
    return text if len(lines) <= first + last else "".join(lines[:first] + lines[-last:])


def _last_lines(text: str) -> str:
    """Whole lines from the end while they fit both limits; the end of the last one if not even that fits."""
    kept: list[str] = []
    room = _TAIL_BYTES
    for line in reversed(_LINE.findall(text)[-_TAIL_LINES:]):
        room -= len(line.encode())
        if room < 0:
            break
        kept.append(line)
    return "".join(reversed(kept)) or text.encode()[-_TAIL_BYTES:].decode("utf-8", "ignore")


_PEERS: dict[str, Callable[[str], str]] = {
    "tail 8,000": _tail,
    "head 60 % + tail 40 % of 8,000": _head_and_tail,
    "100 + 50 lines": lambda text: _first_and_last_lines(text, 100, 50),
    "500 + 500 lines": lambda text: _first_and_last_lines(text, 500, 500),
    "tail 2,000 lines or 50 KB": _last_lines,
}


def _summary(logs: Sequence[Log]) -> str:
    """Every way to truncate in one line: rates over the logs that count."""
    ways: dict[str, Callable[[Log], str]] = {"ours": lambda log: preview(log.data)}
    ways |= {name: (lambda log, peer=peer: peer(log.text)) for name, peer in _PEERS.items()}
    lines = [f"{sum(log.counts for log in logs)} logs above {LIMIT:,} characters: first, any, share; longest"]
    for name, way in ways.items():
        total = _total(logs, [_score(log, way(log)) for log in logs])
        lines.append(
            f"  {name:32}{total.first:6.2f}{total.some:6.2f}{total.share:6.2f}{total.length:9,} characters"
        )
    return "\n".join(lines)


def _story(log: Log) -> str:
    """Hit or miss, the first line that matters, where it is, and how often its text stands in the log."""
    shown = preview(log.data)
    verdict = "small" if not log.counts else "hit" if _score(log, shown).first else "MISS"
    number = log.errors[0]
    text = log.line(number)
    often = sum(text in line for line in log.lines)
    return (
        f"{verdict:6}{log.name}: line {number:,} of {len(log.lines):,} ({often}x), "
        f"{len(log.errors):,} E lines, {len(log.text):,} characters, preview {len(shown):,}\n      {text}"
    )


def main() -> int:
    """Tell the named logs one by one, and the rates over them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.previews", description=(__doc__ or "")[:79])
    parser.add_argument("--data", type=Path, default=_folder(), help="a folder of logs in the same form")
    parser.add_argument("names", nargs="+", metavar="NAME", help="folders' names, or all")
    options = parser.parse_args()
    logs = _load(options.data)
    if "all" not in options.names:
        if unknown := set(options.names) - {log.name for log in logs}:
            parser.error(f"no log at {options.data} is called {', '.join(sorted(unknown))}")
        logs = [log for log in logs if log.name in options.names]
    if not logs:
        parser.error(f"no logs at {options.data}; --data or {VARIABLE} says where they are")
    print("\n".join(map(_story, logs)))
    print(f"\n{_summary(logs)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
