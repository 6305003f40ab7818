"""The native scanner: the same secrets are found with it and without it, whatever the text and however it is cut."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from native_texts import text
from secrets_made import Maker
from support import FACTOR, SEED

from spillstore import _native
from spillstore.redaction import Redactor, candidates, counted, finder, values
from spillstore.redaction.tables import values as table

ROOT = Path(__file__).parents[3]
FRAMES = (
    "@@",
    "2024-05-01T00:00:00Z INFO @@\n",
    "  @@\n  next: line\n",
    '{"log": "@@", "x": 1}\n',
    "a = 1\n@@\nb = 2\n",
    "# @@ # note",
    '\t"@@",\n',
    "key: @@",
    "the password @@",
    "\r\n@@\r\n",
    "token=1 @@ key=abc",
)
LITERALS = tuple(entry.literal.decode() for entry in finder.ENTRIES)

native = pytest.mark.skipif(_native.path() is None, reason="the native scanner was not built")


@pytest.fixture
def both(monkeypatch):
    """Calls a function with the scanner, and with the automaton in Python."""
    automaton = candidates.Automaton(finder.ENTRIES)
    scanner = finder.searcher()
    assert isinstance(scanner, candidates.Scanner)

    def call(function, *args):
        found = []
        for searcher in (automaton, scanner):
            monkeypatch.setattr(finder, "searcher", lambda searcher=searcher: searcher)
            found.append(function(*args))
        return found

    return call


@native
def test_learning_beside_a_search_takes_no_more_room(monkeypatch):
    """There are as many scratches as were in use at once; a search while names are learnt needs one more at most."""
    scanner = finder.searcher()
    text = b"password=x\n"
    list(scanner.hits(text, len(text)))
    learn, names = scanner._learn, {b"name": None}

    def learn_beside(*args):
        list(scanner.hits(text, len(text)))
        return learn(*args)

    monkeypatch.setattr(scanner, "_learn", learn_beside)
    scanner.learn(names)
    free = len(scanner._free)
    for _ in range(5):
        scanner.learn(names)
    assert free == len(scanner._free) >= 2


def a_compiler(*names):
    """The first of these commands that this machine has; without one the package is built without its library."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("this machine has no C compiler, so there is nothing to compile the scanner with")
    return found


def test_it_is_there_where_there_is_a_compiler():
    """An installation on a machine with a C compiler has built the library, and it can be loaded."""
    a_compiler("cc", "gcc", "clang")
    assert _native.library() is not None


@native
@pytest.mark.parametrize("seed", range(3))
def test_made_secrets_in_all_frames(both, seed):
    """Secrets of all forms, in lines of many kinds."""
    maker = Maker(seed)
    made = [line for _, line in maker.within() + maker.elsewhere()] + list(maker.tokens().values())
    for line in made:
        whole = "".join(frame.replace("@@", line) for frame in FRAMES).encode()
        without, scanned = both(counted, whole)
        assert without == scanned


@native
def test_names_signs_and_values_in_any_order(both):
    """Texts drawn from all that rules look at."""
    rng = random.Random(SEED)
    for _ in range(round(1_500 * FACTOR)):
        drawn = text(rng, LITERALS)
        without, scanned = both(counted, drawn)
        assert (drawn, without) == (drawn, scanned)


@native
@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("Cookie: a=1; sid=k8Jd72hsQ0zPw", "COOKIE"),
        ('Cookie: sess="k8Jd72hsQ0zPw"', "COOKIE"),
        ("Cookie: a=Basic " + "dXNlcjpwYXNzd29yZA==", "BASIC_AUTH"),
        ("Cookie: a=Cookie: sid=k8Jd72hsQ0zPw", "COOKIE"),
        ("Authorization: Basic" + " " * 200 + "dXNlcjpwYXNz", "BASIC_AUTH"),
        ('_auth: !!str "' + "dXNlcjpwYXNzd29yZA==" + '"', "BASIC_AUTH"),
        ('Content-Disposition: form-data; name="psk"\r\n\r\nk8Jd72\r\n', "PASSWORD"),
        ("name: form-data; name=psk\n\nk8Jd72\n", "PASSWORD"),
        ('key:        pass"\nvalue:k8Jd72', "PASSWORD"),
        ('PW:a="k8J', "PASSWORD"),
        (">PASS Has\xc5", "PASSWORD"),
        ("<password >\nk8Jd72hs\n", "PASSWORD"),
        ("passDENTIFIED BY k8Jd72hs", "PASSWORD"),
        ("x_key_senha: k8Jd72hs", "PASSWORD"),
        ("key" + "x" * 90 + "_password=k8Jd72hs", "PASSWORD"),
        ('key=PASSWORD("k8Jd72hs")', "PASSWORD"),
        ("s://::server:" + "RaCQpEVvfNX7b2wS", "TOKEN"),
        ("://BUNDLE_X__COM=user:k8Jd72hs", "PASSWORD"),
        ("http://me\x7f:k8Jd72hs@host", "PASSWORD"),
        ("set -gx fPass yptN\n", "PASSWORD"),
        ("rabbitmqctl add_user bob k8Jd72hs", "PASSWORD"),
        ("password\t.=82\r", "PASSWORD"),
        ("sonar.login was7vCa2fffaGZd4 ", "TOKEN"),
        ("_auth=\t&quot;ZGVwbG95OmI0", "BASIC_AUTH"),
        ('variable "token  {\ntype=string\ndefault = "k8Jd72hsQ0zPw"', "TOKEN"),
        ('"random_password"> key\r{\n"result": "k8Jd72hsQ0zPw"', "PASSWORD"),
        ("--from-literal\tpassword p:=u", "PASSWORD"),
        ("- -e=password p:=u", "PASSWORD"),
        ("ENV sshpass ?=-e\r", "PASSWORD"),
        ("curl " + "x" * 400 + " curl " + "x" * 200 + " -u me:k8Jd72hs", "PASSWORD"),
        (r"\u4b1d" + "ghp_" + "k8Jd72hsQ0zPwk8Jd72hsQ0zPwk8Jd72hsQ0zP", "GITHUB_TOKEN"),
        ("key=" + "a" * 300 + ",token=k8Jd72hsQ0zPw", None),
    ],
)
def test_what_hides_nothing(both, drawn, found):
    """Secrets behind what is no secret, in forms that the scanner must not drop: found each time, with it and without it."""
    first, scanned = both(counted, drawn.encode())
    again = counted(drawn.encode())
    assert first == scanned == again
    assert found is None or found in scanned[1]


def _cut(drawn, places):
    redactor = Redactor()
    out = [redactor.feed(drawn[a:b]) for a, b in zip([0, *places], [*places, len(drawn)], strict=True)]
    return b"".join([*out, redactor.finish()])


@native
def test_cut_at_every_place(both):
    """A stream that comes in two parts, cut anywhere, and in bytes."""
    rng = random.Random(SEED + 1)
    for _ in range(max(1, round(12 * FACTOR))):
        drawn = b"".join(text(rng, LITERALS) for _ in range(3))
        for places in (*([place] for place in range(1, len(drawn))), list(range(1, len(drawn)))):
            without, scanned = both(_cut, drawn, places)
            assert (drawn, places, without) == (drawn, places, scanned)


@native
def test_more_candidates_than_one_call_gives_out(both):
    """A text of nothing but secrets, of several blocks and more than the scanner has room for."""
    drawn = b"password=hunter2 " * 40_000
    without, scanned = both(counted, drawn)
    assert without == scanned
    assert scanned[1] == {"PASSWORD": 40_000}


@pytest.mark.slow
@native
@pytest.mark.parametrize("more", [0, 1, 60, 128])
def test_literals_of_any_bytes(more):
    """However many bytes the literals have among them, all are found, in order."""
    rng = random.Random(more)

    def nothing(look, start, end):
        return end

    literals = (
        [bytes([byte, *rng.choices(range(256), k=2)]) for byte in range(128 - more, 256)] if more else []
    )
    of = [candidates.Entry(each, nothing, 0, frozenset()) for each in [b"ab", b"b", *dict.fromkeys(literals)]]
    drawn = b"".join(rng.choice(of).literal + rng.randbytes(2) for _ in range(20_000))
    scanner, automaton = candidates.Scanner(_native.library(), of), candidates.Automaton(of)
    found = list(scanner.hits(drawn, len(drawn)))
    assert len(found) >= 20_000
    assert found == list(automaton.hits(drawn, len(drawn)))


@native
def test_many_names_are_forgotten(both):
    """More names than the scanner keeps: those that it has forgotten are judged anew."""
    rng = random.Random(SEED)
    lines = (f"{rng.randbytes(4).hex()}_token: {rng.randbytes(12).hex()}\n" for _ in range(20_000))
    drawn = "".join(lines).encode()
    without, scanned = both(counted, drawn)
    assert without == scanned


@native
def test_threads_do_not_meet():
    """Several threads redact at once, each its own text, and names are learnt by all."""
    rng = random.Random(SEED)
    texts = [b"".join(text(rng, LITERALS) for _ in range(200)) for _ in range(4)]
    alone = [counted(each) for each in texts]
    found = [[] for _ in texts]

    def work(number):
        found[number] += [counted(texts[number]) for _ in range(10)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[each] * 10 for each in alone] == found


def test_placeholders_are_harmless():
    """What the scanner drops as a placeholder is one by the rules for values."""
    for word in table.PLAIN.split():
        for form in (word, word.upper(), word.title()):
            assert values.harmless(form.encode()), form


def test_without_the_library_the_package_works():
    """``SPILLSTORE_NATIVE=0`` leaves the library alone: the same secrets are found."""
    script = "from spillstore import _native; from spillstore.redaction import redact; print(_native.library(), redact('password=hunter2'))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SPILLSTORE_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None password=[REDACTED: PASSWORD]\n"


@pytest.mark.parametrize(
    "source", ["int other;", "unsigned long long spillstore_version(void) { return 1; }"]
)
def test_a_library_of_another_version_is_left_alone(tmp_path, source):
    """One that was left behind, whose tables are others, is not called."""
    compiler = a_compiler("cc", "gcc", "clang")
    (tmp_path / "old.c").write_text(source)
    library = tmp_path / "old.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "old.c")], check=True)
    assert not candidates.fits(ctypes.CDLL(str(library)))


def test_without_a_compiler_the_build_says_so(tmp_path):
    """Nothing is compiled where there is nothing to compile with, and a compiler that fails leaves no library behind."""
    for name in ("scan.c", "text.c", "lines.c"):
        shutil.copy(ROOT / "store/spillstore/_native" / name, tmp_path)
    script = (
        "import sys, types, pathlib\n"
        "name = 'hatchling'\n"
        "for part in ('', '.builders', '.hooks', '.plugin', '.interface'):\n"
        "    name += part\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "sys.modules[name].BuildHookInterface = object\n"
        "sys.modules['ziglang'] = None\n"  # as if it were not installed
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import hatch_build\n"
        f"print(hatch_build.build(pathlib.Path({str(tmp_path)!r})))\n"
    )
    seen = tmp_path / "seen"
    failing = tmp_path / "failing"
    failing.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexit 1\n')
    failing.chmod(0o755)

    def build(**environment):
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert build(PATH="") == "there is no C compiler"
    assert build(PATH="", CC=str(failing)).startswith(f"{failing} failed")
    script = script.replace("import hatch_build\n", "import os, hatch_build\nos.getpid = lambda: 1\n")
    assert build(PATH="", CC=str(failing)).startswith(f"{failing} failed")
    assert len(set(seen.read_text().splitlines())) == 2, "two containers that share the folder use one file"
    assert not list(tmp_path.glob("scan.*so")) and not list(tmp_path.glob("*.tmp"))
