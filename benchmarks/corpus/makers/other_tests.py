"""Runs of tests of other languages: JavaScript, Rust, Go, C, Perl, shell."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case
from benchmarks.corpus.makers.python_tests import go_on


def _suites(count: int, each: int, form: str) -> dict[str, str]:
    return {
        f"test/part{n:02}.test.js": form.replace("BODY", "\n".join(
            f"  test('adds {k} to {n} without a carry', () => {{ if ({n} + {k} !== {n + k}) throw new Error('no'); }});"
            for k in range(each)
        )).replace("NAME", f"part {n}")
        for n in range(count)
    }  # fmt: skip


_DESCRIBE = "describe('NAME', () => {\nBODY\n});\n"


@case("jest-object-differs", "test", "jest")
def jest(place: Place) -> None:
    place.write(_suites(24, 25, _DESCRIBE))
    place.write(
        {
            "package.json": '{"name": "shop"}',
            "test/part07b.test.js": "const invoice = (n) => ({ number: n, lines: [{ sku: 'a', net: 100, vat: n > 1 ? 19 : 7 }], due: '2026-04-01' });\n"
            "describe('invoice', () => {\n  test('keeps its rate', () => {\n    expect(invoice(1)).toEqual({ number: 1, lines: [{ sku: 'a', net: 100, vat: 19 }], due: '2026-04-01' });\n  });\n});\n",
        }
    )
    place.run("jest", "--verbose", "--ci", "-w", "2", "--rootDir", ".")


@case("jest-times-out", "test", "jest")
def jest_times_out(place: Place) -> None:
    place.write(_suites(24, 25, _DESCRIBE))
    place.write(
        {
            "package.json": '{"name": "shop"}',
            "test/part03b.test.js": "test('webhook is delivered', (done) => {\n  console.error('Error: simulated, handled by the test');\n  setTimeout(() => done(), 60000).unref();\n}, 300);\n",
        }
    )
    place.run("jest", "--verbose", "--ci", "-i", "--forceExit", "--rootDir", ".")
    go_on(place)


@case("vitest-snapshot", "test", "vitest")
def vitest(place: Place) -> None:
    place.node_modules()
    place.write(_suites(20, 20, "import { test, describe } from 'vitest';\n" + _DESCRIBE))
    place.write(
        {
            "package.json": '{"name": "shop", "type": "module"}',
            "test/banner.test.js": "import { test, expect } from 'vitest';\ntest('banner', () => {\n  expect('Welcome back, ' + ['Ada', 'Bob'].length + ' users').toMatchInlineSnapshot(`\"Welcome back, 3 users\"`);\n});\n",
        }
    )
    place.run("vitest", "run", "--reporter=verbose", "--no-color", CI="1")
    go_on(place)


@case("mocha-deep-equal", "test", "mocha")
def mocha(place: Place) -> None:
    place.write({name: text.replace("test(", "it(") for name, text in _suites(24, 25, _DESCRIBE).items()})
    place.write(
        {
            "test/part09b.test.js": "const assert = require('assert');\ndescribe('router', () => {\n  it('orders routes by weight', () => {\n"
            "    const routes = [['a', 3], ['b', 1], ['c', 2]].sort((x, y) => x[1] - y[1]).map((r) => r[0]);\n    assert.deepStrictEqual(routes, ['b', 'a', 'c']);\n  });\n});\n"
        }
    )
    place.run("mocha", "--no-color", "test/*.test.js")


@case("node-test-tap", "test", "node")
def node_test(place: Place) -> None:
    place.write(_suites(16, 20, "const { test, describe } = require('node:test');\n" + _DESCRIBE))
    place.write(
        {
            "test/part05b.test.js": "const { test } = require('node:test');\nconst assert = require('node:assert');\n"
            "test('lease is renewed before it ends', async () => {\n  const lease = await new Promise((r) => setTimeout(() => r({ left: -12 }), 5));\n  assert.ok(lease.left > 0, 'lease ended 12 ms ago');\n});\n"
        }
    )
    place.run("node", "--test", "--test-reporter=tap", "test/")


@case("tape-plan", "test", "tape")
def tape(place: Place) -> None:
    place.write(
        {
            "test.js": "const test = require('tape');\nfor (let n = 0; n < 300; n += 1) {\n  test('frame ' + n, (t) => {\n    t.plan(2);\n"
            "    t.equal(n % 7 < 7, true, 'checksum of frame ' + n);\n    t.equal(n === 171 ? n >> 1 : n, n, 'length of frame ' + n);\n  });\n}\n"
        }
    )
    place.run("tape", "test.js")


@case("bats-script", "test", "bats")
def bats(place: Place) -> None:
    tests = "".join(f'@test "rotates log {n}" {{\n  [ $(( {n} % 5 )) -lt 5 ]\n}}\n\n' for n in range(420))
    odd = '@test "keeps seven old logs" {\n  run bash -c \'seq 8 | wc -l\'\n  [ "$output" -eq 7 ]\n}\n\n'
    place.write({"a.bats": tests, "b.bats": odd + tests.replace("rotates", "compresses")})
    place.run("bats", "--tap", "a.bats", "b.bats")


@case("bun-test", "test", "bun")
def bun(place: Place) -> None:
    place.write(_suites(24, 25, "import { test, describe } from 'bun:test';\n" + _DESCRIBE))
    place.write(
        {
            "package.json": '{"name": "shop"}',
            "test/part02b.test.js": "import { test, expect } from 'bun:test';\ntest('parses the last stanza', () => {\n  const stanza = JSON.parse('{\"retries\": 3, \"backoff\": [1, 2, 4, 8}');\n  expect(stanza.retries).toBe(3);\n});\n",
        }
    )
    place.run("bun", "test")
    go_on(place)


@case("cucumber-german", "test", "cucumber-js", language="de")
def cucumber_german(place: Place) -> None:
    scenarios = "".join(
        f"  Szenario: Fahrkarte {n}\n    Angenommen ein Guthaben von {n * 10} Euro\n    Wenn {n} Euro abgebucht werden\n    Dann bleiben {n * 9} Euro\n\n"
        for n in range(1, 120)
    )
    odd = "  Szenario: Fahrkarte mit Rabatt\n    Angenommen ein Guthaben von 80 Euro\n    Wenn 30 Euro abgebucht werden\n    Dann bleiben 55 Euro\n\n"
    half = scenarios[: len(scenarios) // 2].rpartition("  Szenario")[0]
    place.node_modules()
    place.write(
        {
            "features/karte.feature": f"# language: de\nFunktionalität: Fahrkarten\n\n{half}{odd}{scenarios.replace('Fahrkarte ', 'Monatskarte ')}",
            "features/steps.js": "const { Given, When, Then } = require('@cucumber/cucumber');\n"
            "Given('ein Guthaben von {int} Euro', function (n) { this.n = n; });\nWhen('{int} Euro abgebucht werden', function (n) { this.n -= n; });\n"
            "Then('bleiben {int} Euro', function (n) { if (this.n !== n) throw new Error('Kontostand ' + this.n + ' statt ' + n); });\n",
        }
    )
    place.run("cucumber-js", "--format", "message")


@case("cargo-test-panic", "test", "cargo")
def cargo_test(place: Place) -> None:
    tests = "".join(
        f"    #[test]\n    fn span_{n}_is_closed() {{\n        assert_eq!(super::width({n}, {n + 3}), 3);\n    }}\n\n"
        for n in range(520)
    )
    odd = "    #[test]\n    fn span_may_be_empty() {\n        assert_eq!(super::width(9, 7), 0);\n    }\n\n"
    place.write(
        {
            "Cargo.toml": '[package]\nname = "spans"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": f"pub fn width(a: u32, b: u32) -> u32 {{\n    b - a\n}}\n\n#[cfg(test)]\nmod tests {{\n{tests}{odd}}}\n",
        }
    )
    place.run("cargo", "test", "--", "--test-threads=1")


@case("cargo-test-many-crates", "test", "cargo")
def cargo_workspace(place: Place) -> None:
    members = [f"part{n}" for n in range(8)]
    place.write({"Cargo.toml": f'[workspace]\nresolver = "2"\nmembers = {members}\n'.replace("'", '"')})
    for number, member in enumerate(members):
        tests = "".join(f"#[test]\nfn holds_{n}() {{ assert!({n} < 200); }}\n" for n in range(110))
        if number == 3:
            tests += '#[test]\nfn decodes_header() {\n    let header: Result<u8, String> = Err("magic number 0x5a is not 0x7f".into());\n    header.unwrap();\n}\n'
        place.write(
            {
                f"{member}/Cargo.toml": f'[package]\nname = "{member}"\nversion = "0.1.0"\nedition = "2021"\n',
                f"{member}/src/lib.rs": "",
                f"{member}/tests/all.rs": tests,
            }
        )
    place.run("cargo", "test", "--workspace", "--no-fail-fast")


@case("go-test-race", "test", "go", "gcc")
def go_race(place: Place) -> None:
    tests = "".join(
        f"func TestShard{n:03}(t *testing.T) {{\n\tif {n}*2 != {2 * n} {{\n\t\tt.Fatal()\n\t}}\n}}\n\n"
        for n in range(420)
    )
    place.write(
        {
            "go.mod": "module example.org/shards\n\ngo 1.21\n",
            "counter.go": "package shards\n\ntype Counter struct{ n int }\n\nfunc (c *Counter) Add() {\n\tc.n++\n}\n",
            "a_test.go": 'package shards\n\nimport (\n\t"sync"\n\t"testing"\n)\n\nfunc TestCounterOfMany(t *testing.T) {\n\tvar c Counter\n\tvar wait sync.WaitGroup\n'
            "\tfor i := 0; i < 4; i++ {\n\t\twait.Add(1)\n\t\tgo func() { defer wait.Done(); c.Add() }()\n\t}\n\twait.Wait()\n}\n",
            "b_test.go": f'package shards\n\nimport "testing"\n\n{tests}',
        }
    )
    place.run("go", "test", "-race", "-v", "./...", CGO_ENABLED="1")


@case("go-test-nil-map", "test", "go")
def go_nil(place: Place) -> None:
    tests = "".join(
        f'func TestRoute{n:03}(t *testing.T) {{\n\tt.Logf("route %d: 0 errors", {n})\n}}\n\n'
        for n in range(200)
    )
    place.write({"go.mod": "module example.org/routes\n\ngo 1.21\n"})
    for part in "abcdef":
        odd = (
            'func TestAddsAlias(t *testing.T) {\n\tvar aliases map[string]string\n\taliases["home"] = "/"\n}\n'
            if part == "c"
            else ""
        )
        place.write(
            {
                f"{part}/{part}_test.go": f'package {part}\n\nimport "testing"\n\n{tests[:4000].rpartition("func")[0]}{odd}'
            }
        )
    place.run("go", "test", "-v", "./...")


@case("prove-perl", "test", "prove")
def prove(place: Place) -> None:
    for n in range(40):
        lines = "".join(f"is({n} + {k}, {n + k}, 'column {k} of page {n}');\n" for k in range(15))
        odd = "is(join('|', sort qw(b a C)), 'a|b|C', 'sorts without case');\n" if n == 17 else ""
        place.write(
            {f"t/{n:02}-page.t": f"use strict; use warnings; use Test::More;\n{lines}{odd}done_testing();\n"}
        )
    place.run("prove", "-v", "t/")


@case("ctest-one-fails", "test", "cmake", "ctest", "gcc")
def ctest(place: Place) -> None:
    adds = "".join(f"add_test(NAME grid_{n:03} COMMAND grid {n})\n" for n in range(160))
    place.write(
        {
            "CMakeLists.txt": f"cmake_minimum_required(VERSION 3.20)\nproject(grid C)\nenable_testing()\nadd_executable(grid grid.c)\n{adds}",
            "grid.c": '#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n  int n = atoi(argv[1]);\n  printf("solving grid %d\\n", n);\n'
            '  if (n == 61) {\n    fprintf(stderr, "residual 0.41 after 500 iterations, wanted below 0.001\\n");\n    return 3;\n  }\n  puts("converged");\n  return 0;\n}\n',
        }
    )
    place.shell("cmake -S . -B build && cmake --build build && ctest --test-dir build -V")


@case("make-check-of-shell", "test", "make")
def make_check(place: Place) -> None:
    place.write(
        {
            "Makefile": 'CASES := $(sort $(wildcard cases/*.sh))\ncheck: $(CASES:.sh=.ok)\n%.ok: %.sh\n\t@echo "CHECK $<"\n\t@sh $< > $*.log 2>&1 || { cat $*.log; exit 1; }\n\t@tail -1 $*.log\n'
        }
    )
    for n in range(480):
        body = "echo 'wrote 41 of 42 records'; exit 4" if n == 96 else f"echo 'wrote {n} of {n} records'"
        place.write({f"cases/copy-{n:03}.sh": f"seq 1 3 >/dev/null\n{body}\n"})
    place.run("make", "-k", "check")
