"""The campaign against the native scanner (``scan_fuzz.py``): a short part of it, and that it finds what is wrong."""

from __future__ import annotations

import pytest
from scan_driver import COUNTED, SANITIZERS, SOURCE, Driver, Ended, NoCompilerError, compiled
from scan_fuzz import play, shortened
from support import FACTOR, SEED, native

from spillstore.redaction import finder

pytestmark = [pytest.mark.slow, native]
# Texts of which a byte behind the last one was read.
READ_BEYOND = (b"password:::", b"token:::", b"key:::")


def _built(folder, source=SOURCE):
    """The driver, built in a fifth of the time that it takes to optimise it; a few rounds are as fast."""
    try:
        return [str(compiled(folder, flags=(*SANITIZERS, *COUNTED, "-O0"), source=source))]
    except NoCompilerError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return _built(tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("number", range(2))
def test_a_round(command, number):
    """No read outside, no undefined behaviour, and the same answers as in Python: 20,000 texts compared, 40,000 checked."""
    done = play(command, SEED, number, share=min(FACTOR, 1))
    assert [*done.wrong, *done.uneven] == []
    assert done.places > done.dropped > done.compared / 10  # the texts have what is judged


def test_a_round_is_the_same_again(command):
    """What is drawn depends on the seed and the round's number alone, so that what was found can be seen again."""
    first, second = (play(command, SEED, 7, share=0.05) for _ in range(2))
    assert (first.places, first.dropped, first.wrong) == (second.places, second.dropped, second.wrong)
    other = play(command, SEED + 1, 7, share=0.05)
    assert (first.places, first.dropped) != (other.places, other.dropped)


def test_what_was_read_beyond_the_end(command):
    """Texts that once were: each is scanned in a block of its own size."""
    for text in READ_BEYOND:
        with Driver(command) as driver:
            for size in range(len(text) + 1):
                list(driver.hits(text[:size], size))


def _changed(folder, before, after):
    """The driver with a scanner in which something is wrong."""
    changed = []
    for file in SOURCE.glob("scan*.[ch]"):
        source = file.read_text()
        changed += [file.name] * source.count(before)
        (folder / file.name).write_text(source.replace(before, after))
    assert len(changed) == 1
    return _built(folder, folder)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(
            "while (at < t->size && at - end < literal->least && set[t->text[at]]) at++;",
            "while (at <= t->size && at - end < literal->least && set[t->text[at]]) at++;",
            "AddressSanitizer",
            id="a byte behind the text is read",
        ),
        pytest.param(
            "strength == PASSWORD ? 3 : 8",
            "strength == PASSWORD ? 4 : 8",
            "PASSWORD",
            id="a password of the least length is dropped",
            marks=pytest.mark.repeat,
        ),
        pytest.param(
            "*from = end - 1;",
            "*from = end;",
            "small room",
            id="where it goes on is a byte too far",
            marks=pytest.mark.repeat,
        ),
        pytest.param(
            "&tables->names[(slot + (u32)(hash >> 40) % PROBES) & tables->names_mask];",
            "&tables->names[slot + (u32)(hash >> 40) % PROBES];",
            "AddressSanitizer",
            id="a name is kept behind the table",
        ),
    ],
)
def test_it_finds_what_is_wrong(tmp_path, before, after, told):
    """A scanner with a mistake in one place does not pass."""
    command = _changed(tmp_path, before, after)
    for number in range(50):
        found = play(command, 0, number).wrong
        if found:
            break
    assert told in "\n".join(found)


def test_a_driver_that_has_ended_says_why(command):
    """Whoever asks one that has failed gets its last words."""
    with pytest.raises(Ended, match="ended with"), Driver(command) as driver:
        driver._send(b"?")
        driver.check(1, 1)


def test_a_text_is_made_as_short_as_it_can_be():
    """Nothing of it can be left out."""
    assert shortened(b"one two three four", lambda of: b"w" in of and b"u" in of) == b"wu"


def test_answers_on_request_are_those_of_the_library(command):
    """The driver's scanner with its own tables gives out what the library does with those of this process."""
    scanner = finder.searcher()
    texts = (
        b"password=hunter2\n",
        b"Cookie: a=1; sid=k8Jd72hsQ0zPw",
        b"x" * 70_000 + b"token: k8Jd72hsQ0zPw",
    )
    with Driver(command) as driver:
        for text in texts:
            for whole in (0, len(text)):
                assert list(driver.hits(text, whole)) == list(scanner.hits(text, whole))
