"""JSONPath (RFC 9535): the text of a query, compiled into selectors that are run over values.

``jsonpath-rfc9535`` reads a query and checks its types; what it then holds is translated once into selectors and
closures. Its own evaluation is not used: it takes ``[1]`` for equal to ``[true]``, stops at 100 levels, evaluates what
``&&`` and ``||`` need not, and can be neither interrupted nor run over a part of a document. Its results in its order are
what tests compare with. Nor is its check of the expressions of ``match`` and ``search``, which refuses ``a{10}``.

Whatever a query asks for, ``Context.spend`` is called for every container looked through, and stops it in time.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Any, cast

from jsonpath_rfc9535 import JSONPathEnvironment
from jsonpath_rfc9535 import filter_expressions as expressions
from jsonpath_rfc9535 import segments as library_segments
from jsonpath_rfc9535 import selectors as library_selectors
from jsonpath_rfc9535.exceptions import JSONPathError, JSONPathSyntaxError
from jsonpath_rfc9535.parse import Parser

from spillstore.exceptions import QueryError
from spillstore.jsonpath.comparison import (
    COMPARISONS,
    PLAIN,
    LazyValue,
    length_of,
    only_one,
    reached,
    text_of,
)
from spillstore.jsonpath.context import NOTHING
from spillstore.jsonpath.hints import EXAMPLE, hint
from spillstore.jsonpath.iregexp import iregexp, shown, utf8
from spillstore.jsonpath.nodes import in_root, nodes
from spillstore.jsonpath.selectors import Filter, Index, Name, PathSegment, Slice, Wildcard
from spillstore.model import json_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jsonpath_rfc9535.filter_expressions import Expression
    from jsonpath_rfc9535.query import JSONPathQuery
    from jsonpath_rfc9535.tokens import TokenStream

    from spillstore.jsonpath.context import Context
    from spillstore.jsonpath.selectors import Selector


@dataclasses.dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query, ready to be run.

    Attributes:
        text: as it was written.
        segments: what it does, step by step.
        needs_root: whether a filter of it speaks of the whole document.
    """

    text: str
    segments: tuple[PathSegment, ...]
    needs_root: bool


@functools.lru_cache(maxsize=64)
def compiled(query: str) -> CompiledQuery:
    """A query, ready to be run.

    Raises:
        QueryError: it is none; says where, and what would be one.
    """
    try:
        return _compiled(query)
    except JSONPathError as error:
        where = "" if error.token is None else f" at character {error.token.index + 1}"
        reason = error.args[0] if error.args else "it cannot be read"
        raise QueryError(
            f"{shown(query)} is no JSONPath: {reason}{where}; {hint(query, _is_query)}"
        ) from None
    except RecursionError:
        raise QueryError(f"{shown(query)} is nested too deeply; for example {EXAMPLE}") from None
    except (ValueError, ArithmeticError):
        raise QueryError(
            f"{shown(query)} is no JSONPath: a number in it is out of every range; {hint(query, _is_query)}"
        ) from None


def _compiled(query: str) -> CompiledQuery:
    compiler = _Compiler()
    return CompiledQuery(query, compiler.segments(_Environment().compile(query)), compiler.uses_root)


def _is_query(text: str) -> bool:
    try:
        _compiled(text)
    except (JSONPathError, RecursionError, ValueError, ArithmeticError):
        return False
    return True


class _Compiler:
    """Compiles the library's parsed query into selectors and closures."""

    def __init__(self) -> None:
        self.uses_root = False

    def segments(self, query: JSONPathQuery) -> tuple[PathSegment, ...]:
        return tuple(
            PathSegment(
                tuple(map(self._selector, segment.selectors)),
                isinstance(segment, library_segments.JSONPathRecursiveDescentSegment),
            )
            for segment in query.segments
        )

    def _selector(self, selector: library_selectors.JSONPathSelector) -> Selector:
        match selector:
            case library_selectors.NameSelector():
                return Name(selector.name)
            case library_selectors.IndexSelector():
                return Index(selector.index)
            case library_selectors.SliceSelector(slice=bounds):
                return Slice(bounds.start, bounds.stop, 1 if bounds.step is None else bounds.step)
            case library_selectors.FilterSelector():
                return Filter(self._test(selector.expression.expression))
        assert isinstance(selector, library_selectors.WildcardSelector), "there are five kinds"
        return Wildcard()

    def _test(self, expression: Expression) -> Callable[[Any, Context], bool]:
        match expression:
            case expressions.LogicalExpression():
                left, right = self._test(expression.left), self._test(expression.right)
                if expression.operator == "&&":
                    return lambda value, context: left(value, context) and right(value, context)
                return lambda value, context: left(value, context) or right(value, context)
            case expressions.PrefixExpression():
                inner = self._test(expression.right)
                return lambda value, context: not inner(value, context)
            case expressions.ComparisonExpression():
                return self._comparison(expression)
            case expressions.FilterQuery():
                return self._existence(expression)
        assert isinstance(expression, expressions.FunctionExtension), (
            "what else could be a test is refused before"
        )
        return self._matching(expression)

    def _existence(self, expression: expressions.FilterQuery) -> Callable[[Any, Context], bool]:
        if expression.query.singular_query():
            get = self._operand(expression)
            return lambda value, context: get(value, context) is not NOTHING
        found = self._values(expression)
        return lambda value, context: next(iter(found(value, context)), NOTHING) is not NOTHING

    def _matching(self, expression: expressions.FunctionExtension) -> Callable[[Any, Context], bool]:
        text, pattern = map(self._operand, expression.args)
        whole = expression.name == "match"

        def test(value: Any, context: Context) -> bool:
            subject, source = text_of(text(value, context)), text_of(pattern(value, context))
            if not isinstance(subject, str) or not isinstance(source, str):
                return False
            context.spend(len(subject) // 64)
            expression_ = iregexp(source, whole=whole)
            return expression_ is not None and expression_.search(utf8(subject)) is not None

        return test

    def _comparison(self, expression: expressions.ComparisonExpression) -> Callable[[Any, Context], bool]:
        left, right = self._operand(expression.left), self._operand(expression.right)
        compare = COMPARISONS[expression.operator]
        return lambda value, context: compare(left(value, context), right(value, context))

    def _operand(self, expression: Expression) -> Callable[[Any, Context], Any]:
        match expression:
            case expressions.FilterExpressionLiteral(value=literal):
                return lambda value, context: literal  # noqa: ARG005  # as the others
            case expressions.RootFilterQuery() | expressions.RelativeFilterQuery():
                return self._single(expression)
        assert isinstance(expression, expressions.FunctionExtension), (
            "what else could be compared is refused before"
        )
        if expression.name == "length":
            measured = self._operand(expression.args[0])
            return lambda value, context: length_of(measured(value, context))
        found = self._values(expression.args[0])
        if expression.name == "count":
            return lambda value, context: sum(1 for _ in found(value, context))
        assert expression.name == "value", "there are five functions, and two of them are tests"
        return lambda value, context: only_one(found(value, context))

    def _single(self, expression: expressions.FilterQuery) -> Callable[[Any, Context], Any]:
        """The value of a singular query, which selects at most one node."""
        segments = self.segments(expression.query)
        keys = tuple(
            selector.name if isinstance(selector, Name) else cast("Index", selector).index
            for segment in segments
            for selector in segment.selectors
        )
        if isinstance(expression, expressions.RootFilterQuery):
            self.uses_root = True
            return lambda value, context: reached(context.root, keys)  # noqa: ARG005  # as the others

        first = keys[0] if keys else None
        if len(keys) == 1 and isinstance(first, str):  # which most are

            def get_member(value: Any, context: Context) -> Any:
                if type(value) is dict:
                    return value.get(first, NOTHING)
                return NOTHING if type(value) in PLAIN else next(value.values(segments, context), NOTHING)

            return get_member

        def get(value: Any, context: Context) -> Any:
            if type(value) in PLAIN:
                return reached(value, keys)
            return next(value.values(segments, context), NOTHING)

        return get

    def _values(self, expression: Expression) -> Callable[[Any, Context], Iterable[Any]]:
        """All that a query finds."""
        assert isinstance(expression, expressions.FilterQuery), "nothing else gives nodes"
        segments = self.segments(expression.query)
        if isinstance(expression, expressions.RootFilterQuery):
            self.uses_root = True
            return lambda value, context: in_root(context, segments)  # noqa: ARG005  # as the others

        def values(value: Any, context: Context) -> Iterable[Any]:
            if type(value) in PLAIN:
                return (found for _, found in nodes(context, value, None, segments))
            return cast("LazyValue", value).values(segments, context)

        return values


class _Parser(Parser):
    """The library's, but for numbers: it makes whole ones by way of a float, and fails on ``1e400``."""

    def parse_integer_literal(self, stream: TokenStream) -> Expression:
        """A number without a fraction."""
        return self._number(stream, expressions.IntegerLiteral)

    def parse_float_literal(self, stream: TokenStream) -> Expression:
        """Any other."""
        return self._number(stream, expressions.FloatLiteral)

    def _number(self, stream: TokenStream, kind: type[Any]) -> Expression:
        token = stream.current
        if not _NUMBER.fullmatch(token.value):
            raise JSONPathSyntaxError("invalid number", token=token)
        return cast("Expression", kind(token, value=json_values.number(token.value)))


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)


class _Environment(JSONPathEnvironment):
    """Our parser in it."""

    parser_class = _Parser
