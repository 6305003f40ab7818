"""How many secrets are found, by kind, and how much is taken for one that is none, beside detect-secrets.

The secrets are drawn anew from public formats (``tests/store/redaction/secrets_made.py``): those that a form of their own gives away
in a few places, the others in the notations that they are found in. One counts as found if the redactor leaves no eight
bytes of it in a row, and if detect-secrets names it or most of it; of a private key, its first line is enough for that.

Clean text is what nobody keeps secrets in: sources, the lists of hashes of installed packages, real tool output, logs, and
what the tests make of lock files, checksums, identifiers, images, minified text (``tests/store/redaction/test_redaction_corpora.py``).
A source may hold an example that looks like a secret; both see the same. detect-secrets (all its plugins and filters, a file
a text) takes seconds for 100 KB, so it is given a sample.
"""

from __future__ import annotations

import collections
import importlib
import random
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import MIB
from benchmarks.row import Row
from spillstore.redaction import counted, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.workspace import Workspace

    Scanner = Callable[[str], list[str]]

_TESTS = Path(__file__).parents[1] / "tests" / "store" / "redaction"
_AROUND = ("{}", "token is {} ok", "x={}", '"{}"', "https://x.example/?k={}&y")
_SAMPLE = MIB // 4
_LEFT = 8  # bytes of a secret in a row that may not stay
_MOST = 0.6  # of a secret: named is what holds that much of it
_COMMANDS = (
    "mysql",
    "sshpass",
    "curl",
    "redis-cli",
    "docker",
    "openssl",
    "machine ",
    "  password",
    "db.example.com:",
)
_PASSWORDS = ("pass", "pwd", "identified")


class Secret(NamedTuple):
    """One to be found: its kind, it, and the text with it."""

    kind: str
    value: str
    text: str


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    scanner = _detect_secrets(space)
    return [*_recall(1 if space.quick else 4, scanner), *_precision(space, scanner)]


def _detect_secrets(space: Workspace) -> Scanner | None:
    """The values that detect-secrets finds in a file with that text; None where it is not installed."""
    try:
        scan = importlib.import_module("detect_secrets.core.scan")
        settings = importlib.import_module("detect_secrets.settings")
    except ImportError:
        return None
    file = space.fresh("detection") / "output.txt"
    file.parent.mkdir(parents=True, exist_ok=True)

    def found(text: str) -> list[str]:
        file.write_text(text, "utf-8")
        with settings.default_settings():
            return [str(secret.secret_value or "") for secret in scan.scan_file(str(file))]

    return found


def _tests(module: str) -> Any:
    sys.path.insert(0, str(_TESTS))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(str(_TESTS))


def _made(seeds: int) -> Iterator[Secret]:
    maker_of = _tests("secrets_made").Maker
    for seed in range(1000, 1000 + seeds):
        maker = maker_of(seed)
        for secret in maker.tokens().values():
            for around in _AROUND:
                yield Secret("tokens of providers", secret, around.format(secret))
        for secret, text in maker.within():
            yield Secret(_kind(secret, text), secret, text)
        for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"):
            lines, text = maker.pem(kind)
            yield Secret("private keys", lines[3], text)
            yield Secret("private keys", lines[3], text.replace("\n", "\\n"))


def _kind(secret: str, text: str) -> str:
    before = text[: text.index(secret)]
    low = before.lower()
    if "://" in before or "jdbc:" in before or ";" in before:
        return "in addresses and connection strings"
    if "uthorization" in before or "ookie" in before or "auth" in low.split("=")[0].split(":")[-1]:
        return "in headers and cookies"
    if text.startswith(_COMMANDS):
        return "in command lines"
    if any(word in low for word in _PASSWORDS):
        return "passwords behind a name"
    return "keys and tokens behind a name"


def _recall(seeds: int, scanner: Scanner | None) -> list[Row]:
    ours: collections.Counter[str] = collections.Counter()
    theirs: collections.Counter[str] = collections.Counter()
    all_of: collections.Counter[str] = collections.Counter()
    whole = True
    for kind, value, text in _made(seeds):
        result = redact(text)
        all_of[kind] += 1
        left = any(value[at : at + _LEFT] in result for at in range(max(1, len(value) - _LEFT + 1)))
        ours[kind] += not left or (kind == "tokens of providers" and value[-_LEFT:] not in result)
        whole &= result.count("\n") == text.count("\n")
        if scanner is not None:
            named = scanner(text)
            theirs[kind] += any(
                value in name or (name in value and len(name) >= _MOST * len(value)) for name in named if name
            ) or (kind == "private keys" and bool(named))
    return [
        Row(
            what=f"found of {size} {kind}",
            ours=100 * ours[kind] / size,
            unit="%",
            peer=None if scanner is None else 100 * theirs[kind] / size,
            peer_name="detect-secrets",
            correct=whole,
        )
        for kind, size in all_of.items()
    ]


def _precision(space: Workspace, scanner: Scanner | None) -> list[Row]:
    library, packages = (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))
    own = [
        path for path in _files(library, "*.py") if not {"test", "tests", "site-packages"} & set(path.parts)
    ]
    others = _files(packages, "*.py")
    records = _files(packages, "RECORD")
    made = [make(random.Random(7)).encode()[:_SAMPLE] for make in _tests("test_redaction_corpora").CLEAN]
    return [
        _taken("the standard library's sources", [_sample(own, _SAMPLE)], scanner),
        _taken("installed packages' sources", [_sample(others, _SAMPLE)], scanner),
        _taken("installed packages' lists of hashes", [_sample(records, _SAMPLE)], scanner),
        _taken("real tool output", [space.source("tool", 50 * MIB).path.read_bytes()[:_SAMPLE]], scanner),
        _taken("a generated log", [space.source("log", 50 * MIB).path.read_bytes()[:_SAMPLE]], scanner),
        _taken(f"generated lock files, checksums, ... ({len(made)} kinds)", made, scanner),
        _taken("all these sources and lists", (path.read_bytes() for path in own + others + records), None),
    ]


def _taken(name: str, texts: Iterable[bytes], scanner: Scanner | None) -> Row:
    ours = theirs = size = 0
    whole = True
    for data in texts:
        result, counts = counted(data)
        size += len(data)
        ours += sum(counts.values())
        whole &= result.count(b"\n") == data.count(b"\n")
        if scanner is not None:
            theirs += len(scanner(data.decode("utf-8", "replace")))
    return Row(
        what=f"taken for secrets in {size / MIB:.1f} MiB of {name}",
        ours=ours,
        unit="findings",
        peer=None if scanner is None else theirs,
        peer_name="detect-secrets",
        correct=whole,
    )


def _files(folder: Path, name: str) -> list[Path]:
    return sorted(path for path in folder.rglob(name) if path.is_file())


def _sample(paths: list[Path], most: int) -> bytes:
    """Files evenly from all of them, as many as fit."""
    total = sum(path.stat().st_size for path in paths)
    step = max(1, round(total / most))
    return b"".join(path.read_bytes() for path in paths[::step])[:_SAMPLE]
