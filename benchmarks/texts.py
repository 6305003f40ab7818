"""Texts of many kinds, as tools and services print them: seeded, the same on every machine that has the same Python."""

from __future__ import annotations

import base64
import json
import random
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_WORDS = (
    b"request user order cache worker timeout retry connection database session handler queue message payload service node "
    b"cluster index update delete insert select token key password api auth login page limit offset"
).split()
WORDS = [word.decode() for word in _WORDS]


class _Draw(random.Random):
    def word(self) -> str:
        return self.choice(WORDS)

    def words(self, count: int) -> str:
        return " ".join(self.choices(WORDS, k=count))

    def hex(self, digits: int) -> str:
        return f"{self.getrandbits(4 * digits):0{digits}x}"

    def base64(self, size: int) -> str:
        return base64.b64encode(self.randbytes(size)).decode()

    def time(self) -> str:
        day, hour, minute, second = (self.randrange(1, most) for most in (28, 24, 60, 60))
        return f"2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}.{self.randrange(1000):03}Z"


def _log(draw: _Draw) -> str:
    level = draw.choice(("INFO", "WARN", "DEBUG"))
    place = f"[{draw.word()}-{draw.randrange(16)}] com.example.{draw.word()}.Handler"
    return f"{draw.time()} {level} {place} - {draw.words(9)} id={draw.hex(12)} took {draw.randrange(999)}ms\n"


def _json_lines(draw: _Draw) -> str:
    line = {
        "ts": draw.time(),
        "level": "info",
        "msg": draw.words(6),
        "token": draw.choice(("true", "none", "expired")),
        "auth": {"ok": True},
        "password": None,
        "key": f"user:{draw.randrange(9999)}",
        "trace_id": draw.hex(32),
        "duration_ms": draw.random(),
    }
    return json.dumps(line) + "\n"


def _logfmt(draw: _Draw) -> str:
    counts = (
        f"token_count={draw.randrange(9000)} session_id={draw.randrange(10**6)} tokens={draw.randrange(100)}"
    )
    more = f"cache_key={draw.word()} password_attempts={draw.randrange(5)} trace={draw.hex(16)}"
    return f'ts={draw.time()} level=info key=user:{draw.randrange(99999)} {counts} {more} msg="{draw.words(4)}"\n'


def _web_server(draw: _Draw) -> str:
    client = f"10.{draw.randrange(256)}.{draw.randrange(256)}.7"
    path = f"/{draw.word()}/{draw.randrange(9999)}?key={draw.randrange(99)}&token={draw.word()}"
    agent = '"Mozilla/5.0 (X11; Linux x86_64)"'
    return f'{client} - - [{draw.time()}] "GET {path} HTTP/1.1" 200 {draw.randrange(99999)} "https://example.com/" {agent}\n'


def _tests(draw: _Draw) -> str:
    name = f"tests/unit/test_{draw.word()}_{draw.word()}.py::test_{draw.word()}_token_{draw.word()}"
    return f"{name}[key-{draw.word()}-{draw.word()}] PASSED [{draw.randrange(100):3}%]\n"


def _kubernetes(draw: _Draw) -> str:
    def secret(name: str, key: str) -> str:
        return (
            f"    - name: {name}\n      valueFrom:\n        secretKeyRef:\n"
            f"          name: {draw.word()}-secret\n          key: {key}\n"
        )

    image = f"    image: registry.example.com/{draw.word()}:{draw.randrange(99)}\n"
    return f"  - name: {draw.word()}\n    env:\n{secret('DB_PASSWORD', 'password')}{secret('API_TOKEN', 'token')}{image}"


def _sql(draw: _Draw) -> str:
    values = f"({draw.randrange(10**6)}, NULL, NULL, '{draw.time()}')"
    table = f"  PRIMARY KEY (`id`), KEY `idx_{draw.word()}` (`token`),\n"
    return f"INSERT INTO {draw.word()} (id, api_key, token, created) VALUES {values};\n{table}"


def _plan(draw: _Draw) -> str:
    fields = (
        f'ami = "ami-{draw.hex(8)}"',
        "key_name = (known after apply)",
        "password_data = (known after apply)",
        'http_tokens = "required"',
        "user_auth = (sensitive value)",
    )
    lines = "".join(f"      + {field}\n" for field in fields)
    return f'  # aws_instance.{draw.word()} will be created\n  + resource "aws_instance" "{draw.word()}" {{\n{lines}    }}\n'


def _journal(draw: _Draw) -> str:
    events = ("Accepted publickey for root from", "Failed password for root from", "session opened for user")
    place = f"10.0.{draw.randrange(256)}.{draw.randrange(256)} port {draw.randrange(65536)}"
    return f"Mar 12 10:00:07 host sshd[{draw.randrange(9999)}]: {draw.choice(events)} {place} ssh2: RSA SHA256:{draw.base64(32)}\n"


def _lock_file(draw: _Draw) -> str:
    versions = f'{{"jsonwebtoken": "^{draw.randrange(9)}.{draw.randrange(20)}.30", "cookie": "~0.{draw.randrange(9)}.1"}}'
    return (
        f'    "node_modules/{draw.word()}-{draw.randrange(999)}": {{\n      "version": "{draw.randrange(20)}.2.0",\n'
        f'      "resolved": "https://packages.example.com/{draw.word()}/-/{draw.word()}-1.0.tgz",\n'
        f'      "integrity": "sha512-{draw.base64(64)}",\n      "dependencies": {versions}\n    }},\n'
    )


def _build(draw: _Draw) -> str:
    done, name = draw.randrange(100), f"src/{draw.word()}/{draw.word()}_{draw.randrange(999):03}"
    flags = f"-I../include -I{draw.word()}/include -DNDEBUG -O2 -g -fPIC -Wall -Wextra -std=c++17"
    line = f"[{done:3}%] Building CXX object CMakeFiles/{draw.word()}.dir/{name}.cpp.o\n"
    line += f"/usr/bin/c++ {flags} -MD -MT {name}.cpp.o -o {name}.cpp.o -c /src/{name}.cpp\n"
    if draw.random() < 0.2:
        place, what = f"{name}.cpp:{draw.randrange(1, 900)}:{draw.randrange(1, 80)}", draw.word()
        line += f"{place}: warning: unused variable '{what}_token' [-Wunused-variable]\n"
        line += f"  {draw.randrange(1, 900):3} |     auto {what}_token = next_{draw.word()}();\n      |          ^~~~~~~~\n"
    return line


def _minified(draw: _Draw) -> str:
    """A bundle of a script or of styles: one line of 20 to 100 KB."""
    script = draw.random() < 0.7
    make = _statement if script else _rule
    bundle = "".join(make(draw) for _ in range(draw.randrange(300, 1500)))
    return f"!function(e,t){{{bundle}}}(this,void 0);\n" if script else f"{bundle}\n"


def _statement(draw: _Draw) -> str:
    a, b = draw.choices("abcdefghijklmnopqrstuvwxyz", k=2)
    call = f"{a}.{draw.word()}({b},{draw.randrange(999)})"
    return f'function {a}{draw.word()[:2]}({a},{b}){{var n={call};return n&&n.{draw.word()}?{b}["{draw.hex(6)}"]:!{draw.randrange(2)}}}'


def _rule(draw: _Draw) -> str:
    name = f".{draw.word()}-{draw.word()}--{draw.word()}"
    return f"{name}:hover{{color:#{draw.hex(6)};margin:{draw.randrange(64)}px auto;transition:all .{draw.randrange(9)}s}}"


def _base64(draw: _Draw) -> str:
    return base64.encodebytes(draw.randbytes(57)).decode()


def _random(draw: _Draw) -> str:
    return draw.randbytes(4096).decode("latin-1")


MADE: dict[str, Callable[[_Draw], str]] = {
    "log lines": _log,
    "JSON lines": _json_lines,
    "logfmt": _logfmt,
    "access log": _web_server,
    "test run": _tests,
    "build output": _build,
    "lock file": _lock_file,
    "minified": _minified,
    "random bytes": _random,
    "Kubernetes": _kubernetes,
    "SQL": _sql,
    "Terraform plan": _plan,
    "journal": _journal,
    "base64": _base64,
}
FOUND = {
    "Python sources": (Path(sysconfig.get_path("stdlib")), "*.py"),
    "C headers": (Path("/usr/include"), "*.h"),
}
# What all figures by kind are about.
TEN = (
    "log lines",
    "JSON lines",
    "logfmt",
    "access log",
    "test run",
    "build output",
    "Python sources",
    "lock file",
    "minified",
    "random bytes",
)


def texts(size: int, names: Collection[str] = (*MADE, *FOUND)) -> Iterator[tuple[str, bytes]]:
    """Name and text of each kind; those of files that this machine does not have are left out."""
    for name in names:
        if name in MADE:
            yield name, _made(name, size)
        elif len(found := _found(name, size)) == size:
            yield name, found


def _made(name: str, size: int) -> bytes:
    draw, make = _Draw(7), MADE[name]
    parts: list[bytes] = []
    length = 0
    while length < size:
        parts.append(_encoded(make(draw)))
        length += len(parts[-1])
    return b"".join(parts)[:size]


def _found(name: str, size: int) -> bytes:
    folder, form = FOUND[name]
    found = bytearray()
    for path in sorted(folder.rglob(form)):
        found += path.read_bytes()
        if len(found) >= size:
            break
    return bytes(found[:size])


def _encoded(text: str) -> bytes:
    """Each character is one byte: random ones from 0 to 255, all others ASCII."""
    return text.encode("latin-1")


def blocks(name: str) -> Iterator[bytes]:
    """A text of that kind without end, about a megabyte at a time."""
    if name not in MADE:
        yield from sources()
    draw, make = _Draw(7), MADE[name]
    while True:
        yield _encoded("".join(make(draw) for _ in range(4096)))


def sources() -> Iterator[bytes]:
    """All source files of this machine, in a new order each time."""
    files = sorted(path for folder, form in FOUND.values() for path in folder.rglob(form))
    shuffle = random.Random(3).shuffle
    while True:
        shuffle(files)
        for path in files:
            if b"\0" not in (data := path.read_bytes()):
                yield data
