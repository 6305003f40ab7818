"""How the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import each_of

import spillstore_tools
from spillstore_tools.cli.support.tables import table
from spillstore_tools.describe import count, exact_size, human_size, preview_size, utc


@each_of(
    "size, text",
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (911_360, "890 KiB"),
        (2_415_919, "2.3 MiB"),
        (1024**2 - 1, "1 MiB"),
        (15_938_355, "15.2 MiB"),
        (104_857_600, "100 MiB"),
        (1024**3, "1 GiB"),
        (5 * 1024**4, "5 TiB"),
        (5000 * 1024**4, "5000 TiB"),
    ],
)
def test_human_size(size, text):
    """A size has three digits or fewer and a unit of 1024."""
    assert human_size(size) == text


@pytest.mark.parametrize(
    ("size", "prefix", "text"),
    [
        (1, None, "1 byte"),
        (1024, None, "1.0 KB"),
        (51_200, None, "50.0 KB"),
        (1024**2 - 1, None, "1.0 MB"),
        (2_415_919, None, "2.3 MB"),
        (1023 * 1024**2, None, "1023.0 MB"),
        (5 * 10**12, None, "4.5 TB"),
        (52_428, "M", "51.2 KB"),
        (52_429, "M", "0.1 MB"),
        (10 * 1024**3, "M", "10240.0 MB"),
    ],
)
def test_preview_size(size, prefix, text):
    """Previews have one digit behind the point, and the unit that their words name where that says anything."""
    assert preview_size(size, prefix=prefix) == text


def test_one_module_computes_units():
    """Nothing else in the tools has names of units in a row, divides by 1024 to show a size, or estimates tokens."""
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for path in Path(spillstore_tools.__file__).parent.rglob("*.py")
    }
    computing = re.compile(
        r"""["']KB["'], |["']KiB["'], |/=? 1024\b|/ [KMG]IB\b|["']iB["'], |def (human_size|tokens)\b"""
    )
    assert [name for name, text in sources.items() if computing.search(text)] == ["describe.py"]


def test_exact_size():
    """A size to the byte is followed by one for people where they differ."""
    assert (exact_size(12), exact_size(2_415_919)) == ("12 bytes", "2,415,919 bytes (2.3 MiB)")


def test_count():
    """One of a thing is not plural."""
    assert (count(1, "line"), count(0, "line"), count(1234, "line")) == ("1 line", "0 lines", "1,234 lines")


def test_utc():
    """Times are in UTC, to the second."""
    assert utc(1_730_902_967.9) == "2024-11-06 14:22:47 UTC"


def test_table():
    """Columns are aligned, numbers to the right, and no cell can break the table."""
    rows = [("a", "5", "x\ny"), ("long", "1,234", "\x1b[31mred")]
    assert table(("name", "size", "what"), rows, right=("size",)) == (
        "name   size  what\na         5  x y\nlong  1,234  red"
    )
