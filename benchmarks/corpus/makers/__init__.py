"""The makers of all cases: importing this package registers them."""

from benchmarks.corpus.makers import (
    builds,
    data,
    git,
    linters,
    native,
    other_tests,
    python_scripts,
    python_tests,
    scripts,
    sql,
    successes,
    translated,
    web_builds,
)

__all__ = [
    "builds",
    "data",
    "git",
    "linters",
    "native",
    "other_tests",
    "python_scripts",
    "python_tests",
    "scripts",
    "sql",
    "successes",
    "translated",
    "web_builds",
]
