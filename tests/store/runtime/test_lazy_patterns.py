"""Expressions that are compiled when they are first used: the same answers, and none that cannot be compiled."""

import pkgutil
import re

import pytest
from support import imported

import spillstore
import spillstore_tools
from spillstore.runtime import lazy_patterns

OPTIONAL = (
    "spillstore._native.",
    "spillstore_tools.telemetry",
    "spillstore_tools.mcp",
    "spillstore_tools.cli.__main__",
    "spillstore_tools.shell.__main__",
)


def test_it_answers_like_the_compiled_expression():
    """Methods and attributes are those of what ``re.compile`` returns, flags heeded."""
    lazy, compiled = (of.compile(r"(\w)=(?P<n>\d)", re.IGNORECASE) for of in (lazy_patterns, re))
    assert lazy.findall("a=1 B=2") == compiled.findall("a=1 B=2") == [("a", "1"), ("B", "2")]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert lazy.sub(rb"".decode(), "a=1 b") == " b"


def test_nothing_is_compiled_before_it_is_used(monkeypatch):
    """``re.compile`` is called with the first use, and once for each name that is asked for."""
    calls = []
    real = re.compile
    lazy = lazy_patterns.compile(rb"x+")
    monkeypatch.setattr(re, "compile", lambda *of: calls.append(of) or real(*of))
    assert not calls
    assert lazy.search(b"axx").span() == lazy.search(b"axx").span() == (1, 3)
    assert calls == [(rb"x+", 0)]


def test_a_wrong_expression_is_an_error_when_it_is_used():
    """It is the error of ``re``."""
    with pytest.raises(re.error, match="unterminated"):
        lazy_patterns.compile("(").search("")


def test_an_unknown_attribute_is_an_attribute_error():
    """What a compiled expression does not have, this does not have."""
    with pytest.raises(AttributeError, match="no_such_thing"):
        lazy_patterns.compile("a").no_such_thing  # noqa: B018  # it raises


def test_all_expressions_of_the_packages_can_be_compiled():
    """Each one that waits at the top of a module is an expression."""
    found = 0
    for package in (spillstore, spillstore_tools):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith(OPTIONAL):
                continue
            for value in getattr(imported(module.name), "__dict__", {}).values():
                if isinstance(value, lazy_patterns._Lazy):
                    assert value.pattern == value._source[0]
                    found += 1
    assert found > 150
