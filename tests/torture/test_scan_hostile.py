"""Hostile texts: what the native scanner does for a byte is bounded, however long a line is and whatever stands in it."""

from __future__ import annotations

import pytest
from scan_driver import COUNTED, MOST_NAMES, Driver, NoCompilerError, compiled
from support import FACTOR, dice, tries

from spillstore.redaction import finder

SMALL, LARGE = 8 << 10, 64 << 10
# Steps are blocks of instructions that ran, and bytes that were compared. Around a hit at most REACH bytes are looked at,
# a few times, and a hit takes three bytes at least.
MOST_STEPS = 4096
# The rest of a text of 8 KiB behind a hit is shorter than in one of 64 KiB for a quarter of the hits. What is quadratic has 8.
MOST_GROWTH = 1.6
BEFORE = (
    *("password=", "token=", "password", "Cookie: ", "Authorization", "a://", '"auth"', "password:"),
    *("name: password\n", "password \n", "password=|\n", "name", "mysql -p", "curl "),
)
REPEATED = (" ", '"', "\\", "a", ":", "&", "\t", "-", "=", "%", "1", "\n", '\\"', "\xff")
UNITS = (
    *(
        "://",
        "a://",
        "a://b:",
        "Cookie: a=",
        '"',
        "'",
        "\\",
        '\\"',
        "=",
        "::",
        "&",
        " ",
        "\t",
        "\n",
        "password=|",
    ),
    *(
        "password=\n",
        "password:\n-",
        "token={{",
        "password=(",
        "token=a/b",
        'token="a b c d ',
        "secret user ",
    ),
    *("password is set to the new user ", "curl ", " -u ", "mysql -p", "password - ", 'name="password"\n'),
    *(
        '"password",',
        'password")',
        "name: password\n",
        'form-data; name="password"\n',
        "token <",
        "\xff",
        "\0",
    ),
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    try:
        command = compiled(tmp_path_factory.mktemp("driver"), flags=("-O1", *COUNTED))
    except NoCompilerError as error:
        pytest.skip(str(error))
    with Driver([str(command)]) as driver:
        yield driver


def _filled(unit: str, size: int) -> bytes:
    bytes_ = unit.encode("latin-1")
    return (bytes_ * (size // len(bytes_) + 1))[:size]


def _repeated(unit: str):
    return lambda size: _filled(unit, size)


def _line(before: str, unit: str):
    """One line that goes on with the same for ever."""
    return lambda size: (before.encode() + _filled(unit, size))[:size]


def _below(before: str, unit: str):
    """Many hits in a line, and the next one goes on for ever."""
    return lambda size: (_filled(before.strip("\n"), 1900) + b"\n" + _filled(unit, size))[:size]


def _rows(before: str, unit: str, count: int):
    """Many hits in a line and long lines below it, again and again."""
    below = (_filled(unit, 4000 // count) + b"\n") * count
    rows = _filled(before.strip("\n"), 1900) + b"\n" + below
    return lambda size: (rows * (size // len(rows) + 1))[:size]


def _steps(driver: Driver, text: bytes) -> float:
    """For each byte of the text."""
    driver.start("hostile", MOST_NAMES)
    list(driver.hits(text, len(text)))
    return driver.steps / len(text)


def _some(of):
    """All of them in a longer run, else a hundred, or fewer where each property is tried with fewer."""
    every = sorted(of)
    return every if FACTOR > 1 else dice("some").sample(every, min(tries(100), len(every)))


def _bounded(driver: Driver, forms) -> None:
    found = {name: (_steps(driver, form(SMALL)), _steps(driver, form(LARGE))) for name, form in forms.items()}
    assert min(min(both) for both in found.values()) > 1  # they are counted
    assert {name: both for name, both in found.items() if both[1] > max(both[0] * MOST_GROWTH, 20)} == {}
    assert {name: both for name, both in found.items() if both[1] > MOST_STEPS} == {}


@pytest.mark.slow
@pytest.mark.parametrize("behind", ["", " ", "=", ": ", '="', "\n"])
def test_one_literal_again_and_again(driver, behind):
    """Each literal of the rules, and nothing else."""
    literals = _some({entry.literal.decode("latin-1") for entry in finder.ENTRIES})
    _bounded(driver, {literal + behind: _repeated(literal + behind) for literal in literals})


@pytest.mark.slow
def test_signs_again_and_again(driver):
    """Signs, quotes, schemes, cookies, options, lists."""
    _bounded(driver, {unit: _repeated(unit) for unit in UNITS})


@pytest.mark.slow
def test_a_name_before_an_endless_run(driver):
    """Blanks, quotes, backslashes or letters without end: behind a name, below many, and in each of many lines."""
    forms = {}
    for before in BEFORE:
        for unit in REPEATED:
            forms["line", before, unit] = _line(before, unit)
            forms["below", before, unit] = _below(before, unit)
            forms["rows", before, unit] = _rows(before, unit, 1)
            forms["short rows", before, unit] = _rows(before, unit, 8)
    _bounded(driver, {name: forms[name] for name in _some(forms)})


@pytest.mark.slow
def test_a_name_of_a_million_bytes(driver):
    """Names, values and lines that are longer than anything that is looked at."""
    for text in (
        b"x" * 1_000_000 + b"password=" + b"y" * 1_000_000,
        b"password" * 125_000,
        b"_key" * 250_000,
    ):
        assert _steps(driver, text) < MOST_STEPS


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "_",
        "ab_",
        "a1B2",
        "ab_" + "a1B2" * 6 + " ",
        "a" * 22 + " ",
        "a" * 23 + "\n",
        "a_" + "9aB" * 170,
        "/" + "a" * 40,
    ],
)
def test_runs_of_letters(driver, unit):
    """Steps for each byte stay few, however long the text is."""
    small, large = (_run_steps(driver, _filled(unit, size)) for size in (SMALL, LARGE))
    assert small > 0
    assert large <= min(MOST_STEPS, max(small * MOST_GROWTH, 20))


def _run_steps(driver: Driver, text: bytes) -> float:
    list(driver.runs(text))
    return driver.steps / len(text)
