"""Nodes of a document that is too large to be decoded: a container is read where it stands, and what is small is decoded.

The order of RFC 9535 is not that of the document: ``..`` visits a container before what it holds, and ``[5, 0]`` is
as it is written. A container is read anew for each selector, and once more to go down; so the memory stays flat.

ijson was tried: it is as fast (34 to 39 MB/s, and this 36 to 60 with its reads), but its events have no positions, so nothing
can be read twice; it turns half surrogates into question marks, and it fails at ``1e400``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.exceptions import QueryLimitError
from spillstore.jsonpath.child_reader import Batch, ChildReader, LargeChild
from spillstore.jsonpath.nodes import CONTAINERS, nodes, normalized
from spillstore.jsonpath.selectors import Filter, Index, Name, PathSegment, Selector, Slice, Wildcard
from spillstore.model import json_values
from spillstore.model.json_values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.jsonpath.context import Context
    from spillstore.jsonpath.document_reader import DocumentReader
    from spillstore.jsonpath.nodes import Location


class LazyNode:
    """A node whose value is not decoded: only where it stands in the document is known.

    Args:
        reader: of the document.
        start: its first byte.
        kind: that byte: ``[``, ``{`` or ``"`` (of a document that is no such value, another).
        location: where it is in the document.

    Attributes:
        kind: as given.
        type: of its value: ``dict``, ``list``, ``str`` or ``object``.
    """

    def __init__(self, reader: DocumentReader, start: int, kind: bytes, location: Location) -> None:
        self._reader = reader
        self._start = start
        self.kind = kind
        self.type = {b"{": dict, b"[": list, b'"': str}.get(kind, object)
        self._location = location
        self._end: int | None = None

    @property
    def end(self) -> int:
        """The byte behind it. Cost: when it is first called, reading all of it, without decoding anything.

        Raises:
            MalformedError: it is no JSON.
        """
        if self._end is None:
            self._end = (
                self._reader.end_of_string(self._start) if self.kind == b'"' else self._end_of_container()
            )
        return self._end

    def _end_of_container(self) -> int:
        children = ChildReader(self._reader, self._start, self.kind, check_only=True)
        for each in children:
            if isinstance(each, LargeChild):
                children.resume = self._child(each).end
        return children.end

    def _child(self, child: LargeChild) -> LazyNode:
        return LazyNode(self._reader, child.start, child.kind, (self._location, child.key))

    def _children(self) -> Iterator[Batch | tuple[LargeChild, LazyNode]]:
        """Its children in order: in batches, and what is larger than a block as a node. Afterwards its end is known."""
        children = ChildReader(self._reader, self._start, self.kind)
        for each in children:
            if isinstance(each, LargeChild):
                node = self._child(each)
                yield each, node
                children.resume = node.end
            else:
                yield each
        self._end = children.end

    def build(self) -> Any:
        """The value.

        Raises:
            QueryLimitError: it is larger than what is decoded at once.
            MalformedError: it is no JSON.
        """
        size = self.end - self._start
        if size > self._reader.limit:
            path = normalized(self._location)
            raise QueryLimitError(
                f"the node {path} takes {size} bytes, and at most {self._reader.limit} are made into a value; ask for parts "
                f"of it, for example {path}[0:10] or {path}.*, or read bytes {self._start} to {self.end}"
            )
        try:
            return json_values.decode(self._reader.read(self._start, size))
        except MalformedError as error:
            raise MalformedError(self._start + error.at, error.reason) from None

    def values(self, segments: tuple[PathSegment, ...], context: Context) -> Iterator[Any]:
        """The values that a query selects in it; see ``comparison.LazyValue``."""
        return (value for _, value in self.nodes(context, segments))

    def nodes(
        self, context: Context, segments: tuple[PathSegment, ...], at: int = 0
    ) -> Iterator[tuple[Location, Any]]:
        """The nodes that the segments from ``at`` on select in it, in the order of RFC 9535; too large values are lazy nodes."""
        if at == len(segments):
            yield self._location, self
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
        self, context: Context, selector: Selector, segments: tuple[PathSegment, ...], at: int
    ) -> Iterator[tuple[Location, Any]]:
        """One selector's children, and the nodes that the rest selects in them."""
        pick = self._pick(context, selector)
        if pick is None:
            _ = self.end  # what is left out must be JSON, too
            return
        for each in self._children():
            if isinstance(each, Batch):
                for key, value in pick(each):
                    yield from nodes(context, value, (self._location, key), segments, at)
                continue
            child, node = each
            if any(True for _ in pick(_alone(child.key, node))):
                yield from node.nodes(context, segments, at)

    def _below(
        self, context: Context, segments: tuple[PathSegment, ...], at: int
    ) -> Iterator[tuple[Location, Any]]:
        """The nodes that a descending segment selects in each child."""
        for each in self._children():
            if isinstance(each, Batch):
                for key, value in _every(each):
                    if type(value) in CONTAINERS:
                        yield from nodes(context, value, (self._location, key), segments, at)
            else:
                yield from each[1].nodes(context, segments, at)

    def _pick(
        self, context: Context, selector: Selector
    ) -> Callable[[Batch], Iterator[tuple[str | int, Any]]] | None:
        """The function that takes a selector's children out of a batch; None if there can be none."""
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
            indices = range(index, index + 1)
        else:
            indices = self._range(selector)
        return lambda batch: ((each, batch.values[each - batch.first]) for each in _part(indices, batch))

    def _range(self, selector: Slice) -> range:
        start, stop, step = selector.start, selector.stop, selector.step
        if step < 0:
            raise QueryLimitError(
                f"the array {normalized(self._location)} is too large to be read backwards; take a slice with a step "
                "above 0, for example [-10:]"
            )
        if (start or 0) < 0 or (stop or 0) < 0:
            return selector.range_of(self._length())
        return selector.range_of(stop if stop is not None else 2**62)

    def _length(self) -> int:
        """How many children it has."""
        return sum(len(each.values) if isinstance(each, Batch) else 1 for each in self._children())


def _alone(key: str | int, node: LazyNode) -> Batch:
    """A batch of one child."""
    return Batch(key, [node]) if isinstance(key, int) else Batch(0, {key: node})


def _every(batch: Batch) -> Iterator[tuple[str | int, Any]]:
    if isinstance(batch.values, dict):
        return iter(batch.values.items())
    return iter(enumerate(batch.values, batch.first))


def _part(indices: range, batch: Batch) -> range:
    """The indices of a range that are in a batch."""
    passed = max(0, -((indices.start - batch.first) // indices.step))
    low = indices.start + passed * indices.step
    return range(low, min(indices.stop, batch.first + len(batch.values)), indices.step)
