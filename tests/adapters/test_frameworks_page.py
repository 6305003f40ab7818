"""Each section of docs/frameworks.md runs by itself, where its framework is installed, and prints what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from tests.docs.test_examples import examples, run

pytestmark = pytest.mark.adapters
PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
SECTIONS = [match[1] for match in re.finditer(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)]


def examples_of(section):
    """Those between its heading and the next."""
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    first = lines.index(f"## {section}")
    last = next((n for n in range(first + 1, len(lines)) if lines[n].startswith("## ")), len(lines))
    return [each for each in examples(PAGE) if first < each.line <= last]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_prints_what_it_says(section, tmp_path, monkeypatch):
    """In an empty folder, in a namespace of its own."""
    found = examples_of(section)
    assert found, "a section has an example"
    for name in re.findall(r"from spillstore_tools\.adapters\.(\w+)", "".join(each.code for each in found)):
        pytest.importorskip(f"spillstore_tools.adapters.{name}", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path / "store"))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    names = {"__name__": "example"}
    for example in found:
        printed = run(example, names, f"{PAGE.name}:{example.line}")
        if example.output is not None:
            same = doctest.OutputChecker().check_output(example.output, printed, doctest.ELLIPSIS)
            assert same, f"line {example.line} prints\n{printed}\nand the page says\n{example.output}"
