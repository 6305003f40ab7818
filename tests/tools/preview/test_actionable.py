"""Which lines matter: judged by words and forms that tools of all kinds share."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import each_of

from spillstore_tools.preview.strategies import actionable
from spillstore_tools.preview.strategies.actionable import STRONG, Hints, score


def found_in(text, end=b"\n", *, hints=None):
    """Lines that hold a hint."""
    hints = hints or Hints()
    return [line[:3] for line in hints.lines(text, end) if hints.found(text, line[0], line[1], *line[3:])]


MATTER = [
    "test_7 FAILED in 0.8s",
    "lib/a.rb:14:in `total': undefined method `sum' for nil (NoMethodError)",
    "WARNING: DATA RACE",
    "[  102.500100] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "Oops: 0000 [#1] SMP PTI",
    "mount: /mnt/a: operation not permitted.",
    'relation "a" does not exist',
    "    • Variable not in scope: total :: Int -> Int",
    "a/b.go:14:2: declared and not used: total",
    "make: *** No rule to make target 'a'.  Stop.",
    "web-7 0/1 ImagePullBackOff 3m error",
    "*** FAILED ***",
    "Kompilierung fehlgeschlagen",
    "无法打开文件 a.h",
    "src/main.c:10:3: error: 'x' undeclared (first use in this function)",
    "main.go:12:2: undefined: foo",
    "./main.go:12:2: cannot use x (variable of type int) as string value in assignment",
    "error[E0382]: borrow of moved value: `s`",
    "src/lib.rs:4:5: error: cannot find value `y` in this scope",
    "src/app.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    "src/app.ts:14:7 - error TS2304: Cannot find name 'foo'.",
    "Program.cs(7,13): error CS0103: The name 'x' does not exist in the current context",
    "/app/Foo.java:[12,8] error: cannot find symbol",
    "e: file:///app/src/Main.kt:3:5 Unresolved reference: foo",
    "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8.1:compile",
    "[ERROR] COMPILATION ERROR :",
    "BUILD FAILED in 12s",
    "> Task :app:compileJava FAILED",
    "FAILURE: Build failed with an exception.",
    "npm ERR! code ELIFECYCLE",
    "npm error code ERESOLVE",
    "Error: Cannot find module 'express'",
    "TypeError: Cannot read properties of undefined (reading 'map')",
    "    throw new Error('boom'); Uncaught Error: boom",
    "Traceback (most recent call last):",
    "ValueError: invalid literal for int() with base 10: 'a'",
    "ModuleNotFoundError: No module named 'requests'",
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)",
    "E   AssertionError: assert 1 == 2",
    "FAILED tests/test_a.py::test_b - assert 1 == 2",
    "prettier.................................................................Failed",
    "! Undefined control sequence.",
    'INFO:     10.0.0.7:40000 - "POST /orders/77 HTTP/1.1" 500 Internal Server Error',
    "=================== 2 failed, 10 passed in 0.12s ===================",
    "ERROR: Could not find a version that satisfies the requirement foo",
    "--- FAIL: TestAdd (0.00s)",
    "FAIL\texample.com/pkg\t0.012s",
    "panic: runtime error: index out of range [5] with length 3",
    "thread 'main' panicked at 'index out of bounds', src/main.rs:4:5",
    'Exception in thread "main" java.lang.NullPointerException',
    "Caused by: java.sql.SQLException: Access denied for user 'root'@'localhost'",
    "Segmentation fault (core dumped)",
    "/usr/bin/ld: main.o: undefined reference to `foo'",
    "collect2: error: ld returned 1 exit status",
    "make: *** [Makefile:12: all] Error 2",
    "ninja: build stopped: subcommand failed.",
    "CMake Error at CMakeLists.txt:5 (find_package):",
    "fatal: not a git repository (or any of the parent directories): .git",
    "error: failed to push some refs to 'origin'",
    "CONFLICT (content): Merge conflict in a.txt",
    "bash: foo: command not found",
    "cat: missing.txt: No such file or directory",
    "rm: cannot remove 'x': Permission denied",
    "curl: (6) Could not resolve host: example.invalid",
    "ssh: connect to host x port 22: Connection refused",
    "Killed process 1234 (java) total-vm:8000000kB, out of memory",
    "OOMKilled",
    "No space left on device",
    "2024-01-01T00:00:00Z ERROR db connection lost",
    "2024-01-01 00:00:00,123 CRITICAL worker crashed",
    '{"level":"error","msg":"request failed","status":500}',
    'level=error msg="failed to dial"',
    'FATAL:  password authentication failed for user "app"',
    "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)",
    'ERROR:  relation "users" does not exist at character 15',
    "The command '/bin/sh -c make' returned a non-zero code: 2",
    'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    "Error: Process completed with exit code 1.",
    "##[error]Process completed with exit code 1.",
    "Error response from daemon: pull access denied for foo",
    "Error: UPGRADE FAILED: timed out waiting for the condition",
    'Error from server (NotFound): pods "x" not found',
    "│ Error: Invalid provider configuration",
    "Failure/Error: expect(1).to eq(2)",
    "1) Foo bar baz FAILED",
    "  ✗ adds numbers",
    "not ok 3 - adds numbers",
    "Tests:       1 failed, 3 passed, 4 total",
    "PHP Fatal error:  Uncaught Error: Call to undefined function foo()",
    "Parse error: syntax error, unexpected '}' in /a.php on line 3",
    "SyntaxError: invalid syntax",
    "Unhandled exception. System.NullReferenceException: Object reference not set",
    "** (RuntimeError) boom",
    "AddressSanitizer: heap-use-after-free on address 0x602000000010",
    "==123==ERROR: AddressSanitizer: heap-buffer-overflow",
    "Assertion failed: (x > 0), function f, file a.c, line 3.",
    "a.out: a.c:3: main: Assertion `x > 0' failed.",
    "kernel: BUG: unable to handle page fault for address",
    "Job for nginx.service failed because the control process exited with error code.",
    "! LaTeX Error: File `foo.sty' not found.",
    "E: Unable to locate package foo",
    "dpkg: error processing package foo (--configure):",
    "pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.",
    "Fehler: Datei nicht gefunden",
    "エラー: ファイルが見つかりません",
    "terminate called after throwing an instance of 'std::runtime_error'",
    'mypy: a.py:3: error: Incompatible return value type (got "int", expected "str")',
    "Found 3 errors in 1 file (checked 12 source files)",
    "  3:5  error  'x' is not defined  no-undef",
    "✖ 3 problems (3 errors, 0 warnings)",
    'Timeout of 2000ms exceeded. For async tests and hooks, ensure "done()" is called',
    "deadlock detected",
    "Error in foo(1) : object 'x' not found",
    "src/x.ts(12,5): TS2322: Type 'string' is not assignable to type 'number'.",
    "* What went wrong:",
    "BUILD UNSUCCESSFUL",
    "HTTP/1.1 503 Service Unavailable",
    "GET /api/orders -> HTTP 503 Service Unavailable after 3 tries",
    "upstream answered 502 Bad Gateway",
    "node-4: Resource temporarily unavailable",
    '10.0.0.1 - - "GET /api HTTP/2" 502 150',
    "web-1  api:2  Exited (137) 3 minutes ago",
]
WARN = [
    "WARNING: disk nearly full",
    "2024-01-01 [WARN] disk nearly full",
    "a.c:3:1: warning: unused variable 'x' [-Wunused-variable]",
    "HTTP/1.1 404 Not Found",
]
DO_NOT = [
    "error rate 0.02%, timeout rate 0.1%",
    "    a.b.FooException cl = new a.b.FooException();",
    "failed requests: 0",
    "1 expected failure, 0 unexpected",
    "0 errors, 0 warnings",
    "Found 0 errors.",
    "no errors found",
    "Success: no issues found in 12 source files",
    "test_error_handling PASSED",
    "tests/test_errors.py::test_raises_error PASSED [ 12%]",
    "test error_handler ... ok",
    "ok  \texample.com/errors\t0.012s",
    "  ✓ throws an error when the input is invalid (3 ms)",
    "ok 12 - returns error on bad input",
    "Compiling ErrorHandler.java",
    "[ 12%] Building CXX object src/CMakeFiles/x.dir/error.cpp.o",
    "   Compiling thiserror v1.0.40",
    "  Downloaded failure v0.1.8",
    "Downloading https://repo/maven/failsafe-2.0.jar",
    "Get:12 http://archive.ubuntu.com/ubuntu jammy/main amd64 libgpg-error0 amd64 1.43-3 [69.6 kB]",
    "Unpacking liberror-perl (0.17029-1) ...",
    "added 12 packages, and audited 13 packages in 2s",
    "INFO: retrying failed requests is enabled",
    "2024-01-01 INFO error rate: 0.0",
    "Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
    "10 passed, 0 failed",
    "gcc -Wall -Werror -o main main.c",
    "cc -Werror=format-security -fstack-protector -c a.c",
    "+ set -o errexit",
    "if the connection fails, retry",
    "# handle errors gracefully",
    "    at java.base/java.lang.Thread.run(Thread.java:829)",
    '  File "/app/a.py", line 3, in <module>',
    "checking for error_at_line... yes",
    "checking for strerror... yes",
    "Writing src/exceptions.py",
    "create mode 100644 lib/error.rb",
    " src/error.c | 12 ++++++------",
    'Creating index "errors_created_at_idx"',
    "on_failure: notify",
    "continue-on-error: true",
    "  --fail-fast   stop at the first failure",
    "-- Performing Test HAVE_STRERROR_R - Success",
    "All tests passed without errors",
    "no failures",
    "Deprecated: use foo instead of bar",
    "hello world",
    "total 48",
    "HTTP/1.1 200 OK",
    "db-1  postgres:16  Exited (0) 3 minutes ago",
    "see f(12,5): AB12 is a part",
    "0 warnings generated",
    "gcc -Wno-warning -c warn.c",
    *WARN,
]


@each_of("line", MATTER)
def test_matters(line):
    """A line that tells of a failure is found in a block and is worth showing."""
    before, around = b"before\n", f"before\n{line}\nbehind\n".encode()
    assert found_in(around) == [(len(before), len(around) - len(b"behind\n"), 1)]
    assert score(line) >= STRONG


@each_of("line", DO_NOT)
def test_does_not_matter(line):
    """A line that only speaks of failures, or says that there are none, is not."""
    assert score(line) < STRONG


@each_of("line", WARN)
def test_a_warning_is_found_and_weaker(line):
    """It is shown where nothing worse takes the room."""
    before, around = b"before\n", f"before\n{line}\nbehind\n".encode()
    assert found_in(around) == [(len(before), len(around) - len(b"behind\n"), 1)]
    assert 1 <= score(line) < STRONG


@pytest.mark.parametrize("line", ["0 warnings generated", "HTTP/1.1 200 OK", "gcc -Wno-warning -c warn.c"])
def test_what_warns_of_nothing(line):
    """Words alone are no warning."""
    assert score(line) == 0


@pytest.mark.parametrize(
    "lines",
    [
        ["src/a.c:1:2: error: expected ';'", "[ERROR] it went wrong", "3 tests failed", "an unknown option"],
        ["ValueError: bad", "WARNING: ValueError: bad"],
        ["Error: connection refused", "Error: connection refused, retrying"],
        ["ERROR request failed", "INFO request failed"],
        ["2 failed, 10 passed", "test_failed PASSED"],
    ],
)
def test_order(lines):
    """What says more about a cause comes before what says less."""
    scores = [score(line) for line in lines]
    assert sorted(scores, reverse=True) == scores
    assert len(set(scores)) == len(scores)


def test_colours():
    """A word behind a colour is found."""
    assert len(found_in(b"\x1b[1m\x1b[31merror\x1b[0m: no\n")) == 1


@given(st.text(max_size=300))
def test_any_text(text):
    """Any text has a score, from nothing to about twenty."""
    assert 0 <= score(text) <= 20


@pytest.mark.parametrize(
    ("piece", "points", "found"),
    [("error ", 10.375, 1), ("fail:", 7, 1), ("0 errors", 3, 1), ("expected ", 0, 1)]
    + [(piece, 0, 0) for piece in ("at a.", " ", "no ", "#1 ", "\\", "(", "é")],
)
def test_hostile(piece, points, found):
    """A line of 300,000 of anything is judged like one of ten."""
    for times in (10, 300_000 // len(piece)):
        line = piece * times
        assert (score(line), len(found_in(line.encode()))) == (points, found)


def test_narrowed():
    """A word that stands everywhere says nothing any more; others still do."""
    hints = Hints()
    data = b"status: error\n" * 300
    assert len(found_in(data, hints=hints)) == 300
    hints.narrow()
    assert found_in(data, hints=hints) == []
    assert len(found_in(b"status: fatal\n", hints=hints)) == 1


def test_what_was_given_up_since_is_found_no_more():
    """A line that was seen ahead, before its hint was given up; what else it holds still counts."""
    data = b"error: a\n" * 300 + b"error: fatal\n"
    hints = Hints()
    ahead = list(hints.lines(data, b"\n"))
    assert len(found_in(data, hints=hints)) == 301
    assert hints.narrow() == {b"errors?"}
    still = [line[0] for line in ahead if hints.found(data, line[0], line[1], *line[3:])]
    assert still == [data.index(b"error: fatal")]


def test_narrowed_to_nothing():
    """Where all words stand everywhere, nothing is found."""
    hints = Hints()
    for hint in hints._hits:
        hints._hits[hint] = 1000
    hints.narrow()
    assert found_in(b"fatal error", hints=hints) == []


# What hints are made of, and what stands around them.
PIECES = [
    *(line.encode() for line in MATTER[::3]),
    *(word for word in actionable._WORDS if word.isalpha()),
    *(
        b"errors",
        b"Errored",
        b"sigsegv",
        b"sig",
        b"exited",
        b"timed out",
        b"WARNING",
        b"failing",
        b"CAN'T",
        b"oom-kill",
    ),
    *(
        b"TypeError",
        b"defaults",
        b"default:",
        b"segfault (",
        b"E  ",
        b"e: ",
        b"** (",
        b"sanitizer: ",
        b"<<< ",
    ),
    *(
        b"): ts2304: ",
        b"]: ab12: ",
        b"]: a123: ",
        b'HTTP/1.1" 404',
        b"http/2 503",
        b"HTTP/1.1' 200",
        b"http/1. 4",
    ),
    *("échec ÉCHEC ошибк 错误 失敗 エラー 오류 ✗ ❌ é µ".encode().split()),
    *(b"\x1b[31m", b"\x1b[m", b"\x1b[1;31m", b"[31m", b"m", b"\x1b", b"\xe3", b"\xc9chec", b"\xff"),
    *(
        b".",
        b"/",
        b"\\",
        b"-",
        b"_",
        b":",
        b" ",
        b"  ",
        b"\t",
        b"\r",
        b"\n",
        b"\r\n",
        b"(",
        b"]",
        b"0",
        b"12",
        b"x",
        b"",
        b"\0",
    ),
]


@given(
    st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=60).map(b"".join),
    st.sampled_from([b"\n", b"\r"]),
    st.sets(st.sampled_from(sorted(actionable._WORDS)), max_size=5),
)
def test_lines_are_found_alike_without_native_functions(text, end, common):
    """The filter leaves out only lines in which nothing is found, with all hints and with some."""
    for common_words in (set(), common):
        with_filter, without = Hints(), Hints()
        for hints in (with_filter, without):
            for word in common_words:
                hints._hits[word] = 1000
            hints.narrow()
        search = copy.copy(without._search)
        search._filter = None
        without._search = search
        assert found_in(text, end, hints=with_filter) == found_in(text, end, hints=without)
        assert with_filter._hits == without._hits
