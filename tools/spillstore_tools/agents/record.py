"""What was changed in a file, so that it can be turned back to the byte.

A record is one JSON file in the user's state folder, named after the file that was changed, and a copy of that file as it was
before. Without its record an entry is still found by its value.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from pathlib import Path

from spillstore_tools.agents import files
from spillstore_tools.agents.edit import Edit, Splice

_FORMAT = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """One installation's changes of one file.

    Attributes:
        agent: for which agent.
        file: the file, behind links.
        before: digest (SHA-256) of its bytes before; None where there was no file.
        after: that of its bytes after.
        splices: what was changed, in order.
        folders: folders that were made for it, the innermost first.
    """

    agent: str
    file: Path
    before: str | None
    after: str
    splices: tuple[Splice, ...]
    folders: tuple[Path, ...]

    @property
    def backup(self) -> Path | None:
        """The copy of the file as it was before."""
        return None if self.before is None else _name(self.file).with_suffix(".before")

    def original(self) -> bytes | None:
        """The bytes before, from the copy; None if there were none, or the copy is not what it was."""
        if self.backup is None:
            return None
        data = files.read(self.backup).data
        return data if data is not None and digest(data) == self.before else None


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def load(file: Path) -> Record | None:
    """The record of a file, or None; one that cannot be understood counts as none."""
    data = files.read(_name(file).with_suffix(".json")).data
    if data is None:
        return None
    try:
        found = json.loads(data)
        splices = [
            Splice(Edit(tuple(each["path"]), each["value"], each["element"]), each["position"], each["inserted"], each["removed"], each["created"])
            for each in found["splices"]
        ]  # fmt: skip
        if found["format"] != _FORMAT or found["file"] != str(file):
            return None
        folders = tuple(Path(each) for each in found["folders"])
        return Record(
            agent=found["agent"], file=file, before=found["before"], after=found["after"],
            splices=tuple(splices), folders=folders,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


def save(record: Record, before: bytes | None) -> None:
    """Write a record, and the copy of the file as it was.

    Raises:
        OSError: they cannot be written.
    """
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if before is not None:
        assert record.backup is not None, "there was a file"
        _write(record.backup, before)
    splices = [
        {"path": each.edit.path, "value": each.edit.value, "element": each.edit.element, "position": each.position,
         "inserted": each.inserted, "removed": each.removed, "created": each.created}
        for each in record.splices
    ]  # fmt: skip
    found = {
        "format": _FORMAT, "agent": record.agent, "file": str(record.file), "before": record.before,
        "after": record.after, "splices": splices, "folders": [str(each) for each in record.folders],
    }  # fmt: skip
    _write(_name(record.file).with_suffix(".json"), json.dumps(found, indent=2).encode())


def forget(file: Path) -> None:
    """Remove a file's record. The copy of the file stays until the next one is made."""
    _name(file).with_suffix(".json").unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    mask = os.umask(0o077)  # a configuration may hold keys
    try:
        files.replace(files.read(path), data)
    finally:
        os.umask(mask)


def _folder() -> Path:
    import platformdirs  # noqa: PLC0415  # not for who only looks at arguments

    return platformdirs.user_state_path("spillstore-agents", appauthor=False)


def _name(file: Path) -> Path:
    return _folder() / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}.json"
