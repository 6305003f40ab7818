"""Bare runs of forty token characters: secrets under ``acode`` alone, unless they are something else."""

from __future__ import annotations

import hashlib
import random
import string

import pytest
from support import each_of

from spillstore_tools.output.truncation import TruncationProcessor

DRAWN = random.Random(7)
TOKENS = [
    "".join(DRAWN.choices(string.ascii_letters + string.digits + "_-", k=size)) for size in (40, 43, 64, 100)
]


def shown(text, profile):
    """What a model is shown of a text."""
    return TruncationProcessor(None, profile=profile).process(text, "tool").content


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("line", ["{}", "use {} now", 'a = "{}"', "{},{}", "see {}."])
def test_a_bare_token_is_taken_out(token, line):
    """Wherever it stands alone on a line; under another profile the general rules decide."""
    text = line.replace("{}", token)
    assert line.replace("{}", "[REDACTED: TOKEN]") == shown(text, "acode")
    if line in {"{}", "use {} now"}:
        assert text == shown(text, "omni")


@each_of(
    "text",
    [
        TOKENS[0][:39],
        hashlib.sha1(b"x").hexdigest(),
        hashlib.sha512(b"x").hexdigest().upper(),
        "art_1795331022358_df0f3fc423f4b51d_and_some_more",
        "550e8400-e29b-41d4-a716-446655440000-550E8400",
        f"src/{TOKENS[0]}/index.js",
        "Should_Truncate_Large_Command_Output_Above_8000_Characters",
        "testHandlesHTTP404ErrorsOfTheServerInLessThan30Seconds",
        "THE_LONGEST_CONSTANT_OF_THEM_ALL_HAS_MORE_THAN_40_LETTERS",
        "the-longest-package-name-of-them-all-in-version-2-of-the-thing",
        "=" * 60,
        "-" * 60,
    ],
)
def test_what_is_no_token_stays(text):
    """Hashes, ids, paths, names made of words, lines that are drawn."""
    assert text == shown(text, "acode")
