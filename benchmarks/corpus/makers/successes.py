"""Runs that end well: nothing of them is a failure, whatever words they print."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case
from benchmarks.corpus.makers.builds import c_sources
from benchmarks.corpus.makers.other_tests import _DESCRIBE, _suites
from benchmarks.corpus.makers.python_scripts import python
from benchmarks.corpus.makers.python_tests import many
from benchmarks.corpus.makers.sql import _SERVER, inserts, server
from benchmarks.corpus.makers.web_builds import _WHEELS, modules


@case("success-pytest", "success", "pytest")
def pytest(place: Place) -> None:
    place.write(many(24, 25))
    place.write(
        {
            "tests/test_errors.py": "".join(
                f"def test_error_is_raised_{n}():\n    assert True\n\n" for n in range(60)
            )
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")


@case("success-jest-with-noise", "success", "jest")
def jest(place: Place) -> None:
    place.write(_suites(16, 20, _DESCRIBE))
    place.write(
        {
            "package.json": '{"name": "shop"}',
            "test/noise.test.js": "test('logs what it catches', () => { for (let n = 0; n < 12; n += 1) console.error('Error: expected by this test', n); });\n",
        }
    )
    place.run("jest", "--verbose", "--ci", "-i", "--rootDir", ".")


@case("success-cargo-test", "success", "cargo")
def cargo(place: Place) -> None:
    tests = "".join(f"    #[test]\n    fn error_path_{n}() {{ assert!({n} < 1400); }}\n" for n in range(900))
    place.write(
        {
            "Cargo.toml": '[package]\nname = "spans"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": f"#[cfg(test)]\nmod tests {{\n{tests}}}\n",
        }
    )
    place.run("cargo", "test", "--", "--test-threads=1")


@case("success-go-test", "success", "go")
def go(place: Place) -> None:
    tests = "".join(
        f'func TestError{n:03}(t *testing.T) {{\n\tt.Log("error {n} is handled")\n}}\n\n' for n in range(250)
    )
    place.write(
        {
            "go.mod": "module example.org/ok\n\ngo 1.21\n",
            "a_test.go": f'package ok\n\nimport "testing"\n\n{tests}',
        }
    )
    place.run("go", "test", "-v", "./...")


@case("success-make", "success", "make", "gcc")
def make(place: Place) -> None:
    place.write(c_sources(200))
    place.write({"src/error_handler.c": "int error_handler(int x) { return x; }\n"})
    place.run("make", "CFLAGS=-O0 -Wall -Werror")


@case("success-cmake-ninja", "success", "cmake", "ninja", "gcc")
def ninja(place: Place) -> None:
    place.write(c_sources(160))
    place.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfile(GLOB SOURCES src/*.c)\nadd_executable(app ${SOURCES})\ntarget_include_directories(app PRIVATE include)\n"
        }
    )
    place.shell("cmake -S . -B build -G Ninja && ninja -C build -v")


@case("success-npm-install", "success", "npm")
def npm(place: Place) -> None:
    deps = ", ".join(f'"lib{n}": "file:./lib{n}"' for n in range(150))
    place.write({f"lib{n}/package.json": f'{{"name": "lib{n}", "version": "1.{n}.0"}}' for n in range(150)})
    place.write({"package.json": f'{{"name": "app", "version": "1.0.0", "dependencies": {{{deps}}}}}'})
    place.run("npm", "install", "--offline", "--loglevel", "silly", "--no-audit", "--no-fund")


@case("success-pip-install", "success", "pip")
def pip(place: Place) -> None:
    place.write({"wheels.py": _WHEELS})
    place.run("python", "wheels.py", keep=False)
    place.run(
        "pip",
        "install",
        "-v",
        "--no-index",
        "--find-links",
        "wheels",
        "--target",
        "t",
        "pier",
        *[f"dock{n}" for n in range(260)],
    )


@case("success-tsc-list", "success", "tsc")
def tsc(place: Place) -> None:
    place.write(modules(240, "ts"))
    place.run(
        "tsc",
        "--noEmit",
        "--listFiles",
        "--extendedDiagnostics",
        *sorted(f"src/m{n:03}.ts" for n in range(240)),
    )


@case("success-ansible", "success", "ansible-playbook")
def ansible(place: Place) -> None:
    place.write(
        {
            "hosts": "".join(
                f"web{n:02} ansible_connection=local ansible_python_interpreter=auto_silent\n"
                for n in range(12)
            ),
            "site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n"
            + "".join(
                f"    - name: Set error page {n}\n      ansible.builtin.debug:\n        msg: error page {n} is set, failed 0\n"
                for n in range(40)
            ),
        }
    )
    place.run(
        "ansible-playbook",
        "-i",
        "hosts",
        "site.yml",
        ANSIBLE_LOCALHOST_WARNING="False",
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_HOME=str(place.folder),
    )


@case("success-retries", "success", "python")
def retries(place: Place) -> None:
    python(
        place,
        """
        for n in range(300):
            for k in range(n % 3):
                print(f"WARN chunk {n}: ConnectionResetError, attempt {k + 1} of 4 failed, retrying")
            print(f"INFO chunk {n}: uploaded")
        print("all 300 chunks uploaded, 0 left out")
        """,
    )


@case("success-sphinx-german", "success", "sphinx-build", language="de")
def sphinx(place: Place) -> None:
    names = [f"seite{n:02}" for n in range(260)]
    place.write({f"src/{name}.rst": f"{name}\n========\n\nFehlerbehandlung {name}.\n" for name in names})
    place.write(
        {
            "src/conf.py": "project = 'Almanach'\nlanguage = 'de'\n",
            "src/index.rst": "Almanach\n========\n\n.. toctree::\n\n"
            + "".join(f"   {name}\n" for name in names),
        }
    )
    place.run("sphinx-build", "-v", "--no-color", "-b", "html", "src", "out", language="de")


@case("success-psql-script", "success", *_SERVER)
def psql(place: Place) -> None:
    place.write(
        {
            "load.sql": "CREATE TABLE error_log (id int PRIMARY KEY, name text, pieces int);\n"
            + inserts(600, "error_log", -1, "")
            + "SELECT count(*) AS errors FROM error_log;\n"
        }
    )
    with server(place) as variables:
        place.run("psql", "-X", "-e", "-f", "load.sql", **variables)


@case("success-javac-verbose", "success", "javac")
def javac(place: Place) -> None:
    for n in range(120):
        place.write(
            {
                f"src/q/Part{n:02}.java": f"package q;\nimport java.util.*;\npublic class Part{n:02} {{\n  Map<String, Error> errors = new TreeMap<>();\n}}\n"
            }
        )
    place.shell("javac -verbose -d out src/q/*.java")


@case("success-unittest", "success", "python")
def unittest(place: Place) -> None:
    tests = "".join(
        f"    def test_failure_is_counted_{n}(self):\n        self.assertTrue(True)\n\n" for n in range(300)
    )
    place.write({"test_failures.py": f"import unittest\n\nclass Failures(unittest.TestCase):\n{tests}"})
    place.run("python", "-m", "unittest", "-v")


@case("success-copies-in-japanese", "success", "bash", language="ja")
def copies(place: Place) -> None:
    place.write({f"in/{n:03}.txt": f"{n}\n" for n in range(700)})
    place.shell("mkdir out; cp -v in/*.txt out/; rm -v out/*.txt; echo 完了: 700 個", language="ja")
