"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import itertools
import pkgutil

import pytest
from support import imported

import spillstore
import spillstore_tools

MODULES = sorted(
    info.name
    for package in (spillstore, spillstore_tools)
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not info.name.endswith(("__main__", "._native.scan"))  # a library for ctypes is no module
)
# A test for each module would take longer around them than in them.
PACKAGES = {
    package: list(names)
    for package, names in itertools.groupby(
        ["spillstore", *MODULES], lambda name: ".".join(name.split(".")[:2])
    )
}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_examples_of_modules_hold(package, monkeypatch, default_roots):
    """What a docstring shows is what happens."""
    monkeypatch.setenv(
        "SPILLSTORE_FREE_DISK_FLOOR", "0"
    )  # what this machine has free is not the example's subject
    failed = []
    for name in PACKAGES[package]:
        monkeypatch.setenv("SPILLSTORE_ROOT", next(default_roots))
        module = imported(name)
        if module is not None and doctest.testmod(module).failed:
            failed.append(name)
    assert failed == []


def test_the_main_classes_have_examples():
    """Store, Session, Writer and Artifact each show their use."""
    finder = doctest.DocTestFinder(recurse=False)
    classes = [spillstore.Store, spillstore.Session, spillstore.Writer, spillstore.Artifact]
    assert [cls.__name__ for cls in classes if not any(test.examples for test in finder.find(cls))] == []
