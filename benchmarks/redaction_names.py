"""Texts whose names are new in each line, many of them with a word such as password, token or key: tools at work on programs.

Nothing in them is a secret. The checks of the scanner were mended by texts like these.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.texts import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Draw(random.Random):
    def word(self) -> str:
        return self.choice(WORDS)

    def name(self, sign: str = "_") -> str:
        """Two words and a number: ``retry_password734``."""
        return f"{self.word()}{sign}{self.word()}{self.number()}"

    def kind(self) -> str:
        """The same as the name of a class."""
        return f"{self.word().title()}{self.word().title()}{self.number()}"

    def number(self) -> int:
        return self.randrange(1000)


def _warnings(draw: _Draw) -> str:
    name, line = draw.name(), draw.number()
    return (
        f"warning: unused variable: `{name}`\n --> src/{draw.name()}.rs:{line}:9\n  |\n"
        f"{line:3} |     let {name} = {draw.word()}.{draw.name()}(&{draw.name()})?;\n"
        f"  |         ^^^^^ help: prefix it with an underscore: `_{name}`\n"
    )


def _linter(draw: _Draw) -> str:
    place = f"{draw.number():4}:{draw.randrange(80)}"
    return (
        f"/app/src/{draw.word()}/{draw.name()}.js\n  {place}  warning  '{draw.name('')}' is assigned a value but never used\n"
        f"  {place}  error    Unexpected {draw.name()} in {draw.word()}.{draw.name()}: expected {draw.name()}  no-{draw.word()}\n"
    )


def _types(draw: _Draw) -> str:
    return (
        f"src/{draw.word()}/{draw.name('-')}.ts({draw.number()},7): error TS2345: Argument of type '{draw.kind()}' is not assignable "
        f"to parameter of type '{draw.kind()} | undefined'.\n  Property '{draw.name('')}' is missing in type '{{ {draw.name('')}: string; }}'\n"
    )


def _bundler(draw: _Draw) -> str:
    return (
        f"./src/{draw.word()}/{draw.kind()}.tsx {draw.number()} bytes [built] [code generated]\n"
        f"module {draw.name()} ./node_modules/{draw.name('-')}/index.js + {draw.randrange(9)} modules\n"
    )


def _traces(draw: _Draw) -> str:
    return (
        f"\tat com.acme.{draw.word()}.{draw.kind()}.{draw.name('')}({draw.kind()}.java:{draw.number()})\n"
        f'  File "/app/{draw.word()}/{draw.name()}.py", line {draw.number()}, in {draw.name()}\n'
        f"    return self.{draw.name()}({draw.word()}, {draw.name()}={draw.word()}.{draw.word()})\n"
    )


def _go(draw: _Draw) -> str:
    name = f"Test{draw.kind()}/{draw.name()}"
    return (
        f"=== RUN   {name}\n--- PASS: {name} (0.0{draw.randrange(10)}s)\n"
        f"ok  \tgithub.com/acme/{draw.word()}/{draw.word()}{draw.number()}\t0.{draw.number()}s\n"
    )


def _difference(draw: _Draw) -> str:
    path = f"{draw.word()}/{draw.name()}.py"
    return (
        f"--- a/{path}\n+++ b/{path}\n@@ -{draw.number()},4 +{draw.number()},4 @@ def {draw.name()}({draw.name()}):\n"
        f"-    {draw.name()} = {draw.word()}[{draw.name()}]\n+    {draw.name()} = {draw.word()}.get({draw.name()}, {draw.name()})\n"
    )


def _script(draw: _Draw) -> str:
    return (
        f"  const {draw.name('')} = await this.{draw.word()}.get{draw.kind()}({{ {draw.name('')}: {draw.word()}.{draw.word()} }});\n"
        f"  if ({draw.name('')} === undefined || {draw.word()}.length > {draw.number()}) {{\n"
        f"    throw new {draw.kind()}Error(`{draw.word()} ${{{draw.name('')}}} failed`);\n  }}\n"
        f"export type {draw.kind()} = {{ {draw.name('')}?: {draw.kind()}; {draw.name('')}: string[] }};\n"
    )


def _styles(draw: _Draw) -> str:
    """One line."""
    return (
        f".{draw.name('-')}:hover>.{draw.word()}__{draw.name('--')}{{color:var(--{draw.name('-')})}}.{draw.word()}::before{{top:0}}"
        f"#{draw.word()}[data-{draw.word()}=x]{{--{draw.name('-')}:{draw.number()}px}}@media(min-width:{draw.number()}px){{.{draw.name('-')},"
        f".{draw.word()} .{draw.name('-')}{{margin:{draw.number()}px}}}}"
    )


def _bundle(draw: _Draw) -> str:
    """One line."""
    return (
        f"function {draw.name('')}(e,t){{var {draw.name('')}=t.{draw.word()},n=e.{draw.name('')}||{draw.word()}();"
        f"return{{{draw.name('')}:e.{draw.word()},{draw.name('')}:function(){{return {draw.word()}}},{draw.name('')}:!0,"
        f'"{draw.name("-")}":t[{draw.number()}]}}}}'
    )


_MADE: dict[str, Callable[[_Draw], str]] = {
    "compiler warnings": _warnings,
    "a linter": _linter,
    "type errors": _types,
    "a bundler": _bundler,
    "stack traces": _traces,
    "Go tests": _go,
    "differences": _difference,
    "TypeScript": _script,
    "style sheets in one line": _styles,
    "a script in one line": _bundle,
}


def texts(size: int) -> Iterator[tuple[str, bytes]]:
    """Name and text of each kind."""
    for name, make in _MADE.items():
        draw, parts, length = _Draw(11), [], 0
        while length < size:
            parts.append(make(draw))
            length += len(parts[-1])
        yield name, "".join(parts).encode()[:size]
