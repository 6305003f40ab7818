"""What a name promises: the native scanner says the same as ``classify``."""

from __future__ import annotations

import ctypes
import random

import pytest
from native_texts import NAMES
from support import FACTOR, ROOT, SEED, compiled_library, native

from spillstore import _native
from spillstore.redaction import finder, name_tables, scanner_tables
from spillstore.redaction.look import Look
from spillstore.redaction.tables import names as table

NATIVE = ROOT / "store/spillstore/_native"
PARTS = [
    *{word for row in table.PROMISES for group in (row.last, row.behind, row.among) for word in group},
    *table.WHERE,
    *table.JOINED,
    *table.ENDINGS,
    *table.BEFORE_SHORT,
    *(word.replace("_", "").strip("=:\"'") for word in NAMES if word.isascii()),
    *(
        "psk",
        "s3",
        "S3",
        "7",
        "2026",
        "x",
        "sb",
        "cpp",
        "internationalization",
        "abcdefghijklmnop",
        "abcdefghijklmnopq",
    ),
]
SIGNS = ("", "", "_", "-", ".", "_", "__", "-D", "-P")


@pytest.fixture(scope="module")
def promised(tmp_path_factory, scanner):
    """The number of what a name promises, as the scanner says it."""
    source = f'#include "{NATIVE}/scan_promises.c"\n'
    source += "int asked(const Tables *tables, const u8 *name, i64 size) {\n"
    source += "    const Text t = {.tables = tables, .text = name, .size = size}; return strength_of(&t, 0, size); }\n"
    library = ctypes.CDLL(str(compiled_library(tmp_path_factory.mktemp("names"), source)))
    tables, owned = scanner_tables.tables(_native.library(), finder.ENTRIES)
    room = (scanner_tables.Name * scanner_tables.MOST_NAMES)()
    tables.names = ctypes.addressof(room)

    def ask(name):
        return library.asked(ctypes.byref(tables), name, ctypes.c_int64(len(name)))

    ask.owned = owned, room
    return ask


def _expected(name):
    named = Look(name, final=True).classified(0, len(name))
    return name_tables.STRENGTHS[named.strength if named else ""]


def _drawn(rng):
    parts = [
        rng.choice((str, str, str.upper, str.title, str.swapcase))(rng.choice(PARTS))
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 30)))
    ]
    return (rng.choice(SIGNS) + "".join(part + rng.choice(SIGNS) for part in parts)).encode()


@native
def test_every_word_alone_and_behind_another(promised):
    """Each word of the tables, in three cases, alone and beside some others."""
    for word in PARTS:
        for form in (word, word.upper(), word.title()):
            for name in (form, f"api_{form}", f"{form}Key", f"db{form}2", f"secret.{form}", f"my{form}token"):
                assert (name, promised(name.encode())) == (name, _expected(name.encode()))


@native
def test_names_of_any_words(promised):
    """Names drawn from those words, and of any letters, short and very long; each is asked for again when it is known."""
    rng = random.Random(SEED)
    for _ in range(round(20_000 * FACTOR)):
        name = _drawn(rng)
        if rng.random() < 0.3:
            at = rng.randrange(len(name) + 1)
            name = name[:at] + bytes(rng.choices(b"aZs3S9_.-k", k=rng.randrange(1, 4))) + name[at:]
        name = name[: rng.choice((16, 45, 46, 47, 96, 97, 200, 288))] or b"x"
        assert (name, promised(name)) == (name, _expected(name))
        assert promised(name) == _expected(name)
