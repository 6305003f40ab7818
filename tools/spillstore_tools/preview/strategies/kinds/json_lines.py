"""JSON Lines: how many records of which level, and the first record of each trouble."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import count
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.excerpts import Picker, excerpts, strong

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.request import Request

_SAMPLE = 50  # records that are read
_LEVELS = ("level", "severity", "levelname", "log_level", "lvl", "log.level", "@level")
_MESSAGES = ("msg", "message", "event", "text", "error", "err", "@message", "code")
_BAD = rb"(?i:err(?:or)?|fatal|critical|crit|panic|alert|emerg\w*|severe|failure|dpanic)|5\d|6\d"
_BAD_LEVEL = re.compile(_BAD)
_KEPT = 60  # kinds of trouble
_SCANNED = 200  # records of trouble that are looked at in a block
_WRITTEN = 8  # ways to write a level that are known
_OBJECTS = 0.95  # of the lines
_DIGITS = re.compile(rb"[0-9a-f]*\d[0-9a-f]*")
_NAMED = 300  # code points of keys or levels in the note


class JsonLines:
    """Records of JSON, one a line."""

    def __init__(self) -> None:
        self._lines = 0
        self._records: list[dict[str, Any]] = []
        self._picker = Picker()
        self._bad: dict[bytes, list[Any]] = {}  # a pick and how many there are, by what the messages share
        self._levels: Counter[bytes] = Counter()
        self._written: dict[
            bytes, bytes
        ] = {}  # levels by how a record writes them, with key and quotation marks
        self._more = False  # whether records of trouble were passed over
        self._level: str | None = None
        self._message: str | None = None

    def _begin(self, first: Block) -> None:
        """Learn from the first records which fields tell a level and a message."""
        self._records = _read(first.raw)
        known = self._records[0] if self._records else {}
        self._level = next((key for key in _LEVELS if isinstance(known.get(key), (str, int))), None)
        self._message = next((key for key in _MESSAGES if isinstance(known.get(key), str)), None)
        if self._level is not None:
            start = rb'"' + re.escape(self._level.encode()) + rb'"\s*:\s*"?'
            self._of_level = re.compile(start + rb'(\w+)["\s,}]')
            self._of_trouble = re.compile(start + rb"(?:" + _BAD + rb')(?:"|\s*[,}])')
        if self._message is not None:
            self._of_message = re.compile(
                rb'"' + re.escape(self._message.encode()) + rb'"\s*:\s*"([^"]{0,200})'
            )

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.first_line == 1 and block.long is None:
            self._begin(block)
        if block.long is not None or not self._records:
            return False
        if count(block.raw, b"\n{") < _OBJECTS * (block.lines - 1):
            return False
        self._picker.begin(block)
        self._lines += block.lines
        if self._level is not None:
            levels = self._levels_of(block)
            self._levels += levels
            if any(_BAD_LEVEL.fullmatch(level) for level in levels):
                self._look_at_trouble(block)
        return True

    def _levels_of(self, block: Block) -> Counter[bytes]:
        """The records of a block by level. Those of known levels are counted as they are written, which is ten times as fast."""
        found: Counter[bytes] = Counter()
        for written, level in self._written.items():
            found[level] += count(block.raw, written)
        if found.total() != block.lines:
            found.clear()
            for match in self._of_level.finditer(block.raw):
                found[match[1]] += 1
                if len(self._written) < _WRITTEN:
                    self._written[match[0]] = match[1]
        return +found

    def _look_at_trouble(self, block: Block) -> None:
        raw = block.raw
        for times, found in enumerate(self._of_trouble.finditer(raw)):
            if times == _SCANNED:
                self._more = True
                break
            end = raw.find(b"\n", found.end()) + 1 or len(raw)
            start = raw.rfind(b"\n", 0, found.start()) + 1
            message = self._of_message.search(raw, start, end) if self._message else None
            key = _DIGITS.sub(b"0", message[1] if message else b"")
            if key in self._bad:
                self._bad[key][1] += 1
            elif len(self._bad) < _KEPT:
                self._bad[key] = [self._picker.pick(start), 1]

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        keys = dict.fromkeys(key for record in self._records for key in record)
        words = f"{counted(overview.lines, 'record')} of JSON Lines with {listed(list(keys), _NAMED)}"
        if self._level is not None:
            levels = [
                f"{name.decode(errors='replace')} {count:,}" for name, count in self._levels.most_common()
            ]
            words += f"; {self._level}: {listed(levels, _NAMED)}"
        return excerpts(overview, request, words, self._picks(overview), first=3, last=3)

    def _note(self, times: int) -> str:
        if self._more:
            return ""  # nobody counted them
        return f"  [and {times - 1} more like this]\n" if times > 1 else ""

    def _picks(self, overview: Overview) -> list[Pick]:
        """The first record of each trouble; where no field tells a level, those with strong words."""
        if self._level is not None:
            return [pick._replace(note=self._note(times)) for pick, times in self._bad.values()]
        return strong(overview) or []


def _read(raw: bytes) -> list[dict[str, Any]]:
    """The first records; none where some line of them is no object."""
    records = []
    for line in raw.split(b"\n", _SAMPLE)[:_SAMPLE]:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(record, dict):
            return []
        records.append(record)
    return records
