"""A whole document of JSON: decoded at once, or gone through node by node where it is too large for that or damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.exceptions import QueryLimitError
from spillstore.jsonpath.lazy_node import LazyNode
from spillstore.jsonpath.nodes import nodes
from spillstore.model.json_values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.jsonpath.compiler import CompiledQuery
    from spillstore.jsonpath.document_reader import DocumentReader
    from spillstore.jsonpath.nodes import Location

_CONTAINERS = frozenset({b"[", b"{"})


def nodes_of_document(
    reader: DocumentReader, query: CompiledQuery, whole: int
) -> Iterator[tuple[Location, Any]]:
    """The nodes that a query selects in a document; those that stand before some damage come before the error.

    Args:
        reader: of the document.
        query: the query.
        whole: bytes of a document that is decoded at once.

    Raises:
        MalformedError: it is no JSON; at which byte.
        QueryLimitError: it takes too much time or memory.
    """
    context, segments = reader.context, query.segments
    start = reader.begin()
    size, kind = reader.end - start, reader.read(start, 1)
    if size <= whole or kind not in _CONTAINERS:
        try:
            value = reader.value(start)
        except MalformedError:
            if query.needs_root or kind not in _CONTAINERS or not segments:
                raise
        else:
            context.begin(value)
            yield from nodes(context, value, None, segments)
            return
    if query.needs_root:
        raise QueryLimitError(
            f"a filter speaks of $, and the document has {size} bytes, of which at most {whole} are made "
            "into values; put what $ leads to into the query itself"
        )
    root = LazyNode(reader, start, kind, None)
    yield from root.nodes(context, segments)
    reader.check_end(root.end)


def is_document(reader: DocumentReader) -> bool:
    """Whether it is one document and nothing else."""
    try:
        start = reader.begin()
        kind = reader.read(start, 1)
        if kind in _CONTAINERS or kind == b'"':
            reader.check_end(LazyNode(reader, start, kind, None).end)
        else:
            reader.value(start)
    except MalformedError:
        return False
    return True
