"""The regular expressions of all modules mean the same on every Python that is supported."""

import pkgutil
import re
from re import _constants as sre
from re import _parser as parser

import pytest
from support import imported

import spillstore
import spillstore_tools
from spillstore.runtime import lazy_patterns

MAINS = {"spillstore_tools.cli.__main__", "spillstore_tools.shell.__main__"}
ONE_CHARACTER = {sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY}


def modules():
    """Names of all modules that can be imported."""
    for package in (spillstore, spillstore_tools):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.startswith("spillstore._native.") and module.name not in MAINS:
                yield module.name


def fragile(parsed):
    """Possessive repeats in a parsed expression of groups that are not atomic."""
    for operation, argument in parsed:
        if operation is sre.POSSESSIVE_REPEAT:
            (first, *more) = argument[2]
            if more or first[0] not in {*ONE_CHARACTER, sre.ATOMIC_GROUP}:
                yield argument
        parts = list(argument) if isinstance(argument, tuple) else [argument]
        while parts:
            part = parts.pop()
            if isinstance(part, parser.SubPattern):
                yield from fragile(part)
            elif isinstance(part, list):
                parts += part


def patterns(value):
    """The compiled expressions in a value of a module: itself, or those in its rows."""
    if isinstance(value, (re.Pattern, lazy_patterns._Lazy)):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from patterns(each)


@pytest.mark.parametrize(
    ("expression", "is_fragile"), [("(?:ab?c)*+", True), ("(x(?:ab)?+)", True), ("a|(?>ab)*+[c]?+", False)]
)
def test_a_fragile_expression_is_found(expression, is_fragile):
    """A possessive group is found wherever it stands; an atomic one and one character are none."""
    assert any(fragile(parser.parse(expression))) == is_fragile


def test_possessive_groups_are_atomic():
    """Python before 3.11.5 takes the end of ``(?:ab)*+`` where its last, failing round had come to (gh-106052)."""
    found, count = [], 0
    for name in modules():
        for key, value in getattr(imported(name), "__dict__", {}).items():
            for pattern in patterns(value):
                count += 1
                flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
                found += [(name, key) for _ in fragile(parser.parse(pattern.pattern, flags))]
    assert count > 300
    assert found == []


def test_the_masks_of_code_have_none():
    """The expressions that mask strings and comments are compiled when they are used."""
    from spillstore_tools.preview.code.language import _MASKS

    assert [mask for masks in _MASKS.values() for mask in masks if any(fragile(parser.parse(mask)))] == []
