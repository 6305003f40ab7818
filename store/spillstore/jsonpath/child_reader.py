"""The children of a container in a document that is too large to be decoded, a block at a time.

A block ends at a comma between two children, and what lies before it is decoded at once, in brackets. Which commas those
are is guessed first: the last place in the block that looks like the one between the first two children. No guess can be
wrong unnoticed: if the bytes before a comma are whole values with commas between them, it is the comma behind the last of
them, since JSON is read from the left in one way only. Where guesses fail, brackets are counted, at a tenth of the speed.
So small children pass through the same decoder as small documents, at its speed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore.exceptions import QueryLimitError
from spillstore.model import json_values
from spillstore.model.json_values import WHITESPACE, MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.jsonpath.document_reader import DocumentReader


def _all(body: bytes) -> bytes:
    """As many as there are, and never fewer. The group is atomic, for Python before 3.11.5 ends ``(?:body)*+`` behind a body that fails half-way."""
    return b"(?>" + body + b")*+"


_STRING = rb'"[^"\\]*+(?>\\.[^"\\]*+)*+"'
_FLAT = rb'[^"\[\]{}]++|' + _STRING
_ONE = rb"[\[{]" + _all(_FLAT) + rb"[\]}]"
_TWO = rb"[\[{]" + _all(_FLAT + b"|" + _ONE) + rb"[\]}]"
_THREE = rb"[\[{]" + _all(_FLAT + b"|" + _TWO) + rb"[\]}]"
_ITEM = _all(rb'[^"\[\]{},]++|' + _STRING + b"|" + _THREE) + b","
_EACH = re.compile(_ITEM, re.DOTALL)  # a child with its comma, unless it is nested more deeply
_MANY = re.compile(_all(_ITEM), re.DOTALL)
_RUN = re.compile(_all(_FLAT), re.DOTALL)  # up to the next bracket
_NAME = re.compile(rb"[ \t\r\n]*(" + _STRING + rb")[ \t\r\n]*:[ \t\r\n]*", re.DOTALL)
_TEXT = re.compile(_STRING, re.DOTALL)
_OPENING = re.compile(rb'[ \t\r\n]*(?:\{[ \t\r\n]*(?:"[^"\\]{0,64}")?)?')  # of an element, and its first name
_GUESSES = 4  # commas of a block that are tried, and
_FAILURES = 3  # blocks in which none was right, before brackets are counted in the rest of a container
_QUOTE = 0x22


class Batch(NamedTuple):
    """Children that stand together, decoded.

    Attributes:
        first: index of the first of them.
        values: a list, or a dict.
    """

    first: int
    values: Any


class LargeChild(NamedTuple):
    """A child that does not end in its block.

    Attributes:
        start: its first byte.
        kind: that byte: ``[``, ``{`` or ``"``.
        key: its name or index.
    """

    start: int
    kind: bytes
    key: str | int


class ChildReader:
    """Reads the children of a container, in order: in batches, and one by one what is larger than a block.

    Args:
        reader: of the document.
        start: the first byte of the container.
        kind: that byte: ``[`` or ``{``.
        check_only: decode no values, where that can be.

    Attributes:
        resume: where the last ``LargeChild`` ends; set by the caller before the next child is read.
        end: in the end, the byte behind the container.
    """

    def __init__(self, reader: DocumentReader, start: int, kind: bytes, *, check_only: bool = False) -> None:
        self._reader = reader
        self._start = start
        self._check_only = check_only
        self._array = kind == b"["
        self._brackets = (b"[", b"]") if self._array else (b"{", b"}")
        self._first = 0  # index of the next child
        self._mark = b""  # what the place between two children looks like
        self._lead = 0  # bytes of that which belong to the child before
        self._failures = 0
        self.resume = 0
        self.end = 0

    def __iter__(self) -> Iterator[Batch | LargeChild]:
        at, follows = self._start + 1, False  # and whether a comma stands before
        buffer, last = self._reader.block_at(at)
        while True:
            guessed = self._guess(buffer, last=last)
            if guessed is not None:
                length, values = guessed
                yield self._batch(values)
                at, buffer, last = self._on(at, buffer, length)
                follows = True
                continue
            cuts, end = _cuts(buffer, _MANY)
            if end >= 0:
                yield from self._rest(buffer[:end], at, follows=follows)
                if buffer[end : end + 1] != self._brackets[1]:
                    raise MalformedError(
                        at + end, f"{self._brackets[0].decode()} is closed by another bracket"
                    )
                self.end = at + end + 1
                return
            if cuts:
                yield from self._values(buffer[: cuts[-1] - 1], at)
                self._learn(buffer, cuts[-1])
                at, buffer, last = self._on(at, buffer, cuts[-1])
                follows = True
                continue
            child = self._child(buffer, at, last=last)
            if child is None:
                more, last = self._reader.block_at(at + len(buffer), len(buffer))
                buffer += more
                continue
            self._first += 1
            yield child
            at, byte = self._reader.behind(self.resume)
            if byte == self._brackets[1]:
                self.end = at + 1
                return
            if byte != b",":
                raise (
                    MalformedError(at, "a comma or a bracket is missing")
                    if byte
                    else self._reader.unfinished()
                )
            at, follows = at + 1, True
            buffer, last = self._reader.block_at(at)

    def _on(self, at: int, buffer: bytes, length: int) -> tuple[int, bytes, bool]:
        """The bytes behind what was read."""
        rest = buffer[length:]
        more, last = self._reader.block_at(at + len(buffer), max(0, self._reader.block - len(rest)))
        return at + length, rest + more, last

    def _batch(self, values: Any) -> Batch:
        batch = Batch(self._first, values)
        self._first += len(values)
        return batch

    # --- whole children --------------------------------------------------------------------------------

    def _guess(self, buffer: bytes, *, last: bool) -> tuple[int, Any] | None:
        """The children before the last place that looks like one between two; None if none is."""
        if not self._mark or last or self._failures >= _FAILURES:
            return None
        stop = len(buffer)
        for _ in range(_GUESSES):
            stop = buffer.rfind(self._mark, 0, stop)
            if stop <= 0:
                break
            text = self._in_brackets(buffer[: stop + self._lead])
            if json_values.is_whole(text):
                self._failures = 0
                return stop + self._lead + 1, () if self._check_only else json_values.decode(text)
        self._failures += 1
        return None

    def _learn(self, buffer: bytes, cut: int) -> None:
        """Remember what the place behind a child looks like; ``cut`` is behind its comma."""
        if self._mark:
            return
        self._lead = int(buffer[cut - 2 : cut - 1] in {b"]", b"}"})
        opening = _OPENING.match(buffer, cut)
        assert opening is not None, "it matches nothing, too"
        self._mark = buffer[cut - 1 - self._lead : opening.end()] + (b"" if self._array else b'"')

    def _rest(self, text: bytes, at: int, *, follows: bool) -> Iterator[Batch | LargeChild]:
        """The last children; there are none in an empty container alone."""
        if text.strip(WHITESPACE):
            yield from self._values(text, at)
        elif follows:
            raise MalformedError(at + len(text), "a value is missing behind a comma")

    def _values(self, text: bytes, at: int) -> Iterator[Batch | LargeChild]:
        """Children with commas between them; where one is wrong, those before it come first."""
        wrapped = self._in_brackets(text)
        if text.strip(WHITESPACE):
            try:
                values = (
                    () if self._check_only and json_values.is_whole(wrapped) else json_values.decode(wrapped)
                )
            except MalformedError:
                pass
            else:
                yield self._batch(values)
                return
        start = 0
        for cut in _cuts(text + b",", _EACH)[0]:
            yield from self._one(text[start : cut - 1], at + start)
            start = cut
        raise MalformedError(at + start, "it is no JSON")

    def _one(self, text: bytes, at: int) -> Iterator[Batch | LargeChild]:
        if not text.strip(WHITESPACE):
            raise MalformedError(at, "a value is missing before a comma")
        try:
            yield self._batch(json_values.decode(self._in_brackets(text)))
        except MalformedError as error:
            wrong = MalformedError(at + max(0, error.at - 1), error.reason)
        else:
            return
        # In a container there may be something to find before what is wrong.
        key, begin = self._key(text, at)
        if begin >= 0 and text[begin : begin + 1] in {b"[", b"{"}:
            yield LargeChild(at + begin, text[begin : begin + 1], key)
        raise wrong

    def _in_brackets(self, text: bytes) -> bytes:
        return text.join(self._brackets)

    # --- a child that does not end in its block ------------------------------------------------------------

    def _child(self, buffer: bytes, at: int, *, last: bool) -> LargeChild | None:
        """The child; None if more must be read to know what it is: a long name, or a long number."""
        key, begin = self._key(buffer, at)
        kind = buffer[begin : begin + 1]
        if begin >= 0 and kind in {b"[", b"{", b'"'}:
            return LargeChild(at + begin, kind, key)
        if begin >= 0 and kind and kind not in b"-0123456789tfn":
            raise MalformedError(at + begin, "no value of JSON begins here")
        if last:
            raise self._reader.unfinished()
        if len(buffer) > self._reader.limit:
            raise QueryLimitError(
                f"a name or a number at byte {at} takes more than {self._reader.limit} bytes"
            )
        return None

    def _key(self, text: bytes, at: int) -> tuple[str | int, int]:
        """A child's name or index, and where in the text its value begins; -1 if its name does not end there."""
        space = len(text) - len(text.lstrip(WHITESPACE))
        if self._array:
            return self._first, space
        name = _NAME.match(text)
        if name is not None:
            try:
                return json_values.decode(name[1]), name.end()
            except MalformedError as error:
                raise MalformedError(at + name.start(1) + error.at, error.reason) from None
        string = _TEXT.match(text, space)
        if text[space : space + 1] not in {b"", b'"'} or (
            string is not None and text[string.end() :].strip(WHITESPACE)
        ):
            raise MalformedError(
                at + (space if string is None else string.end()), "a name and a colon are missing"
            )
        return "", -1


def _cuts(buffer: bytes, pattern: re.Pattern[bytes]) -> tuple[list[int], int]:
    """Where children end, behind their commas (with ``_MANY`` not each of them), and the bracket that closes; -1 if none does."""
    at = depth = 0
    cuts: list[int] = []
    while True:
        if not depth:
            while (found := pattern.match(buffer, at)) is not None and found.end() > at:
                at = found.end()
                cuts.append(at)
        at = _RUN.match(buffer, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if at >= len(buffer) or buffer[at] == _QUOTE:
            return cuts, -1
        if buffer[at] in b"[{":
            depth += 1
        elif not depth:
            return cuts, at
        else:
            depth -= 1
        at += 1
