"""What a request asks for: values of its query, checked; an error names the value and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from spillstore.exceptions import InvalidSettingError
from spillstore.model.ids import named_by
from spillstore.settings import parse_size
from spillstore_tools.agent.arguments import ArgumentError, moment
from spillstore_tools.describe import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore.info import Stream

T = TypeVar("T")
STREAMS = ("combined", "stdout", "stderr")
_SHOWN = 60  # characters of a wrong value
_DIGITS = 18


class BadRequestError(Exception):
    """A request that cannot be understood; the message says the way out."""


class Parameters:
    """The query of a request; an empty value is one that was not given, and so are blanks for a word or a number.

    An `id` may be an artifact's URI; then `stream` is the one that the URI names, unless another is given.

    Args:
        values: names and values.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name: value for name, value in values.items() if value}
        if "id" in self._values:
            self._values["id"], stream = named_by(self._values["id"])
            if stream is not None:
                self._values.setdefault("stream", stream)

    def text(self, name: str) -> str | None:
        """A text, which may be blanks; None if it was not given."""
        return self._values.get(name)

    def word(self, name: str) -> str | None:
        """A text in which blanks at both ends mean nothing; None if it was not given."""
        return self._values.get(name, "").strip() or None

    def needed(self, name: str) -> str:
        """A text that must be given."""
        if (found := self._values.get(name)) is None:
            raise BadRequestError(f"{name} is missing; begin at the list of sessions")
        return found

    def flag(self, name: str) -> bool:
        """Whether it was given, and is not 0."""
        return (self.word(name) or "0") != "0"

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """One of some words."""
        found = self.word(name)
        if found is not None and found not in choices:
            raise BadRequestError(f"{name} is {shown(found, _SHOWN)}; it is one of {', '.join(choices)}")
        return found

    def number(self, name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
        """A whole number."""
        found = self.word(name)
        if found is None:
            return default
        plain = found.replace(",", "").replace("_", "")
        if not (plain.isascii() and plain.isdigit() and len(plain) <= _DIGITS):
            raise BadRequestError(
                f"{name} is {shown(found, _SHOWN)}; it is a whole number, for example {default}"
            )
        number = int(plain)
        if number < least or (most is not None and number > most):
            span = f"{least:,} or more" if most is None else f"from {least:,} to {most:,}"
            raise BadRequestError(f"{name} is {number:,}; it is {span}")
        return number

    def decimal(self, name: str) -> float | None:
        """A number that is not negative; None if it was not given."""
        found = self.word(name)
        if found is None:
            return None
        try:
            number = float(found)
        except ValueError:
            number = -1.0
        if not 0 <= number < 10**_DIGITS:
            raise BadRequestError(f"{name} is {shown(found, _SHOWN)}; it is a number, for example 12.5")
        return number

    def size(self, name: str) -> int | None:
        """A number of bytes."""
        found = self.word(name)
        if found is None:
            return None
        try:
            return parse_size(name, found)
        except InvalidSettingError:
            raise BadRequestError(
                f"{name} is {shown(found, _SHOWN)}; it is a size, for example 500, 64K, 10M or 2G"
            ) from None

    def moment(self, name: str) -> float | None:
        """A time: so long ago, or a date and time here."""
        try:
            return moment(name, self.word(name), here=True)
        except ArgumentError as error:
            raise BadRequestError(str(error)) from None

    def stream(self) -> Stream:
        """The view."""
        return cast("Stream", self.choice("stream", STREAMS) or "combined")

    def with_(self, **changes: object) -> dict[str, str]:
        """All values, some of them changed or, with None, left out; for a link."""
        merged: dict[str, object] = {**self._values, **changes}
        return {name: str(value) for name, value in merged.items() if value is not None}
