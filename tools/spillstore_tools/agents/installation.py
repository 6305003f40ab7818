"""What installing and uninstalling change: planned whole before the first file is written, and turned back if one cannot be."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
from typing import TYPE_CHECKING

from spillstore_tools.agents import document, files, record
from spillstore_tools.agents.edit import ConfigurationError, is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from spillstore_tools.agents.base import Agent, Place, Target
    from spillstore_tools.agents.edit import Splice
    from spillstore_tools.agents.files import Content


@dataclasses.dataclass(frozen=True, kw_only=True)
class Change:
    """What happens to one file.

    Attributes:
        content: the file as it is.
        after: its bytes afterwards; None if it is removed.
        record: what is noted of it; None where nothing of ours is left in it.
        original: the bytes that the record's backup holds; None if there was no file.
        forgets: whether the notes of an installation are removed.
        folders: folders that are removed if they are empty then, the innermost first.
    """

    content: Content
    after: bytes | None
    record: record.Record | None = None
    original: bytes | None = None
    forgets: bool = False
    folders: tuple[Path, ...] = ()

    @property
    def action(self) -> str:
        """``create``, ``change``, ``remove`` or ``none``."""
        if self.after == self.content.data:
            return "none"
        if self.after is None:
            return "remove"
        return "create" if self.content.data is None else "change"

    def diff(self) -> str:
        """The unified diff; empty if nothing changes."""
        name = str(self.content.path)
        before, after = (_lines(data) for data in (self.content.data, self.after))
        made = difflib.unified_diff(
            before,
            after,
            name if self.content.data is not None else "/dev/null",
            name if self.after is not None else "/dev/null",
        )
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made
        )


def install(agent: Agent, place: Place, *, force: bool = False) -> list[Change]:
    """What installing changes; nothing is written.

    Args:
        agent: for which one.
        place: where, and with which programs.
        force: whether another value, or another file where ours goes, is replaced until it is uninstalled.

    Raises:
        ConfigurationError: a file cannot be parsed, or something else stands where an entry goes; its message begins with the path.
        OSError: a file cannot be read.
    """
    refusal = agent.refusal(place)
    if refusal is not None:
        raise ConfigurationError(refusal)
    return [
        _named(target, lambda target: _installed(agent, target, force=force))
        for target in agent.targets(place)
    ]


def uninstall(agent: Agent, place: Place) -> list[Change]:
    """What uninstalling changes: each file as it was, and without our entries alone where somebody has changed it since.

    Raises:
        ConfigurationError: a file cannot be parsed; its message begins with the path.
        OSError: a file cannot be read.
    """
    everything = dataclasses.replace(place, rewrites=True)
    planned = [_named(target, _uninstalled) for target in agent.targets(everything)]
    return [dataclasses.replace(change, forgets=True) for change in planned]


def carry_out(changes: Sequence[Change]) -> None:
    """Write what is planned.

    Raises:
        ConfigurationError: somebody has changed a file since; all files are as they were.
        OSError: a file cannot be written; likewise.
    """
    with contextlib.ExitStack() as turn_back:
        for change in changes:
            if change.action == "none":
                continue
            turn_back.callback(_turn_back, change, record.load(change.content.path))
            if change.record is not None:
                record.save(change.record, change.original)
            _write(change.content, change.after)
        turn_back.pop_all()
    for change in changes:
        if change.forgets:
            record.forget(change.content.path)
        for folder in change.folders:
            with contextlib.suppress(OSError):  # somebody has put something into it
                folder.rmdir()


def _write(content: Content, data: bytes | None) -> None:
    if data is None:
        files.remove(content)
    else:
        files.replace(content, data)


def _turn_back(change: Change, earlier: record.Record | None) -> None:
    """Make a file and its notes what they were, unless the file could not be changed at all."""
    if files.read(change.content.path).data == change.after:
        _write(files.Content(change.content.path, change.after), change.content.data)
    if earlier is None:
        record.forget(change.content.path)
    else:
        record.save(earlier, earlier.original())


def _named(target: Target, planned: Callable[[Target], Change]) -> Change:
    try:
        return planned(target)
    except ConfigurationError as error:
        place = "" if error.line is None else f":{error.line}:{error.column}"
        raise ConfigurationError(f"{target.path}{place}: {error}", error.line, error.column) from None


def _installed(agent: Agent, target: Target, *, force: bool) -> Change:
    content = files.read(target.path)
    known = record.load(content.path)
    if target.language is None:
        return _own_file(agent, target, content, known, force=force)
    text = content.text
    if text is not None and document.holds(text, target.edits, target.language):
        return Change(content=content, after=content.data)
    empty = document.LANGUAGES[target.language].EMPTY
    base = empty if text is None else _without_ours(text, target, known)
    new, splices = document.put_in(base, target.edits, target.language, force=force)
    is_new = text is None or (known is not None and known.before is None and base == empty)
    original = None if is_new else content.encoded(base)
    return _change(agent, content, content.encoded(new), original, splices, known)


def _without_ours(text: str, target: Target, known: record.Record | None) -> str:
    """The text without what an earlier installation has put in; entries that are as they shall be may be the user's own."""
    assert target.language is not None, "it is an agent's file"
    if known is not None:
        text = document.taken_out(text, known.splices, target.language)
    for edit in target.edits:
        if not is_there(document.LANGUAGES[target.language].parse(text), edit):
            text = document.without(text, edit, target.language, len(edit.path))
    return text


def _own_file(
    agent: Agent, target: Target, content: Content, known: record.Record | None, *, force: bool
) -> Change:
    after = target.content.encode()
    if content.data == after:
        return Change(content=content, after=after)
    if content.data is None:
        return _change(agent, content, after, None, [], None)
    if known is not None and record.digest(content.data) == known.after:
        return _change(agent, content, after, known.original(), [], known)
    if not force:
        raise ConfigurationError("another file is there; --force replaces it until it is uninstalled")
    return _change(agent, content, after, content.data, [], None)


def _change(
    agent: Agent,
    content: Content,
    after: bytes,
    original: bytes | None,
    splices: list[Splice],
    known: record.Record | None,
) -> Change:
    made = files.missing_folders(content.path) if known is None else list(known.folders)
    noted = record.Record(
        agent=agent.name,
        file=content.path,
        before=None if original is None else record.digest(original),
        after=record.digest(after),
        splices=tuple(splices),
        folders=tuple(made),
    )
    return Change(content=content, after=after, record=noted, original=original)


def _uninstalled(target: Target) -> Change:
    content = files.read(target.path)
    known = record.load(content.path)
    if content.data is None:
        return Change(content=content, after=None)
    folders = () if known is None else known.folders
    if known is not None and record.digest(content.data) == known.after:
        original = known.original()
        if (original is None) == (known.before is None):
            return Change(content=content, after=original, folders=folders if original is None else ())
    if target.language is None:
        return _own_file_removed(target, content, known)
    text = content.text
    assert text is not None, "there is a file"
    if known is not None:
        text = document.taken_out(text, known.splices, target.language)
        if known.before is None and text == document.LANGUAGES[target.language].EMPTY:
            return Change(content=content, after=None, folders=folders)
    elif document.names_our_programs(text, target.edits, target.language):
        for edit in target.edits:
            text = document.without(text, edit, target.language)
    return Change(content=content, after=content.encoded(text))


def _own_file_removed(target: Target, content: Content, known: record.Record | None) -> Change:
    if content.data == target.content.encode():
        return Change(content=content, after=None, folders=() if known is None else known.folders)
    if known is None:  # another file of that name
        return Change(content=content, after=content.data)
    raise ConfigurationError("somebody has changed this file since it was installed; remove it by hand")


def _lines(data: bytes | None) -> list[str]:
    lines = ("" if data is None else data.decode(errors="replace")).split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]
