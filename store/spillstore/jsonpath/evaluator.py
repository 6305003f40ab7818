"""JSONPath (RFC 9535): a query as selectors that are run over values.

``jsonpath-rfc9535`` reads a query and checks its types; what it then holds is translated once into selectors and
closures, which are run here. Its own evaluation is not used: it takes ``[1]`` for equal to ``[true]``, stops at 100 levels,
evaluates what ``&&`` and ``||`` need not, and can be neither interrupted nor run over a part of a document. Its results
in its order are what tests compare with.

``match`` and ``search`` are RE2's, which takes linear time; the expressions (RFC 9485) are a subset of its own but for
the dot. The library's check of them refuses ``a{10}``. Whatever a query asks for, ``Context.spend`` is told of every
container looked through, and stops it in time.
"""

from __future__ import annotations

import dataclasses
import decimal
import functools
import re
import time
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import re2  # type: ignore[import-untyped]
from jsonpath_rfc9535 import JSONPathEnvironment
from jsonpath_rfc9535 import filter_expressions as expressions
from jsonpath_rfc9535 import segments as library_segments
from jsonpath_rfc9535 import selectors as library_selectors
from jsonpath_rfc9535.exceptions import JSONPathError, JSONPathSyntaxError
from jsonpath_rfc9535.parse import Parser

from spillstore.exceptions import QueryError, QueryLimitError
from spillstore.model import json_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jsonpath_rfc9535.filter_expressions import Expression
    from jsonpath_rfc9535.query import JSONPathQuery
    from jsonpath_rfc9535.tokens import TokenStream

EXAMPLE = "$.users[?@.age > 30].name"
CONTAINERS: Final = frozenset({dict, list})
_CHECKED = 4096  # values looked at between two looks at the clock
_SHOWN = 200

# Where a node is: its parent's place and its name or index; None is the root.
Place = tuple["Place", str | int] | None


class _Nothing:
    """What a query that finds no node is compared as."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = _Nothing()


class Distant(Protocol):
    """A value that is too large to be made; a query can be run over it where it stands.

    Attributes:
        type: of the value: ``dict``, ``list`` or ``str``.
    """

    type: type

    def values(self, segments: tuple[Segment, ...], context: Context) -> Iterator[Any]:
        """What a query finds in it."""
        ...

    def build(self) -> Any:
        """The value after all, if it is within the limit."""
        ...


class Context:
    """One evaluation: the document, what was found in all of it, and how long it may take.

    Args:
        root: the document, which ``$`` in a filter means.
        seconds: after which it is given up; None for never.
    """

    def __init__(self, root: Any = NOTHING, seconds: float | None = None) -> None:
        self.root = root
        self._seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._left = _CHECKED
        self._found: dict[int, list[Any]] = {}

    def begin(self, root: Any) -> None:
        """Go on with another document."""
        self.root = root
        self._found.clear()

    def spend(self, values: int) -> None:
        """Count values that are looked at.

        Raises:
            QueryLimitError: the time is over.
        """
        self._left -= values + 1
        if self._left < 0:
            self._left = _CHECKED
            self.check()

    def check(self) -> None:
        """Look at the clock.

        Raises:
            QueryLimitError: the time is over.
        """
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise QueryLimitError(
                f"the query was given up after {self._seconds:g} seconds; ask for less: name the members on the way "
                "instead of .. or *",
                seconds=self._seconds,
            )

    def in_root(self, segments: tuple[Segment, ...]) -> list[Any]:
        """What a query finds in the whole document, looked for once."""
        found = self._found.get(id(segments))
        if found is None:
            found = self._found[id(segments)] = [value for _, value in nodes(self, self.root, None, segments)]
        return found


# --- what a query is made of ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """The member of that name."""

    name: str

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:  # noqa: ARG002  # as the others
        """What it selects of a container."""
        if type(value) is dict and self.name in value:
            yield self.name, value[self.name]


@dataclasses.dataclass(frozen=True, slots=True)
class Index:
    """The element at an index, which counts from the end where it is negative."""

    index: int

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:  # noqa: ARG002  # as the others
        """What it selects of a container."""
        if type(value) is list and -len(value) <= self.index < len(value):
            yield self.index % len(value), value[self.index]


@dataclasses.dataclass(frozen=True, slots=True)
class Slice:
    """Elements from one index to another."""

    start: int | None
    stop: int | None
    step: int

    def range_of(self, length: int) -> range:
        """The indices that it means in an array of that length."""
        if not self.step:
            return range(0)
        return range(*slice(self.start, self.stop, self.step).indices(length))

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """What it selects of a container."""
        if type(value) is list:
            indices = self.range_of(len(value))
            context.spend(len(indices))
            for index in indices:
                yield index, value[index]


@dataclasses.dataclass(frozen=True, slots=True)
class Wildcard:
    """All of them."""

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """What it selects of a container."""
        return members(value, context)


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """Those that pass a test."""

    test: Callable[[Any, Context], bool]

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """What it selects of a container."""
        test = self.test
        for key, child in members(value, context):
            if test(child, context):
                yield key, child


Selector = Name | Index | Slice | Wildcard | Filter


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """What is selected of each node, or of each node and all below it."""

    selectors: tuple[Selector, ...]
    descends: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """A query, ready to be run.

    Attributes:
        text: as it was written.
        segments: what it does, step by step.
        needs_root: whether a filter of it speaks of the whole document.
    """

    text: str
    segments: tuple[Segment, ...]
    needs_root: bool


# --- running it -------------------------------------------------------------------------------------------


def members(value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
    """Names or indices of a container, with what they lead to; nothing of any other value."""
    if type(value) is dict:
        context.spend(len(value))
        return iter(value.items())
    if type(value) is list:
        context.spend(len(value))
        return iter(enumerate(value))
    return iter(())


def nodes(
    context: Context, value: Any, place: Place, segments: tuple[Segment, ...], at: int = 0
) -> Iterator[tuple[Place, Any]]:
    """What the segments from ``at`` on find in a value, with their places, in the order of RFC 9535."""
    if at == len(segments):
        yield place, value
        return
    segment = segments[at]
    starts = _descendants(context, value, place) if segment.descends else ((place, value),)
    last = at + 1 == len(segments)
    for where, container in starts:
        for selector in segment.selectors:
            for key, child in selector.children(container, context):
                if last:
                    yield (where, key), child
                elif type(child) in CONTAINERS:
                    yield from nodes(context, child, (where, key), segments, at + 1)


def _descendants(context: Context, value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """A value and all containers in it, each before what it holds; without recursion, for no document is too deep."""
    yield place, value
    open_: list[tuple[Place, Iterator[tuple[str | int, Any]]]] = [(place, members(value, context))]
    while open_:
        where, rest = open_[-1]
        for key, child in rest:
            if type(child) in CONTAINERS:
                below = (where, key)
                yield below, child
                open_.append((below, members(child, context)))
                break
        else:
            open_.pop()


def normalized(place: Place) -> str:
    r"""The normalized path (RFC 9535, 2.7) of a place.

    Example:
        >>> normalized(((None, "it's"), 3))
        "$['it\\'s'][3]"
    """
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append(f"[{key}]" if isinstance(key, int) else f"['{_quoted(key)}']")
    return "$" + "".join(reversed(parts))


def _quoted(name: str) -> str:
    return _SPECIAL.sub(_escape, name)


_SPECIAL = re.compile(r"[\x00-\x1f'\\\ud800-\udfff]")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\"}


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


# --- reading a query --------------------------------------------------------------------------------------


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


@functools.lru_cache(maxsize=64)
def compiled(query: str) -> Plan:
    """A query, ready to be run.

    Raises:
        QueryError: it is none; says where, and what would be one.
    """
    try:
        return _planned(query)
    except JSONPathError as error:
        where = "" if error.token is None else f" at character {error.token.index + 1}"
        reason = error.args[0] if error.args else "it cannot be read"
        raise QueryError(f"{shown(query)} is no JSONPath: {reason}{where}; {_hint(query)}") from None
    except RecursionError:
        raise QueryError(f"{shown(query)} is nested too deeply; for example {EXAMPLE}") from None
    except (ValueError, ArithmeticError):
        raise QueryError(
            f"{shown(query)} is no JSONPath: a number in it is out of every range; {_hint(query)}"
        ) from None


def _planned(query: str) -> Plan:
    translation = _Translation()
    return Plan(query, translation.segments(_Environment().compile(query)), translation.speaks_of_root)


def shown(query: str) -> str:
    """A query as a message shows it."""
    return repr(query if len(query) <= _SHOWN else f"{query[:_SHOWN]}...")


_HINTS = (
    (r"(?<!\.)\.\[", "a bracket stands without a dot"),
    (r"=~", "regular expressions are search(@.name, 'x') and match(@.name, 'x.*')"),
    (r"\(\s*@\.length\s*-\s*1\s*\)", "the last element is [-1]"),
    (r"\.length\(\)|\.length\b(?!\s*\()", "a length is length(@.name) in a filter"),
    (r"(?<![=!<>])=(?!=)", "equality is =="),
    (r"(?<!&)&(?!&)|(?<!\|)\|(?!\|)|\b(?:and|or|not)\b", "logic is &&, || and !"),
    (r"\[\]", "all elements are [*]"),
    (r"\.[A-Za-z_]\w*-", "a name with other characters than letters, digits and _ is ['a-name']"),
)


# What others write, and what it is here.
_MENDS = (
    (r"\A\s+|\s+\Z", ""),
    (r"\A(?=[.\[])", "$"),
    (r"\A(?!\$)", "$."),
    (r"(?<!\.)\.(?=\[)", ""),
    (r"\[\]", "[*]"),
    (r"(?<![=!<>])=(?!=)", "=="),
    (r"(?<!&)&(?!&)|\band\b", "&&"),
    (r"(?<!\|)\|(?!\|)|\bor\b", "||"),
    (r"\.([A-Za-z_]\w*(?:-\w+)+)", r"['\1']"),
)


def _hint(query: str) -> str:
    """What is wrong, where that is known, and a query that is right: the same one mended, if that is enough."""
    text = query.strip()
    right = mended if (mended := _mended(query)) is not None else EXAMPLE
    if text != query and right == text:
        return f"leave out the space around it: {text}"
    if text and not text.startswith("$"):
        return f"a query begins with $; for example {right}"
    for pattern, hint in _HINTS:
        if re.search(pattern, text):
            return f"{hint}; for example {right}"
    return f"for example {right}"


def _mended(query: str) -> str | None:
    """The query as it may have been meant, if that is one."""
    if len(query) > _SHOWN:
        return None
    for pattern, mend in _MENDS:
        query = re.sub(pattern, mend, query)
        try:
            _planned(query)
        except (JSONPathError, RecursionError, ValueError, ArithmeticError):
            continue
        return query
    return None


class _Translation:
    """What the library holds of a query, as selectors and closures."""

    def __init__(self) -> None:
        self.speaks_of_root = False

    def segments(self, query: JSONPathQuery) -> tuple[Segment, ...]:
        return tuple(
            Segment(
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
            subject, source = _text(text(value, context)), _text(pattern(value, context))
            if not isinstance(subject, str) or not isinstance(source, str):
                return False
            context.spend(len(subject) // 64)
            expression_ = _expression(source, whole=whole)
            return expression_ is not None and expression_.search(_utf8(subject)) is not None

        return test

    def _comparison(self, expression: expressions.ComparisonExpression) -> Callable[[Any, Context], bool]:
        left, right = self._operand(expression.left), self._operand(expression.right)
        compare = _COMPARISONS[expression.operator]
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
            return lambda value, context: _length(measured(value, context))
        found = self._values(expression.args[0])
        if expression.name == "count":
            return lambda value, context: sum(1 for _ in found(value, context))
        assert expression.name == "value", "there are five functions, and two of them are tests"
        return lambda value, context: _only(found(value, context))

    def _single(self, expression: expressions.FilterQuery) -> Callable[[Any, Context], Any]:
        """What a query finds that finds one node at most."""
        segments = self.segments(expression.query)
        keys = tuple(
            selector.name if isinstance(selector, Name) else cast("Index", selector).index
            for segment in segments
            for selector in segment.selectors
        )
        if isinstance(expression, expressions.RootFilterQuery):
            self.speaks_of_root = True
            return lambda value, context: _reached(context.root, keys)  # noqa: ARG005  # as the others

        first = keys[0] if keys else None
        if len(keys) == 1 and isinstance(first, str):  # which most are

            def get_member(value: Any, context: Context) -> Any:
                if type(value) is dict:
                    return value.get(first, NOTHING)
                return NOTHING if type(value) in _PLAIN else next(value.values(segments, context), NOTHING)

            return get_member

        def get(value: Any, context: Context) -> Any:
            if type(value) in _PLAIN:
                return _reached(value, keys)
            return next(value.values(segments, context), NOTHING)

        return get

    def _values(self, expression: Expression) -> Callable[[Any, Context], Iterable[Any]]:
        """All that a query finds."""
        assert isinstance(expression, expressions.FilterQuery), "nothing else gives nodes"
        segments = self.segments(expression.query)
        if isinstance(expression, expressions.RootFilterQuery):
            self.speaks_of_root = True
            return lambda value, context: context.in_root(segments)  # noqa: ARG005  # as the others

        def values(value: Any, context: Context) -> Iterable[Any]:
            if type(value) in _PLAIN:
                return (found for _, found in nodes(context, value, None, segments))
            return cast("Distant", value).values(segments, context)

        return values


# --- what filters do with values --------------------------------------------------------------------------

_PLAIN: Final = frozenset({dict, list, str, int, float, bool, type(None), decimal.Decimal})
_NUMBERS = (int, float, decimal.Decimal)
_ORDINARY: Final = frozenset({int, float})


def _reached(value: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        if isinstance(key, str):
            if type(value) is not dict:
                return NOTHING
            value = value.get(key, NOTHING)
        elif type(value) is list and -len(value) <= key < len(value):
            value = value[key]
        else:
            return NOTHING
    return value


def _built(value: Any) -> Any:
    return value if value is NOTHING or type(value) in _PLAIN else value.build()


def _text(value: Any) -> Any:
    """The value, made if it is text."""
    return _built(value) if _type(value) is str else value


def _type(value: Any) -> type:
    return type(value) if value is NOTHING or type(value) in _PLAIN else cast("Distant", value).type


def _length(value: Any) -> Any:
    value = _built(value)
    return len(value) if isinstance(value, (str, list, dict)) else NOTHING


def _only(values: Iterable[Any]) -> Any:
    found = list(_few(values))
    return found[0] if len(found) == 1 else NOTHING


def _few(values: Iterable[Any]) -> Iterator[Any]:
    for number, value in enumerate(values):
        yield value
        if number:
            return


def _equal(left: Any, right: Any) -> bool:
    if type(left) is type(right) is str:
        return bool(left == right)
    if left is NOTHING or right is NOTHING:
        return left is right
    if type(left) not in _PLAIN or type(right) not in _PLAIN:
        if _type(left) is not _type(right):
            return False
        left, right = _built(left), _built(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right) and (type(left) not in CONTAINERS or _same_kinds(left, right))


def _same_kinds(left: Any, right: Any) -> bool:
    """Whether two containers that Python takes for equal are so in JSON, too, where ``true`` is not 1."""
    todo = [(left, right)]
    while todo:
        one, other = todo.pop()
        if isinstance(one, bool) is not isinstance(other, bool):
            return False
        if isinstance(one, dict):
            todo += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list):
            todo += zip(one, other, strict=True)
    return True


def _less(left: Any, right: Any) -> bool:
    if type(left) in _ORDINARY and type(right) in _ORDINARY:
        return bool(left < right)
    if _type(left) is _type(right) is str:
        left, right = _built(left), _built(right)
        return bool(left < right)
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    return isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS) and bool(left < right)


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">=": lambda left, right: _less(right, left) or _equal(left, right),
}


@functools.lru_cache(maxsize=256)
def _expression(pattern: str, *, whole: bool) -> Any:
    """An expression of RFC 9485 for RE2; None for what is none, which matches nothing.

    Raises:
        QueryError: it is one, and RE2 cannot take it.
    """
    source = _translated(pattern)
    if source is None:
        return None
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # RE2 would copy all captures at each step
    try:
        return re2.compile(_utf8(rf"\A(?:{source})\z" if whole else source), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise QueryError(
            f"the expression {shown(pattern)} cannot be matched: {reason}; counted repeats go up to 1000"
        ) from None


# RFC 9485, 4: what stands for one character or a group, and how often it may come.
_ESCAPE = r"\\[()*+\-.?\[\\\]^nrt{|}]"
_CATEGORY = r"\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}"
_MEMBER = rf"(?:(?:[^\-\[\\\]]|{_ESCAPE})(?:-(?:[^\-\[\\\]]|{_ESCAPE}))?|{_CATEGORY})"
_PIECE = re.compile(
    rf"(?P<bracket>[(|])"
    rf"|(?:(?P<end>\))|(?P<dot>\.)|(?P<one>[^()*+.?\[\\\]{{|}}]|{_ESCAPE}|{_CATEGORY}|\[\^?(?:-|{_MEMBER}){_MEMBER}*+-?\]))"
    r"(?P<times>[*+?]|\{[0-9]+(?:,[0-9]*)?\})?",
    re.ASCII,
)


def _translated(pattern: str) -> str | None:
    """An expression of RFC 9485 as RE2 writes it; None if it is none."""
    parts: list[str] = []
    at = depth = 0
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        if piece is None:
            return None
        depth += (piece["bracket"] == "(") - (piece["end"] is not None)
        if depth < 0:
            return None
        parts.append(rf"[^\n\r]{piece['times'] or ''}" if piece["dot"] else piece[0])
        at = piece.end()
    return None if depth else "".join(parts)


def _utf8(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
