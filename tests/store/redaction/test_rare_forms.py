"""Forms of secrets, and of what only looks like one, that no row of a table has as its example."""

from __future__ import annotations

import pytest
from examples import drawn, parts

from spillstore.redaction import DEFAULT, RedactionRules, counted
from spillstore.redaction.structures import without_secrets

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"


@pytest.mark.parametrize(
    ("template", "kinds"),
    [
        ("https://%a{20}:x@host/x", {"TOKEN": 1}),
        ("https://%a{20}:7%a{11}@host/x", {"TOKEN": 1, "PASSWORD": 1}),
        ('token = " %a{32} "', {"TOKEN": 1}),
        ('["api_token"]=>\n  string(32) "%a{32}"', {"TOKEN": 1}),
        (f"-----BEGIN PRIVATE KEY-----\n\n\n{BODY}%a{{12}}\n", {"PRIVATE_KEY": 1}),
    ],
)
def test_what_goes(template, kinds):
    """A user that looks drawn, a token with blanks in its quotes, a string that PHP dumps, a key below empty lines."""
    result, found = counted(drawn(template))
    assert kinds == found
    assert [] == [part for part in parts(template) if len(part) > 1 and part in result]


@pytest.mark.parametrize(
    "template",
    [
        "postgres://me:5432/a@b/c@h",
        "postgres://db:5432/@app/x@y?z",
        "- name: API_TOKEN\n  value: see %a{20} there",
        "sha512-AKIA%U{16}",
        "password = 12.5",
        f"-----BEGIN PRIVATE KEY-----\n\n\n\n{BODY}\n",
    ],
)
def test_what_stays(template):
    """A port and a path with an ``@``, several words, a digest that begins as a key does, a number, what is far below an armour."""
    text = drawn(template)
    assert (text, {}) == counted(text)


RULES = """
[allowlist]
targetRules = ["other"]
regexes = ["^111"]
[[rules]]
id = "none"
path = "secrets/"
[[rules]]
id = "badge"
regex = "badge-([0-9]{3})"
[[rules.allowlists]]
condition = "AND"
paths = ["tests/"]
regexes = ["^222"]
[[rules.allowlists]]
condition = "AND"
regexes = ["^3"]
stopwords = ["33"]
"""


def test_allow_lists_of_a_file():
    """One for other rules, and one that wants a path, too, allow nothing here; with ``AND`` both must be there."""
    rules = RedactionRules.from_gitleaks(RULES)
    assert ["BADGE"] == [pattern.kind for pattern in rules.patterns]
    text = "badge-111 badge-222 badge-322 badge-133 badge-331"
    gone = "badge-[REDACTED: BADGE]"
    assert " ".join([*[gone] * 4, "badge-331"]) == rules.redact(text)


def test_structures_of_any_shape():
    """Tuples are lists, a number is a secret where numbers may be, keys need be no texts, and what is too deep is told by its type."""
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    counts: dict[str, int] = {}
    found = without_secrets(
        {7: ("", True), "password": 1234567, "deep": deep}, RedactionRules(), counts, numbers=True
    )
    assert (["", True], "[REDACTED: PASSWORD]", {"PASSWORD": 1}) == (found[7], found["password"], counts)
    while isinstance(found["deep"], list):
        (found["deep"],) = found["deep"]
    assert found["deep"] == "<list>"


@pytest.mark.usefixtures("searcher")
@pytest.mark.parametrize(("printed", "goes"), [("k3x9", False), ("k3x9Qz", True)])
def test_a_short_word_in_the_line_below_a_question_stays(printed, goes):
    """The scanner drops those of less than six letters, and so does Python without it."""
    assert bool(counted(f"> DB_PASSWORD\n{printed}\r\n".encode())[1]) == goes


def test_members_whose_names_are_secrets_keep_their_values():
    """Names that would become one get a number, so that no member is lost."""
    keys = ["AKIA" + f"IOSFODNN7EXAMPL{last}" for last in "QRS"]
    placeholder = "[REDACTED: AWS_ACCESS_KEY]"
    counts: dict[str, int] = {}
    found = without_secrets({placeholder: 0, **{key: n for n, key in enumerate(keys, 1)}}, DEFAULT, counts)
    assert found == {placeholder: 0, **{f"{placeholder} ({n})": n - 1 for n in (2, 3, 4)}}
    assert counts == {"AWS_ACCESS_KEY": 3}
