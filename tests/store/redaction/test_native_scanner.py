"""The native scanner: the same secrets are found with it and without it, whatever the text and however it is cut."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
import threading

import pytest
from native_texts import changed_row, text
from secrets_made import Maker
from streams import cut, fed, in_bytes
from support import (
    FACTOR,
    ROOT,
    SEED,
    WITHOUT_NATIVE,
    a_compiler,
    compiled_library,
    each_of,
    native,
    places_to_cut,
    tries,
)

from spillstore import _native
from spillstore.redaction import candidates, counted, families, finder, native_scanner, scanner_tables, values
from spillstore.redaction.tables import values as table

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


@pytest.fixture
def both(monkeypatch, scanner, automaton):
    """Calls a function with the scanner, and with the automaton in Python."""

    def call(function, *args):
        found = []
        for searcher in (automaton, scanner):
            monkeypatch.setattr(finder, "searcher", lambda searcher=searcher: searcher)
            found.append(function(*args))
        return found

    return call


def test_it_is_there_where_there_is_a_compiler(monkeypatch):
    """An installation on a machine with a C compiler has built the library, and it can be loaded."""
    a_compiler()
    monkeypatch.delenv("SPILLSTORE_NATIVE", raising=False)
    assert _native.library() is not None


def test_these_tests_use_what_they_say():
    """The scanner, and the automaton alone where it was not built or ``SPILLSTORE_NATIVE`` is ``0``, as in one run of ``make check``."""
    assert type(finder.searcher()) is (candidates.Automaton if WITHOUT_NATIVE else native_scanner.Scanner)


@pytest.mark.long
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
@each_of(
    "drawn, found",
    [
        ("Cookie: a=1; sid=k8Jd72hsQ0zPw", "COOKIE"),
        ('Cookie: sess="k8Jd72hsQ0zPw"', "COOKIE"),
        ("Cookie: a=Basic " + "dXNlcjpwYXNzd29yZA==", "BASIC_AUTH"),
        ("Cookie: a=Cookie: sid=k8Jd72hsQ0zPw", "COOKIE"),
        ("Authorization: Basic" + " " * 200 + "dXNlcjpwYXNz", "BASIC_AUTH"),
        ("Authorization:SSWS -----a", "AUTHORIZATION"),
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
        ("Token 0=11456aaa781c1276", "TOKEN"),
        ("APIKEY 12- 40ccde404475393f", "API_KEY"),
        ('> secret_\n\x0b\n"k8Jd72hsQ0zPw7a"\n', "SECRET"),
        ('key==\\"23Bx|j%pD*bvc|9}/IB}*@sS<"\tPASS[PU*^H}]$', "API_KEY"),
        ("_auth=\t&quot;ZGVwbG95OmI0", "BASIC_AUTH"),
        ('variable "token  {\ntype=string\ndefault = "k8Jd72hsQ0zPw"', "TOKEN"),
        ('"random_password"> key\r{\n"result": "k8Jd72hsQ0zPw"', "PASSWORD"),
        ("--from-literal\tpassword p:=u", "PASSWORD"),
        ("- -e=password p:=u", "PASSWORD"),
        ("ENV sshpass ?=-e\r", "PASSWORD"),
        ('api_key = new String("' + "k8Jd72hsQ0zPw7ak8Jd72" + '")', "API_KEY"),
        ("PASS:=CD_o", "PASSWORD"),
        ("password b'k8Jd72\n", "PASSWORD"),
        ("machine x login me password kittens\n", "PASSWORD"),
        ("PASSWOrD elastic=Pssword1", "PASSWORD"),
        ("-apikey\t?=f.iuzi", "API_KEY"),
        ("HEAD~1:db/x.conf:12: requirepass k8Jd72", "PASSWORD"),
        ("?password=site.key&x", "PASSWORD"),
        ("tool --password=site.key x", "PASSWORD"),
        ("curl " + "x" * 400 + " curl " + "x" * 200 + " -u me:k8Jd72hs", "PASSWORD"),
        (r"\u4b1d" + "ghp_" + "k8Jd72hsQ0zPwk8Jd72hsQ0zPwk8Jd72hsQ0zP", "GITHUB_TOKEN"),
        ("key=" + "a" * 300 + ",token=k8Jd72hsQ0zPw", None),
        ("e -PASS  G\nk8Jd72hs  me\n", "PASSWORD"),
        ("SECRETKEY -:\nn431GVl5", "SECRET"),
        (r'credential=\\"k8Jd72hs"\"d', "TOKEN"),
        ("me@b.example:.m:5", None),
        ("<key>~X+6x]|]i71r()I9HQ|*brf;8f/6o|vfax$kaqun</", "API_KEY"),
        ("$ pass show pass1g\nk8Jd72hs\n", "PASSWORD"),
        ("$ pass show pass1g\n?f-\n", None),
        ("-SECRETKEY is:\nn431GVl5", "SECRET"),
        ('pass." b:\n0hWCLX', "PASSWORD"),
        ("secret=[ae(zc23$]", "SECRET"),
        ("e@EXM (0x" + 8 * "2afd8378" + "9mTl", "PASSWORD"),
        ("e@EXM (0x" + 4 * "2afd8378" + 8 * "9mTlTjNK", None),
        ("&token:\nb'41a069fb\r", "TOKEN"),
        ("key: pass\nflags:\nvalue::27\n", "PASSWORD"),
    ],
)
def test_what_hides_nothing(both, drawn, found):
    """Secrets behind what is no secret, in forms that the scanner must not drop: found each time, with it and without it."""
    first, scanned = both(counted, drawn.encode())
    again = counted(drawn.encode())
    assert first == scanned == again
    assert found is None or found in scanned[1]


LINES_WITHOUT = (
    "2026-03-21T02:05:53.548Z WARN [offset-4] com.example.message.Handler - password queue cluster id=1fb190c1",
    "2026-03-21T02:05:53.548Z WARN [offset-4] com.example.Handler - queue login password offset id=1fb190c1 took 7ms",
    "/usr/bin/c++ -MD -MT src/x/password_@@.cpp.o -o src/x/password_@@.cpp.o -c /src/x/token_@@.cpp",
    ".cache-page--token@@:hover{color:#5e14ce;margin:30px auto}.order--api@@:focus{transition:all .7s}.x--password@@:hover{top: 0}",
    "e.key@@=t.key;return n.secret@@?{token@@:e.value,password@@:!0}:t.password@@(e)",
    "    let token_password@@ = password.select_@@(&queue_@@)?;",
    "        self.secret@@ = cache_@@.get(offset, token=key_queue.x)",
    "warning: unused variable: `retry_password@@`",
    "module password_login@@ ./node_modules/page-select@@/index.js + 8 modules",
    "Argument of type 'Token@@ | undefined' is not assignable",
    "    return self.user_cluster(node, secret_@@=update.insert)",
    "--- PASS: TestPassword@@/offset_@@ (0.01s)",
    "function(e,t){user.auth,passwordOrder@@:function(){return 1}}",
)


@native
@each_of("line", LINES_WITHOUT)
def test_names_that_are_new_in_each_line(line):
    """A line behind whose names no secret can stand costs no call of a rule, whatever is counted up in them."""
    text = "".join(line.replace("@@", str(number)) + "\n" for number in range(200)).encode()
    assert list(finder.searcher().hits(text, len(text))) == []


@native
def test_a_long_line_that_goes_on(both):
    """Far before the end of an unfinished line the scanner drops what it would drop in a finished one."""
    line = b"".join(
        b".page%d--token:hover{color:red; password%d:!0}" % (number, number) for number in range(1000)
    )
    without, scanned = both(lambda: finder.find(line, final=False))
    assert (without.spans, scanned.spans) == ([], [])
    assert scanned.tried < 300 < without.tried
    without, scanned = both(lambda: finder.find(line, final=False, step=True))
    assert (without.spans, without.hold) == (scanned.spans, scanned.hold)
    assert len(line) - 4096 < scanned.hold < len(line)
    assert scanned.tried == 0 < without.tried


@native
def test_cut_at_every_place(both):
    """A stream that comes in two parts, cut anywhere, and in bytes."""
    rng = random.Random(SEED + 1)
    for _ in range(max(1, round(12 * FACTOR))):
        drawn = b"".join(text(rng, LITERALS) for _ in range(3))
        for pieces in (
            *(cut(drawn, [place]) for place in places_to_cut(len(drawn), len(drawn))),
            in_bytes(drawn),
        ):
            without, scanned = both(fed, pieces)
            assert (pieces, without) == (pieces, scanned)


@pytest.mark.long
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
    of = [families.Entry(each, nothing, 0, frozenset()) for each in [b"ab", b"b", *dict.fromkeys(literals)]]
    drawn = b"".join(rng.choice(of).literal + rng.randbytes(2) for _ in range(20_000))
    scanner, automaton = native_scanner.Scanner(_native.library(), of), candidates.Automaton(of)
    found = list(scanner.hits(drawn, len(drawn)))
    assert len(found) >= 20_000
    assert found == list(automaton.hits(drawn, len(drawn)))


@pytest.mark.slow
@native
def test_many_names_are_forgotten(both):
    """More names than the scanner keeps: those that it has forgotten are judged anew."""
    rng = random.Random(SEED)
    lines = (f"{rng.randbytes(4).hex()}_token: {rng.randbytes(12).hex()}\n" for _ in range(12_000))
    drawn = "".join(lines).encode()
    without, scanned = both(counted, drawn)
    assert without == scanned


@native
def test_threads_do_not_meet():
    """Several threads redact at once, each its own text, and each scanner keeps the names that it has seen."""
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


@pytest.mark.long
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
    assert not scanner_tables.fits(ctypes.CDLL(str(compiled_library(tmp_path, source))))


@pytest.mark.long
def test_without_a_compiler_the_build_says_so(tmp_path):
    """Nothing is compiled where there is nothing to compile with, and a compiler that fails leaves no library behind."""
    for source in (ROOT / "store/spillstore/_native").glob("*.[ch]"):
        shutil.copy(source, tmp_path)
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

    way_out = "; install one, such as gcc or clang, or name one in CC"
    assert build(PATH="") == f"there is no C compiler{way_out}"
    assert build(PATH="", CC="gone") == f"'gone', the compiler that CC names, is not there{way_out}"
    assert build(PATH="", CC=str(failing)).startswith(f"{failing} failed")
    script = script.replace("import hatch_build\n", "import os, hatch_build\nos.getpid = lambda: 1\n")
    assert build(PATH="", CC=str(failing)).startswith(f"{failing} failed")
    tried = [line.split() for line in seen.read_text().splitlines()]
    options = [[word for word in words if word.startswith("-flto")] for words in tried]
    assert options == [["-flto=auto"], ["-flto"], []] * 2, (
        "not every compiler knows the first, and a linker may do neither"
    )
    made = [words[words.index("-o") + 1] for words in tried]
    assert len(set(made)) == len(set(made[::3])) == 2, "two containers that share the folder use one file"
    assert not list(tmp_path.glob("scan.*so")) and not list(tmp_path.glob("*.tmp"))
    failing.write_text(
        '#!/bin/sh\ncase "$*" in *-flto*) exit 1;; *) while [ "$1" != -o ]; do shift; done; : > "$2";; esac\n'
    )
    assert build(PATH="", CC=str(failing)) == ""
    assert (tmp_path / "scan.so").exists()
    (tmp_path / "scan.so").unlink()
    compiling = tmp_path / "compiling"
    compiling.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho > "$2"\n')
    compiling.chmod(0o755)
    (tmp_path / "scan.so").mkdir()  # which no file can replace
    said = build(PATH="", CC=str(compiling))
    assert said.startswith(f"{tmp_path / 'scan.so'} was compiled, but cannot be put in its place: ")
    assert not list(tmp_path.glob("*.tmp"))


@native
@pytest.mark.parametrize("prompt", [">", "$", "501", " 12*", "RUN", "run:", "++", "x |"])
@pytest.mark.parametrize("between", ["", " "])
def test_a_script_behind_a_prompt(both, prompt, between):
    """The literal ``.sh`` may follow a prompt at once, also where the text begins with it."""
    line = f"{prompt}{between}.sh {Maker(1).password()}7Xa%\n".encode()
    without, scanned = both(counted, line)
    assert without == scanned


@native
@pytest.mark.parametrize("number", range(4))
def test_changed_rows(both, number):
    """The examples of all tables with other signs and blanks, and something before and behind their lines."""
    rng = random.Random(f"{SEED} {number}")
    for _ in range(tries(1000)):
        made = changed_row(rng)
        without, scanned = both(counted, made)
        assert without == scanned, made


@native
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('db_password = "@" -> "@"', "PASSWORD"),
        ('  ~ password = "" -> "@"', "PASSWORD"),
        ("net use x /user:me /pass:kittens here", "PASSWORD"),
        ("name: API_TOKEN,\nvalue: @", "TOKEN"),
        ('Content-Disposition: Form-Data; Name="password"\r\n\r\n@', "PASSWORD"),
        ("api_token:\n @\x0c\n", "TOKEN"),
        ("the password:\n\x0b\n@", "PASSWORD"),
        ('1) "requirepass \n@', "PASSWORD"),
        ("│ api_key: │ @ │", "API_KEY"),
        ("password=[@].of(x)", "PASSWORD"),
        ("| secret: ║ @ |", "SECRET"),
        ("Wep Key=49b", "PASSWORD"),
        ("\t PASSORD= TENS\n", "PASSWORD"),
        ('ApiKey: (string) (len=24) "8Fk2mP0qRt5XzA1cVb7NdE3g"', "API_KEY"),
    ],
)
def test_forms_that_it_once_dropped(both, text, kind):
    """What stands behind an arrow, a slash, a comma, in any case, beside a vertical tab or a form feed, behind a sign and a bar, in brackets."""
    made = text.replace("@", Maker(1).of(20)).encode() + b"\n"
    without, scanned = both(counted, made)
    assert without == scanned
    assert kind in without[1]


@native
@pytest.mark.parametrize("blanks", ["", " ", "\t", "  \t "])
@pytest.mark.parametrize("before", ["> ", "irb(main)> ", "In [3]: ", "/app/db/"])
def test_a_name_alone_that_a_console_answers(both, before, blanks):
    """Whatever blanks its line ends with, its value is the next one."""
    text = f"{before}password{blanks}\n{Maker(1).password()}7Xa%\n".encode()
    without, scanned = both(counted, text)
    assert without == scanned
    assert without[1] == {"PASSWORD": 1}


@native
@pytest.mark.parametrize("blanks", ["", " ", "\t", "  \t "])
def test_the_argument_of_an_option_in_the_next_line(both, blanks):
    """Whatever blanks its line ends with: a list of arguments, one a line."""
    text = f"  - --db-password{blanks}\n  - {Maker(1).password()}7Xa%\n".encode()
    without, scanned = both(counted, text)
    assert without == scanned
    assert without[1] == {"PASSWORD": 1}


@native
@pytest.mark.parametrize(
    "line",
    [
        "export type ApiToken = {{ at?: Limit; key: string[] }}",
        "tokens = {{ ci: {0} }}",
        'tokens = {{ "ci": "{0}" }}',
    ],
)
def test_an_object_behind_a_name(both, line):
    """Its strings may be secrets, its names and types are none."""
    text = (line.format(Maker(1).of(32)) + "\n").encode()
    without, scanned = both(counted, text)
    assert without == scanned
    assert (not without[1]) is ('"' not in line)
