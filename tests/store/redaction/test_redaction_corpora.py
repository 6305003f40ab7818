"""Clean text of many kinds stays whole: sources, lock files, logs, hashes, minified text, images."""

from __future__ import annotations

import base64
import hashlib
import random
import sysconfig
import uuid
from pathlib import Path

import pytest

from spillstore.redaction import Redactor, counted

LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = Path(sysconfig.get_path("purelib"))


def _hex(rng, size):
    return rng.randbytes(size // 2).hex()


def _npm(rng):
    return "".join(
        f'    "node_modules/pkg-{n}": {{\n      "version": "{n}.1.0",\n      "resolved": "https://registry.example.com/pkg-{n}/-/pkg-{n}-{n}.1.0.tgz",\n'
        f'      "integrity": "sha512-{base64.b64encode(rng.randbytes(64)).decode()}",\n      "engines": {{"node": ">=12"}}\n    }},\n'
        for n in range(400)
    )


def _yarn(rng):
    return "".join(
        f'"@scope/token-key-{n}@^{n}.0.0":\n  version "{n}.0.1"\n  resolved "https://registry.yarnpkg.com/@scope/token-key-{n}/-/x-{n}.tgz#{_hex(rng, 40)}"\n'
        f"  integrity sha512-{base64.b64encode(rng.randbytes(64)).decode()}\n  checksum: 10c0/{_hex(rng, 128)}\n"
        for n in range(400)
    )


def _cargo(rng):
    return "".join(
        f'[[package]]\nname = "secret-token-{n}"\nversion = "0.{n}.0"\nsource = "registry+https://example.com/index"\nchecksum = "{_hex(rng, 64)}"\n\n'
        for n in range(400)
    )


def _poetry(rng):
    return "".join(
        f'files = [\n    {{file = "auth_token-{n}.0-py3-none-any.whl", hash = "sha256:{_hex(rng, 64)}"}},\n]\npackage==1.{n} --hash=sha256:{_hex(rng, 64)} \\\n'
        for n in range(400)
    )


def _go(rng):
    return "".join(
        f"github.com/x/secret-{n} v0.{n}.0/go.mod h1:{base64.b64encode(rng.randbytes(32)).decode()}\n"
        for n in range(400)
    )


def _git(rng):
    return "".join(
        f"commit {_hex(rng, 40)} (tag: v{n})\nAuthor: A. User <a.user@example.com>\nDate:   Mon Jan 1 00:00:{n % 60:02} 2024 +0000\n\n"
        f"    Rotate the api key; reset password (#{n})\n\ndiff --git a/token.py b/token.py\nindex {_hex(rng, 8)}..{_hex(rng, 8)} 100644\n"
        for n in range(400)
    )


def _sums(rng):
    return "".join(
        f"{_hex(rng, size)}  secrets/{n}/api_key.tar.gz\n" for n in range(300) for size in (32, 40, 64, 128)
    )


def _docker(rng):
    return "".join(
        f"sha256:{_hex(rng, 64)}: Pulling fs layer\n{_hex(rng, 12)}: Pull complete\nDigest: sha256:{_hex(rng, 64)}\n"
        for _ in range(300)
    )


def _uuids(rng):
    return "".join(
        f'{{"id": "{uuid.UUID(bytes=rng.randbytes(16))}", "key": "{uuid.UUID(bytes=rng.randbytes(16))}"}}\n'
        for _ in range(600)
    )


def _images(rng):
    return "".join(
        f'<img src="data:image/png;base64,{base64.b64encode(rng.randbytes(20_000)).decode()}">\n'
        for _ in range(30)
    )


def _mime(rng):
    return base64.encodebytes(rng.randbytes(400_000)).decode()


def _minified(rng):
    return "".join(
        rng.choice(
            (
                "function(e,t){return e.key===t.key&&e.token!==n.secret}",
                ",password:e.password,token:r.token,apiKey:o.apiKey",
                'case"password":return a("input",{type:"password",name:"password"});',
                "var _0xab=e.getToken(),k=Object.keys(t);",
                f'"{_hex(rng, 40)}":function(e){{return e}},',
            )
        )
        for _ in range(20_000)
    )


def _map(rng):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/,;"
    return (
        '{"version":3,"sources":["token.js"],"mappings":"' + "".join(rng.choices(letters, k=300_000)) + '"}\n'
    )


def _logs(rng):
    return "".join(
        f"2024-05-01T08:00:{n % 60:02}Z INFO auth.token request_id={_hex(rng, 32)} trace={uuid.UUID(bytes=rng.randbytes(16))} "
        f'GET /v1/tokens/{n}?key=name&sort=password status=200 etag="{_hex(rng, 40)}" tokens={n} cache_key={_hex(rng, 64)}\n'
        for n in range(3000)
    )


CLEAN = [
    _npm,
    _yarn,
    _cargo,
    _poetry,
    _go,
    _git,
    _sums,
    _docker,
    _uuids,
    _images,
    _mime,
    _minified,
    _map,
    _logs,
]


@pytest.mark.long
@pytest.mark.parametrize("kind", CLEAN, ids=lambda kind: kind.__name__.strip("_"))
def test_clean_text_stays(kind):
    """Lock files, hashes, identifiers, images, minified text and logs come out as they went in."""
    text = kind(random.Random(5))
    assert counted(text) == (text, {})


def test_random_letters_stay():
    """Megabytes of base64, base64url and hexadecimal digits without a name in front hold no secret."""
    data = random.Random(6).randbytes(3_000_000)
    for text in (
        base64.b64encode(data),
        base64.urlsafe_b64encode(data),
        data.hex().encode(),
        base64.b32encode(data),
    ):
        assert counted(text)[1] == {}
        lines = b"\n".join(text[first : first + 76] for first in range(0, len(text), 76))
        assert counted(lines)[1] == {}


def test_random_bytes_stay():
    """100 MB of random bytes, as of an archive or an image, come out as they went in."""
    rng = random.Random(8)
    changed = []
    for number in range(100):
        data = rng.randbytes(1_000_000)
        if counted(data) != (data, {}):
            changed.append(number)
    assert changed == []


def _found(paths):
    total, size = 0, 0
    for path in paths:
        data = path.read_bytes()
        redactor = Redactor()
        redactor.feed(data)
        redactor.finish()
        total += sum(redactor.counts.values())
        size += len(data)
    return total, size


def test_the_standard_library_stays():
    """In the modules of the standard library next to nothing is taken for a secret: an example in a docstring, a default."""
    paths = [
        path
        for path in LIBRARY.rglob("*.py")
        if not {"test", "tests", "site-packages", "idlelib"} & set(path.parts)
    ]
    found, size = _found(paths)
    assert size > 5_000_000
    assert found <= 6


def test_installed_packages_stay():
    """Nor in the lists of hashes that come with installed packages."""
    paths = list(PACKAGES.glob("*.dist-info/RECORD"))
    assert _found(paths)[0] == 0
    assert len(paths) > 10


def test_hashes_beside_secrets_stay():
    """A hash in the same line as a secret stays while the secret goes."""
    digest = hashlib.sha256(b"x").hexdigest()
    assert (
        counted(f"{digest} password=hunter2 {digest}")[0]
        == f"{digest} password=[REDACTED: PASSWORD] {digest}"
    )
