"""Entries put into the text of a configuration and taken out again, whatever language it is in.

Each change is tried by values: the file holds what it held before and our entry, or the configuration is left as it is. Taking out
turns each insertion back where its text still stands; where somebody has changed it, the entry alone is taken out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from spillstore_tools.agents import jsonc, toml
from spillstore_tools.agents.edit import (
    ConfigurationError,
    canonical,
    is_there,
    names_our_program,
    with_entry,
    without_entry,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore_tools.agents.edit import Edit, Splice


class Language(Protocol):
    """What an editor of a language offers; a module is one."""

    @property
    def EMPTY(self) -> str:  # noqa: N802  # a constant of a module
        """A file with nothing in it."""

    def parse(self, text: str) -> Any:
        """What a text says."""

    def add(self, text: str, edit: Edit, *, force: bool = False) -> Splice | None:
        """The change that puts an entry in."""

    def remove(self, text: str, edit: Edit, keep: int) -> str:
        """The text without an entry."""


LANGUAGES: dict[str, Language] = {"json": jsonc, "toml": toml}


def holds(text: str, edits: Sequence[Edit], language: str) -> bool:
    """Whether all entries are in a text, exactly as they would be written.

    Raises:
        ConfigurationError: it cannot be parsed.
    """
    document = LANGUAGES[language].parse(text)
    return all(is_there(document, edit) for edit in edits)


def names_our_programs(text: str, edits: Sequence[Edit], language: str) -> bool:
    """Whether an entry of ours is in a text that names our programs; one that names none may be the user's own.

    Raises:
        ConfigurationError: it cannot be parsed.
    """
    document = LANGUAGES[language].parse(text)
    telling = [edit for edit in edits if names_our_program(edit.value)]
    return any(canonical(without_entry(document, edit, 0)) != canonical(document) for edit in telling)


def put_in(
    text: str, edits: Sequence[Edit], language: str, *, force: bool = False
) -> tuple[str, list[Splice]]:
    """The text with all entries, and the changes that were made to it, in order.

    Args:
        text: the file.
        edits: the entries.
        language: ``json`` (with comments) or ``toml``.
        force: whether other values are replaced.

    Raises:
        ConfigurationError: it cannot be parsed, or something else stands where an entry goes.
    """
    editor = LANGUAGES[language]
    splices = []
    for edit in edits:
        before = editor.parse(text)
        splice = editor.add(text, edit, force=force)
        if splice is None:
            continue
        changed = splice.applied(text)
        if not _means(editor, changed, with_entry(before, edit)):
            raise ConfigurationError(f"{edit.name} cannot be put in beside what is there; put it in by hand")
        splices.append(splice)
        text = changed
    return text, splices


def taken_out(text: str, splices: Sequence[Splice], language: str) -> str:
    """The text without the entries that ``put_in`` has put in; everything else stays as it is.

    Raises:
        ConfigurationError: it cannot be parsed, or an entry cannot be taken out alone.
    """
    editor = LANGUAGES[language]
    for splice in reversed(splices):
        wanted = _before(editor, text, splice)
        if _means(editor, text, wanted):  # somebody has taken it out
            continue
        undone = _undone(editor, text, splice, wanted)
        text = without(text, splice.edit, language, splice.created) if undone is None else undone
    return text


def without(text: str, edit: Edit, language: str, keep: int = 0) -> str:
    """The text without one entry, which is recognised by its value.

    Args:
        text: the file.
        edit: the entry.
        language: ``json`` (with comments) or ``toml``.
        keep: how many keys of its path stay, even if nothing is left in them.

    Raises:
        ConfigurationError: it cannot be parsed, or the entry cannot be taken out alone.
    """
    editor = LANGUAGES[language]
    before = editor.parse(text)
    changed = editor.remove(text, edit, keep)
    # A table that is empty now may have been there: what is left of the path is the language's affair.
    wanted = [without_entry(before, edit, kept) for kept in range(keep, len(edit.path) + 1)]
    if not any(_means(editor, changed, each) for each in wanted):
        raise ConfigurationError(f"{edit.name} cannot be taken out alone; take it out by hand")
    return changed


def _before(editor: Language, text: str, splice: Splice) -> Any:
    """What the text says without the change."""
    document = editor.parse(text)
    if splice.removed and is_there(document, splice.edit):  # a value was replaced
        old = jsonc.parse(splice.removed)
        inner = document
        for key in splice.edit.path[:-1]:
            inner = inner[key]
        inner[splice.edit.path[-1]] = old
        return document
    return without_entry(document, splice.edit, splice.created)


def _undone(editor: Language, text: str, splice: Splice, wanted: Any) -> str | None:
    """The text with the change turned back where its own text still stands; None where it does not."""
    places = [found.start() for found in re.finditer(f"(?={re.escape(splice.inserted)})", text)]
    for place in sorted(places, key=lambda place: abs(place - splice.position)):
        before, after = text[:place], text[place + len(splice.inserted) :]
        if _are_lines(splice) and before and after and not before.endswith("\n"):
            before += "\n"  # the file's last line had no end, and somebody has added another
        found = before + splice.removed + after
        if _means(editor, found, wanted) and not _is_looser(editor, found, text):
            return found
    return None


def _is_looser(editor: Language, changed: str, text: str) -> bool:
    """Whether a comma is the last thing in something now: what stood behind it was ours, and it was the user's or ours."""
    return editor is jsonc and jsonc.trailing_commas(changed) > jsonc.trailing_commas(text)


def _are_lines(splice: Splice) -> bool:
    """Whether whole lines were added behind the last one."""
    return splice.inserted.lstrip("\r\n").startswith("[") and splice.inserted.endswith("\n")


def _means(editor: Language, text: str, wanted: Any) -> bool:
    try:
        return bool(canonical(editor.parse(text)) == canonical(wanted))
    except ConfigurationError:
        return False
