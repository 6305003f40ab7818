"""Places of a module that can be changed into something wrong: what mutation testing tries the tests with.

A *place* is a comparison, a boundary, a number, a truth, an operator, a return, a call whose result nobody takes, a raise, or
a jump, in the body of a function. What stands outside of functions, defaults, assertions (which say what is impossible) and texts are left.
A *mutant* is the module with one place changed; its functions' code replaces that of the functions that a process has.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import gc
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_PLAIN_TESTS = (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr, ast.Subscript)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where and how a module is changed.

    Attributes:
        path: of the module.
        line: of the place, from 1.
        index: of the node among those that ``ast.walk`` gives, so that it is found again in another copy of the tree.
        choice: which of the ways of changing it.
        what: the change in words.
    """

    path: Path
    line: int
    index: int
    choice: int
    what: str


def _left_out(tree: ast.Module) -> set[ast.AST]:
    """Nodes that are no place: what runs once, annotations, assertions (``strict`` too), texts and what is raised."""
    inside: set[ast.AST] = set()
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside |= {node for statement in function.body for node in ast.walk(statement)}
    out = {node for node in ast.walk(tree) if node not in inside}
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = [node.args, node.returns, *node.decorator_list]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, (ast.Assert, ast.JoinedStr)):
            parts = [node]
        elif isinstance(node, ast.Raise):
            parts = [node.exc]
        elif isinstance(node, ast.keyword) and node.arg == "strict":  # of zip, an assertion
            parts = [node]
        for part in filter(None, parts):
            out |= set(ast.walk(part))
    return out


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Ways of changing a node: each in words, and what stands in its place or is done to a copy of it."""
    match node:
        case ast.Compare():
            for at, old in enumerate(node.ops):
                for new in _COMPARISONS[type(old)]:
                    yield f"{type(old).__name__} -> {new.__name__}", ("ops", at, new())
        case ast.BoolOp():
            new = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield f"{type(node.op).__name__} -> {new.__name__}", ("op", None, new())
        case ast.UnaryOp(op=ast.Not()):
            yield "not removed", node.operand
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _OPERATORS:
            new = _OPERATORS[type(node.op)]
            yield f"{type(node.op).__name__} -> {new.__name__}", ("op", None, new())
        case ast.Constant(value=bool() as value):
            yield f"{value} -> {not value}", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield f"{value} -> {value + 1}", ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            yield "return None", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "call removed", ast.Pass()
        case ast.Raise():
            yield "raise removed", ast.Pass()
        case ast.Break():
            yield "break -> continue", ast.Continue()
        case ast.Continue():
            yield "continue -> break", ast.Break()
        case ast.If(test=test) | ast.IfExp(test=test) if isinstance(test, _PLAIN_TESTS):
            yield "test negated", ("test", None, ast.UnaryOp(ast.Not(), test))


def places(path: Path) -> list[Place]:
    """All places of a module, in the order of its lines."""
    tree = ast.parse(path.read_text())
    out = _left_out(tree)
    found = [
        Place(path, node.lineno, index, choice, what)
        for index, node in enumerate(ast.walk(tree))
        if node not in out
        for choice, (what, _) in enumerate(_changes(node))
    ]
    return sorted(found, key=lambda place: (place.line, place.index, place.choice))


class _Changed(ast.NodeTransformer):
    def __init__(self, target: ast.AST, choice: int) -> None:
        self._target, self._choice = target, choice

    def visit(self, node: ast.AST) -> Any:
        if node is not self._target:
            return self.generic_visit(node)
        _, change = list(_changes(node))[self._choice]
        if isinstance(change, ast.stmt):
            # The names in what goes away stay known to the compiler, so that the function keeps its closure.
            kept = ast.If(ast.Constant(False), [node], [])
            return [ast.copy_location(each, node) for each in (kept, change)]
        if isinstance(change, ast.AST):
            return ast.copy_location(change, node)
        name, at, new = change
        node = copy.copy(node)
        if at is None:
            setattr(node, name, new)
        else:
            setattr(
                node, name, [new if number == at else old for number, old in enumerate(getattr(node, name))]
            )
        return node


def compiled(place: Place) -> types.CodeType:
    """The module's code with the place changed."""
    tree = ast.parse(place.path.read_text())
    target = next(node for index, node in enumerate(ast.walk(tree)) if index == place.index)
    tree = ast.fix_missing_locations(_Changed(target, place.choice).visit(tree))
    return compile(tree, str(place.path), "exec")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _codes(each)


def put_in(place: Place) -> int:
    """Let the functions of this process, also those that exist many times, do what the mutant's do; how many were changed.

    Raises:
        LookupError: no function of this process has code of that module: it was not imported.
    """
    new = {(code.co_qualname, code.co_firstlineno): code for code in _codes(compiled(place))}
    changed = here = 0
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and function.__code__.co_filename == str(place.path):
            here += 1
            code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if (
                code is not None
                and code != function.__code__
                and code.co_freevars == function.__code__.co_freevars
            ):
                function.__code__ = code
                changed += 1
    if not here:
        raise LookupError(f"{place.path} was not imported")
    return changed
