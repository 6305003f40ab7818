"""Queries over JSON that is too large to be made into values: a container at a time, a block of its children at a time.

A block ends at a comma between two children, and what lies before it is decoded at once, in brackets. Which commas those
are is guessed first: the last place in the block that looks like the one between the first two children. No guess can be
wrong unnoticed: if the bytes before a comma are whole values with commas between them, it is the comma behind the last of
them, since JSON is read from the left in one way only. Where guesses fail, brackets are counted, at a tenth of the speed.
So small children pass through the same decoder as small documents, at its speed, and only what is larger than a block is
entered: its children come in blocks in turn. ijson was tried: it is as fast (34 to 39 MB/s, and this 36 to 60 with its reads), but
its events have no positions, so nothing can be read twice; it turns half surrogates into question marks, and it fails at
``1e400``.

The order of RFC 9535 is not that of the document: ``..`` visits a container before what it holds, and ``[5, 0]`` is
as it is written. A container is read anew for each selector, and once more to go down; so the memory stays flat.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore.exceptions import QueryLimitError
from spillstore.jsonpath.evaluator import (
    CONTAINERS,
    Context,
    Filter,
    Index,
    Name,
    Place,
    Segment,
    Selector,
    Slice,
    Wildcard,
    nodes,
    normalized,
)
from spillstore.model import json_values
from spillstore.model.json_values import WHITESPACE, MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FLAT = rb'[^"\[\]{}]++|' + _STRING
_ONE = rb"[\[{](?:" + _FLAT + rb")*+[\]}]"
_TWO = rb"[\[{](?:" + _FLAT + b"|" + _ONE + rb")*+[\]}]"
_THREE = rb"[\[{](?:" + _FLAT + b"|" + _TWO + rb")*+[\]}]"
_ITEM = rb'(?:[^"\[\]{},]++|' + _STRING + b"|" + _THREE + rb")*+,"
_EACH = re.compile(_ITEM, re.DOTALL)  # a child with its comma, unless it is nested more deeply
_MANY = re.compile(b"(?:" + _ITEM + b")*+", re.DOTALL)
_RUN = re.compile(b"(?:" + _FLAT + b")*+", re.DOTALL)  # up to the next bracket
_NAME = re.compile(rb"[ \t\r\n]*(" + _STRING + rb")[ \t\r\n]*:[ \t\r\n]*", re.DOTALL)
_TEXT = re.compile(_STRING, re.DOTALL)
_OPENING = re.compile(rb'[ \t\r\n]*(?:\{[ \t\r\n]*(?:"[^"\\]{0,64}")?)?')  # of an element, and its first name
_IN_STRING = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_GUESSES = 4  # commas of a block that are tried, and
_FAILURES = 3  # blocks in which none was right, before brackets are counted in the rest of a container
_QUOTE = 0x22
_ESCAPE = 6  # bytes of the longest escape in a string


class _Batch(NamedTuple):
    """Children that stand together: a list with the index of its first, or a dict."""

    first: int
    values: Any


class Far:
    """A value in a document, where it stands, not made.

    Args:
        reader: of the document.
        start: its first byte.
        kind: that byte: ``[``, ``{`` or ``"`` (of a document that is no such value, another).
        key: its name or index in its parent.
    """

    def __init__(self, reader: Reader, start: int, kind: bytes, key: str | int) -> None:
        self.reader = reader
        self.start = start
        self.kind = kind
        self.type = {b"{": dict, b"[": list, b'"': str}.get(kind, object)
        self.key = key
        self.place: Place = None
        self._end: int | None = None

    @property
    def end(self) -> int:
        """The byte behind it. Cost: reading all of it, without making anything of it, when it is first asked for.

        Raises:
            MalformedError: it is no JSON.
        """
        if self._end is None:
            self._end = (
                self.reader.end_of_string(self.start) if self.kind == b'"' else self._end_of_container()
            )
        return self._end

    def _end_of_container(self) -> int:
        children = Children(self, check_only=True)
        for piece in children:
            if isinstance(piece, Far):
                children.resume = piece.end
        return children.end

    def ended(self, end: int) -> None:
        """Learn its end from whoever has read it."""
        self._end = end

    def build(self) -> Any:
        """The value.

        Raises:
            QueryLimitError: it is larger than what is decoded at once.
            MalformedError: it is no JSON.
        """
        size = self.end - self.start
        if size > self.reader.limit:
            path = normalized(self.place)
            raise QueryLimitError(
                f"the node {path} takes {size} bytes, and at most {self.reader.limit} are made into a value; ask for parts "
                f"of it, for example {path}[0:10] or {path}.*, or read bytes {self.start} to {self.end}"
            )
        try:
            return json_values.decode(self.reader.read(self.start, size))
        except MalformedError as error:
            raise MalformedError(self.start + error.at, error.reason) from None

    def values(self, segments: tuple[Segment, ...], context: Context) -> Iterator[Any]:
        """What a query finds in it; see ``evaluator.Distant``."""
        return (value for _, value in self.nodes(context, self.place, segments))

    def nodes(
        self, context: Context, place: Place, segments: tuple[Segment, ...], at: int = 0
    ) -> Generator[tuple[Place, Any], None, None]:
        """What the segments from ``at`` on find in it, in the order of RFC 9535; too large values as ``Far``."""
        self.place = place
        if at == len(segments):
            yield place, self
        elif self.kind != b'"':
            segment = segments[at]
            wrong = None
            for selector in segment.selectors:
                try:
                    yield from self._selected(context, selector, segments, at + 1)
                except MalformedError as error:  # before which the others may find something
                    wrong = error
            if segment.descends:
                yield from self._below(context, segments, at)
            if wrong is not None:
                raise wrong

    def _selected(
        self, context: Context, selector: Selector, segments: tuple[Segment, ...], at: int
    ) -> Iterator[tuple[Place, Any]]:
        """One selector's children, and what the rest finds in them."""
        pick = self._pick(context, selector)
        if pick is None:
            _ = self.end  # what is left out must be JSON, too
            return
        children = Children(self)
        for piece in children:
            if isinstance(piece, Far):
                piece.place = (self.place, piece.key)
                if any(True for _ in pick(_Batch(_index(piece), _alone(piece)))):
                    yield from piece.nodes(context, piece.place, segments, at)
                children.resume = piece.end
                continue
            for key, child in pick(piece):
                yield from nodes(context, child, (self.place, key), segments, at)
        self.ended(children.end)

    def _below(self, context: Context, segments: tuple[Segment, ...], at: int) -> Iterator[tuple[Place, Any]]:
        """What a descending segment finds in each child."""
        children = Children(self)
        for piece in children:
            if isinstance(piece, Far):
                yield from piece.nodes(context, (self.place, piece.key), segments, at)
                children.resume = piece.end
                continue
            for key, child in _every(piece):
                if type(child) in CONTAINERS:
                    yield from nodes(context, child, (self.place, key), segments, at)
        self.ended(children.end)

    def _pick(
        self, context: Context, selector: Selector
    ) -> Callable[[_Batch], Iterator[tuple[str | int, Any]]] | None:
        """What a selector takes of the children that stand together; None if there can be nothing."""
        match selector:
            case Wildcard():
                return _every
            case Filter(test=test):
                return lambda batch: ((key, child) for key, child in _every(batch) if test(child, context))
            case Name():
                return (lambda batch: selector.children(batch.values, context)) if self.kind == b"{" else None
        if self.kind == b"{":
            return None
        if isinstance(selector, Index):
            index = selector.index + (self._length() if selector.index < 0 else 0)
            wanted = range(index, index + 1)
        else:
            wanted = self._range(selector)
        return lambda batch: ((each, batch.values[each - batch.first]) for each in _part(wanted, batch))

    def _range(self, selector: Slice) -> range:
        start, stop, step = selector.start, selector.stop, selector.step
        if step < 0:
            raise QueryLimitError(
                f"the array {normalized(self.place)} is too large to be read backwards; take a slice with a step "
                "above 0, for example [-10:]"
            )
        if (start or 0) < 0 or (stop or 0) < 0:
            return selector.range_of(self._length())
        return selector.range_of(stop if stop is not None else 2**62)

    def _length(self) -> int:
        """How many children it has."""
        count, children = 0, Children(self)
        for piece in children:
            if isinstance(piece, Far):
                count += 1
                children.resume = piece.end
            else:
                count += len(piece.values)
        self.ended(children.end)
        return count


def _index(piece: Far) -> int:
    return piece.key if isinstance(piece.key, int) else 0


def _alone(piece: Far) -> Any:
    return [piece] if isinstance(piece.key, int) else {piece.key: piece}


def _every(batch: _Batch) -> Iterator[tuple[str | int, Any]]:
    if isinstance(batch.values, dict):
        return iter(batch.values.items())
    return iter(enumerate(batch.values, batch.first))


def _part(wanted: range, batch: _Batch) -> range:
    """The indices of a range that are in a batch."""
    passed = max(0, -((wanted.start - batch.first) // wanted.step))
    low = wanted.start + passed * wanted.step
    return range(low, min(wanted.stop, batch.first + len(batch.values)), wanted.step)


class Reader:
    """The bytes of one document.

    Args:
        read: gives ``size`` bytes from a position on.
        start: where the document begins.
        end: where it ends, at the latest.
        context: whose time reading takes.
        whole: bytes of a document that is decoded at once.
        limit: bytes of a value in a larger one that is.
        block: bytes that are read at once, and of a child that is not entered.
    """

    def __init__(
        self,
        read: Callable[[int, int], bytes],
        start: int,
        end: int,
        context: Context,
        *,
        whole: int,
        limit: int,
        block: int,
    ) -> None:
        self.read = read
        self._context = context
        self.limit = limit
        self._whole = whole
        self.block = block
        self._start = start
        self._end = end

    def run(self, segments: tuple[Segment, ...], *, needs_root: bool) -> Iterator[tuple[Place, Any]]:
        """What a query finds in the document; what stands before some damage comes before the error.

        Raises:
            MalformedError: it is no JSON; at which byte.
            QueryLimitError: it takes too much time or memory.
        """
        start = self._begin()
        root = Far(self, start, self.read(start, 1), 0)
        if self._end - start <= self._whole or root.kind not in {b"[", b"{"}:
            try:
                value = self._value(start)
            except MalformedError:
                if needs_root or root.kind not in {b"[", b"{"} or not segments:
                    raise
            else:
                self._context.begin(value)
                yield from nodes(self._context, value, None, segments)
                return
        if needs_root:
            raise QueryLimitError(
                f"a filter speaks of $, and the document has {self._end - start} bytes, of which at most {self._whole} are made "
                "into values; put what $ leads to into the query itself"
            )
        yield from root.nodes(self._context, None, segments)
        self._nothing_behind(root.end)

    def is_whole(self) -> bool:
        """Whether it is one document and nothing else."""
        try:
            start = self._begin()
            kind = self.read(start, 1)
            if kind in {b"[", b"{", b'"'}:
                self._nothing_behind(Far(self, start, kind, 0).end)
            else:
                self._value(start)
        except MalformedError:
            return False
        return True

    def _begin(self) -> int:
        """Where the value begins."""
        at = self._start
        head = self.read(at, min(4, self._end - at))
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) or head[1::2] == b"\0\0" or head[::2] == b"\0\0":
            raise MalformedError(at, "it is UTF-16 or UTF-32; convert it to UTF-8")
        if head.startswith(b"\xef\xbb\xbf"):
            at += 3
        at = self._past_space(at)
        if at == self._end:
            raise MalformedError(
                at, "there is nothing but white space" if at > self._start else "it is empty"
            )
        return at

    def _value(self, start: int) -> Any:
        size = self._end - start
        if size > self.limit:
            raise MalformedError(
                start, f"no value of JSON begins here, or one of more than {self.limit} bytes"
            )
        try:
            return json_values.decode(self.read(start, size))
        except MalformedError as error:
            raise MalformedError(start + error.at, error.reason) from None

    def _nothing_behind(self, end: int) -> None:
        behind = self._past_space(end)
        if behind < self._end:
            raise MalformedError(behind, "the document has ended, and there is more")

    def _past_space(self, at: int) -> int:
        while at < self._end:
            data = self.read(at, min(self.block, self._end - at))
            space = len(data) - len(data.lstrip(WHITESPACE))
            at += space
            if space < len(data):
                break
        return at

    def block_at(self, at: int, size: int | None = None) -> tuple[bytes, bool]:
        """Bytes from a position on, a block of them by default, and whether they are the last."""
        self._context.check()
        size = min(self.block if size is None else size, self._end - at)
        return (self.read(at, size) if size else b""), at + size >= self._end

    def behind(self, at: int) -> tuple[int, bytes]:
        """The next byte that is no white space, and where it is; none at the end."""
        at = self._past_space(at)
        return at, self.read(at, 1) if at < self._end else b""

    def unfinished(self) -> MalformedError:
        """What is wrong where the document ends too early."""
        return MalformedError(self._end, "it ends in the middle of a value")

    def end_of_string(self, start: int) -> int:
        """The byte behind a string of any length."""
        at, held = start + 1, b""
        while True:
            data, last = self.block_at(at + len(held))
            data = held + data
            stop = _IN_STRING.match(data).end()  # type: ignore[union-attr]  # it matches nothing, too
            if data[stop : stop + 1] == b'"':
                return at + stop + 1
            if last and len(data) - stop < _ESCAPE:
                raise self.unfinished()
            if len(data) - stop >= _ESCAPE or data[stop : stop + 1] not in {b"", b"\\"}:
                raise MalformedError(at + stop, "a character that no string may hold")
            at, held = at + stop, data[stop:]


class Children:
    """The children of a container, in order: as batches of values, and one by one what is larger than a block.

    Whoever gets a ``Far`` says by ``resume`` where it ends, before going on. In the end ``end`` is the byte behind the
    container.

    Args:
        far: the container.
        check_only: make no values, where that can be.
    """

    def __init__(self, far: Far, *, check_only: bool = False) -> None:
        self._far = far
        self._reader = far.reader
        self._check_only = check_only
        self._array = far.kind == b"["
        self._brackets = (b"[", b"]") if self._array else (b"{", b"}")
        self._first = 0  # index of the next child
        self._mark = b""  # what the place between two children looks like
        self._lead = 0  # bytes of that which belong to the child before
        self._failures = 0
        self.resume = 0
        self.end = 0

    def __iter__(self) -> Iterator[_Batch | Far]:
        at, follows = self._far.start + 1, False  # and whether a comma stands before
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
            far = self._child(buffer, at, last=last)
            if far is None:
                more, last = self._reader.block_at(at + len(buffer), len(buffer))
                buffer += more
                continue
            self._first += 1
            yield far
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
        kept = buffer[length:]
        more, last = self._reader.block_at(at + len(buffer), max(0, self._reader.block - len(kept)))
        return at + length, kept + more, last

    def _batch(self, values: Any) -> _Batch:
        batch = _Batch(self._first, values)
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

    def _rest(self, text: bytes, at: int, *, follows: bool) -> Iterator[_Batch | Far]:
        """The last children; there are none in an empty container alone."""
        if text.strip(WHITESPACE):
            yield from self._values(text, at)
        elif follows:
            raise MalformedError(at + len(text), "a value is missing behind a comma")

    def _values(self, text: bytes, at: int) -> Iterator[_Batch | Far]:
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

    def _one(self, text: bytes, at: int) -> Iterator[_Batch | Far]:
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
            yield Far(self._reader, at + begin, text[begin : begin + 1], key)
        raise wrong

    def _in_brackets(self, text: bytes) -> bytes:
        return text.join(self._brackets)

    # --- a child that does not end in its block ------------------------------------------------------------

    def _child(self, buffer: bytes, at: int, *, last: bool) -> Far | None:
        """The child; None if more must be read to know what it is: a long name, or a long number."""
        key, begin = self._key(buffer, at)
        kind = buffer[begin : begin + 1]
        if begin >= 0 and kind in {b"[", b"{", b'"'}:
            return Far(self._reader, at + begin, kind, key)
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
