"""How many secrets redaction finds in what tools print, and how much harmless text it leaves whole.

``redaction_texts/secrets.txt`` holds outputs of tools as they are met in practice, with a mark where a secret stands;
``lookalikes.txt`` holds texts that must stay as they are: hashes, code that handles passwords, masked values, manuals.
The marks are filled when the benchmark runs, so no secret stands in the repository, and another seed draws others:

    <<password>>        a secret of that kind
    <<hex:64>>          with a length; of base64 it is that of the bytes
    <<password|base64>> encoded; also url (percent signs)
    <<-uuid>>           drawn in the same way, but harmless: a hash, an id, a public key
    <<!password>>       a secret that stands elsewhere than behind a sign and a name that promises one

``unseen.txt`` and ``unseen_lookalikes.txt`` hold outputs of other tools. They are two halves, by the hash of a text's name: rules may be
mended by what they miss of half ``a``; of half ``b`` only the figures are looked at, so that they say how new outputs fare.
``later.txt`` and ``later_lookalikes.txt`` are the same for tools written down after the rules had been mended by those, ``foreign.txt`` and
``foreign_lookalikes.txt`` for tools written down by one who had never seen the rules, and twice more ``wider.txt``,
``wider_lookalikes.txt``, ``newer.txt`` and ``newer_lookalikes.txt``; ``newest.txt`` and ``newest_lookalikes.txt`` were by a third one, who wrote what is met
most, ``latest.txt`` and ``latest_lookalikes.txt`` by two who wrote what is rare as well: old systems, many languages, and ``everyday.txt`` and
``everyday_lookalikes.txt`` by one who was asked for what is met each day. Once rules were mended by what both halves of a collection show, only another
one says how new outputs fare; that is so of all but ``newest`` and ``everyday``.
``beside`` counts the lines of the outputs in which no secret stands, and which must stay as they are.

A text begins with a line of ``%%`` and its name. A secret counts as found if no eight characters of it in a row are
left, or if neither it nor its last eight are: of some kinds a public beginning stays.

Run as a module it also scores collections of others and counts what changes in sources:

    python -m benchmarks.redaction_quality [--seed N] [--missed] [--data FOLDER] [--sources FOLDER ...]

``FOLDER`` of ``--data`` has ``*.jsonl`` files, an example a line: ``text``, ``secrets`` (a list of strings), ``source``,
and ``class``: ``signed`` (behind a name and a sign), ``elsewhere``, or ``lookalike``, which must stay whole.
"""

from __future__ import annotations

import argparse
import base64
import collections
import hashlib
import json
import random
import re
import string
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from benchmarks.row import Row
from spillstore.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.workspace import Workspace

TEXTS = Path(__file__).parent / "redaction_texts"

_LEFT = 8  # characters of a secret in a row that may not stay
_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE64 = _LETTERS + "+/"
_SIGNS = "!-_.*+"  # need no quotes and no escapes anywhere
_MORE_SIGNS = "!#%@^*=?~"
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_MARK = re.compile(r"<<([-!]?)([a-z0-9_]+)(?::(\d+))?(?:\|([a-z0-9]+))?>>")
_PASSWORD_OF_URL = re.compile(r"//\w+:(.+)@")
_SHOWN = 200  # characters of a changed line that are printed
_BINARY = 8192  # bytes that are searched for NUL


class Example(NamedTuple):
    """A text, the secrets in it, and where it comes from; which of them do not stand behind a name and a sign."""

    name: str
    text: str
    secrets: tuple[str, ...]
    elsewhere: frozenset[str] = frozenset()


class Score(NamedTuple):
    """How many of how many were right, and which were not."""

    right: int
    of: int
    wrong: tuple[str, ...]

    @property
    def percent(self) -> float:
        """Of those that were right."""
        return 100 * self.right / self.of if self.of else 100.0


def measure(space: Workspace) -> list[Row]:
    """Rows for ``python -m benchmarks``: three draws, one if it is to be quick."""
    seeds = range(1, 2 if space.quick else 4)
    found = of_secrets(example for seed in seeds for example in drawn("secrets", seed))
    whole = of_lookalikes(example for seed in seeds for example in drawn("lookalikes", seed))
    return [
        Row(
            what=f"found of {found.of} secrets in outputs of tools",
            ours=found.percent,
            unit="%",
            correct=True,
        ),
        Row(what=f"whole of {whole.of} texts without secrets", ours=whole.percent, unit="%", correct=True),
    ]


def drawn(collection: str, seed: int) -> list[Example]:
    """All texts of a collection (``secrets``, ``lookalikes``), their marks filled."""
    parts = re.split(r"^%% (.+)\n", (TEXTS / f"{collection}.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]
    # The name belongs to the seed: a text's secrets stay the same when others come or go.
    return [
        _filled(name, text, random.Random(f"{seed} {name}"))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def of_secrets(examples: Iterable[Example]) -> Score:
    """How many secrets are found."""
    right = of = 0
    wrong = []
    for example in examples:
        result = redact(example.text)
        for secret in example.secrets:
            of += 1
            right += (good := is_gone(secret, result))
            if not good:
                wrong.append(f"{example.name}: {secret}")
    return Score(right, of, tuple(wrong))


def of_lookalikes(examples: Iterable[Example]) -> Score:
    """How many texts stay as they are."""
    right = of = 0
    wrong = []
    for example in examples:
        result = redact(example.text)
        of += 1
        right += (good := result == example.text)
        if not good:
            wrong += [f"{example.name}: {after}" for _, after in _changes(example.text, result)]
    return Score(right, of, tuple(wrong))


def halves(collection: str, seeds: Sequence[int]) -> Iterator[tuple[str, Score]]:
    """The scores of a collection that is two halves, by half and class; of half ``b`` nobody is told what was missed."""
    for half in "ab":
        outputs, texts = (
            [each for seed in seeds for each in drawn(name, seed) if _half(each.name) == half]
            for name in (collection, f"{collection}_lookalikes")
        )
        signed = of_secrets(each._replace(secrets=_without(each, elsewhere=True)) for each in outputs)
        elsewhere = of_secrets(each._replace(secrets=_without(each, elsewhere=False)) for each in outputs)
        for name, score in (
            ("signed", signed),
            ("elsewhere", elsewhere),
            ("all", Score(signed.right + elsewhere.right, signed.of + elsewhere.of, ())),
            ("beside", beside(outputs)),
            ("lookalike", of_lookalikes(texts)),
        ):
            yield (
                f"{collection}, half {half}, {name}",
                score._replace(wrong=score.wrong if half == "a" else ()),
            )


def beside(examples: Iterable[Example]) -> Score:
    """How many lines without a secret stay as they are, among those with some."""
    right = of = 0
    wrong = []
    for example in examples:
        lines = zip(example.text.split("\n"), redact(example.text).split("\n"), strict=True)
        for before, after in lines:
            if before.strip() and not any(secret in before for secret in example.secrets):
                of += 1
                right += before == after
                wrong += [] if before == after else [f"{example.name}: {after}"]
    return Score(right, of, tuple(wrong))


def _half(name: str) -> str:
    return "ab"[hashlib.sha256(name.encode()).digest()[0] & 1]


def _without(example: Example, *, elsewhere: bool) -> tuple[str, ...]:
    return tuple(secret for secret in example.secrets if (secret in example.elsewhere) is not elsewhere)


def is_gone(secret: str, result: str) -> bool:
    """Whether nothing of use is left of a secret."""
    if not any(secret[at : at + _LEFT] in result for at in range(max(1, len(secret) - _LEFT + 1))):
        return True
    return secret not in result and secret[-_LEFT:] not in result


def collections_of(folder: Path) -> Iterator[tuple[str, Score]]:
    """The scores of the collections in ``*.jsonl`` files, by source and class."""
    groups: dict[tuple[str, str], list[Example]] = collections.defaultdict(list)
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            record = json.loads(line)
            name = record.get("id", f"{path.name}:{number}")
            groups[record["source"], record["class"]].append(
                Example(name, record["text"], tuple(record["secrets"]))
            )
    for (source, kind), examples in sorted(groups.items()):
        yield f"{source}, {kind}", (of_lookalikes if kind == "lookalike" else of_secrets)(examples)


def sources(folders: Sequence[Path]) -> Iterator[tuple[Path, int, list[tuple[int, str, str]]]]:
    """For each text file its number of lines and those that change: number, before, after."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            data = path.read_bytes()
            if b"\0" in data[:_BINARY]:
                continue
            text = data.decode("utf-8", "surrogateescape")
            result = redact(data).decode("utf-8", "surrogateescape")
            changed = [] if text == result else _numbered(text, result)
            yield path, data.count(b"\n"), changed


def _filled(name: str, text: str, rng: random.Random) -> Example:
    secrets = []
    elsewhere = set()

    def fill(mark: re.Match[str]) -> str:
        sort, kind, count, code = mark.groups()
        value = _COUNTED[kind](rng, int(count)) if count else _KINDS[kind](rng)
        value = _CODES[code](value) if code else value
        secret = _PASSWORD_OF_URL.search(value)[1] if kind == "url_with_password" and not code else value
        if sort != "-":
            secrets.append(secret)
        if sort == "!":
            elsewhere.add(secret)
        return value

    return Example(name, _MARK.sub(fill, text), tuple(secrets), frozenset(elsewhere))


def _of(letters: str) -> Callable[[random.Random, int], str]:
    return lambda rng, count: "".join(rng.choices(letters, k=count))


def _bytes(rng: random.Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def _password(signs: str) -> Callable[[random.Random], str]:
    """Half are as people choose them, half as programs make them."""

    def make(rng: random.Random) -> str:
        if rng.random() < 0.5:
            word = "".join(rng.choice(letters) for _ in range(3) for letters in (_CONSONANTS, _VOWELS))
            return f"{word.capitalize()}{rng.randint(10, 2030)}{rng.choice(signs)}{rng.choice(_LETTERS)}"
        letters = [rng.choice(_LETTERS) for _ in range(rng.randint(12, 20))]
        for _ in range(2):
            letters[rng.randrange(1, len(letters) - 1)] = rng.choice(signs)
        letters[1], letters[-2] = rng.choice(string.digits), rng.choice(string.ascii_letters)
        return "".join(letters)

    return make


_plain = _password(_SIGNS)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _jwt(rng: random.Random) -> str:
    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    signature = _of(_LETTERS + "-_")(rng, 43)
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': rng.randrange(10**9)})}.{signature}"


_alnum, _hex, _base64 = _of(_LETTERS), _of(_HEX), _of(_BASE64)
_COUNTED: dict[str, Callable[[random.Random, int], str]] = {
    "hex": _hex,
    "upperhex": _of(_HEX.upper()),
    "upper": _of(string.ascii_uppercase + string.digits),
    "alnum": _alnum,
    "digits": _of("123456789"),
    "base64": _bytes,
}
_KINDS: dict[str, Callable[[random.Random], str]] = {
    "password": _plain,
    "password_plain": _password(_MORE_SIGNS),
    "password_url": lambda rng: _plain(rng) + quote(rng.choice("/@:#?"), safe="") + _alnum(rng, 4),
    "url_with_password": lambda rng: f"postgres://app:{_plain(rng)}@db.internal:5432/app",
    "uuid": lambda rng: "-".join(_hex(rng, count) for count in (8, 4, 4, 4, 12)),
    "basic": lambda rng: _encoded(f"deploy:{_plain(rng)}"),
    "basic_smtp": lambda rng: _encoded(f"\0ana@example.com\0{_plain(rng)}"),
    "base64_line": lambda rng: _base64(rng, 64),
    "base64_long": lambda rng: _bytes(rng, 480),
    "jwt": _jwt,
    "jwe": lambda rng: _encoded(f'{{"payload":"{_bytes(rng, 600)}","version":"2","type":"DATA_KEY"}}'),
    "aws_id": lambda rng: "AKIA" + _of(string.ascii_uppercase + "234567")(rng, 16),
    "aws_secret": lambda rng: _base64(rng, 40),
    "azure": lambda rng: f"{_alnum(rng, 3)}8Q~{_of(_LETTERS + '_.-')(rng, 34)}",
    "django": lambda rng: _of(string.ascii_lowercase + string.digits + "!@#$%^*(-_=+)")(rng, 50),
    "salt": lambda rng: _of(_LETTERS + "!@#$%^&*()-_ []{}<>~`+=,.;:/?|")(rng, 64),
    "stripe": lambda rng: "sk_live_" + _alnum(rng, 24),
    "slack": lambda rng: f"xoxb-{_of('123456789')(rng, 12)}-{_of('123456789')(rng, 12)}-{_alnum(rng, 24)}",
    "github": lambda rng: "ghp_" + _alnum(rng, 36),
    "gitlab": lambda rng: "glpat-" + _alnum(rng, 20),
    "npm": lambda rng: "npm_" + _alnum(rng, 36),
    "telegram": lambda rng: "AA" + _of(_LETTERS + "-_")(rng, 33),
}
_CODES: dict[str, Callable[[str], str]] = {"base64": _encoded, "url": lambda text: quote(text, safe="")}


def _changes(before: str, after: str) -> Iterator[tuple[str, str]]:
    return (pair for pair in zip(before.split("\n"), after.split("\n"), strict=False) if pair[0] != pair[1])


def _numbered(before: str, after: str) -> list[tuple[int, str, str]]:
    lines = zip(before.split("\n"), after.split("\n"), strict=False)
    return [(number, *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]]


def _table(scores: Iterable[tuple[str, Score]]) -> None:
    print(f"{'what':44} {'right':>7} {'of':>7} {'%':>6}")
    for name, score in scores:
        print(f"{name:44} {score.right:7} {score.of:7} {score.percent:6.1f}")


def _excerpt(line: str, other: str) -> str:
    """The part of a line in which it differs from another."""
    at = next(
        (at for at, pair in enumerate(zip(line, other, strict=False)) if pair[0] != pair[1]),
        min(len(line), len(other)),
    )
    begin = max(0, at - _SHOWN // 2)
    return line[begin : begin + _SHOWN].strip().encode("utf-8", "backslashreplace").decode()


def show_sources(folders: Sequence[Path]) -> None:
    files = lines = changed = 0
    for path, count, changes in sources(folders):
        files, lines, changed = files + 1, lines + count, changed + len(changes)
        for number, before, after in changes:
            print(f"{path}:{number}\n- {_excerpt(before, after)}\n+ {_excerpt(after, before)}")
    rate = 1e6 * changed / lines if lines else 0
    print(f"{changed} of {lines:,} lines in {files:,} files change: {rate:.1f} in a million")


def main() -> int:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.redaction_quality", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seed", type=int, default=1, help="draws other secrets")
    parser.add_argument("--missed", action="store_true", help="print what was missed or damaged as well")
    parser.add_argument("--data", type=Path, help="a folder of *.jsonl files to score")
    parser.add_argument(
        "--sources", type=Path, nargs="+", help="folders in whose files changed lines are counted"
    )
    options = parser.parse_args()
    if options.sources:
        show_sources(options.sources)
        return 0
    scores = [
        ("secrets in outputs of tools", of_secrets(drawn("secrets", options.seed))),
        ("texts without secrets, whole", of_lookalikes(drawn("lookalikes", options.seed))),
        *(
            score
            for name in ("unseen", "later", "foreign", "wider", "newer", "newest", "latest", "everyday")
            for score in halves(name, range(options.seed, options.seed + 3))
        ),
        *(collections_of(options.data) if options.data else ()),
    ]
    _table(scores)
    if options.missed:
        print(*(line for _, score in scores for line in score.wrong), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
