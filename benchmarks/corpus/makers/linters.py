"""Linters, type checkers and builders of manuals."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case
from benchmarks.corpus.makers.web_builds import modules


@case("eslint-error-among-warnings", "build", "eslint")
def eslint(place: Place) -> None:
    place.write(
        {
            f"src/m{n:03}.js": f"export function f{n}(x) {{\n  var y = x;\n  var spare = {n};\n  return y == {n};\n}}\n"
            for n in range(110)
        }
    )
    place.write(
        {
            "eslint.config.mjs": "export default [{ rules: { eqeqeq: 'warn', 'no-unused-vars': 'warn', 'no-var': 'warn', 'no-dupe-keys': 'error' } }];\n",
            "src/m066.js": "export const rates = {\n  de: 19,\n  fr: 20,\n  de: 7,\n};\n",
        }
    )
    place.run("eslint", "--no-color", "src")


@case("oxlint-flood", "build", "oxlint")
def oxlint(place: Place) -> None:
    place.write(
        {f"src/m{n:03}.js": f"export function f{n}(x) {{\n  debugger;\n  return x;\n}}\n" for n in range(90)}
    )
    place.write(
        {
            "src/m031.js": "export const get = (a) => {\n  const limit = 1;\n  limit = 2;\n  return a[limit];\n};\n"
        }
    )
    place.run("oxlint", "--no-ignore", "--threads", "1", "src")


@case("stylelint-unknown-unit", "build", "stylelint")
def stylelint(place: Place) -> None:
    place.write(
        {
            f"css/{n:02}.css": "".join(f".a{n}-{k} {{ color: #FFF; top: 0px; }}\n" for k in range(8))
            for n in range(30)
        }
    )
    place.write(
        {
            "css/17.css": ".banner { width: 12ppx; }\n",
            ".stylelintrc.json": '{"rules": {"color-hex-length": ["long", {"severity": "warning"}], "length-zero-no-unit": [true, {"severity": "warning"}], "unit-no-unknown": true}}',
        }
    )
    place.run("stylelint", "--no-color", "css/*.css")


@case("prettier-cannot-parse", "build", "prettier")
def prettier(place: Place) -> None:
    place.write(modules(280))
    place.write({"src/m155.js": "export const f155 = (x) => x +* 2;\n"})
    place.run("prettier", "--check", "--log-level", "debug", "--no-color", "src")


@case("mypy-one-real-among-many", "build", "mypy")
def mypy(place: Place) -> None:
    place.write({f"pkg/m{n:03}.py": f"def f{n}(x):\n    return x + {n}\n" for n in range(220)})
    place.write({"pkg/m134.py": "def rate(code: str) -> int:\n    return {'de': 19}.get(code)\n"})
    place.run("mypy", "--show-error-context", "-v", "pkg", "--cache-dir", "/dev/null")


@case("pylint-report", "build", "pylint")
def pylint(place: Place) -> None:
    place.write(
        {f"pkg/m{n:02}.py": "".join(f"def F{k}(X):\n    return X+{k}\n" for k in range(6)) for n in range(40)}
    )
    place.write({"pkg/m19.py": "import os\n\ndef home():\n    return os.getenvv('HOME')\n"})
    place.run("pylint", "--persistent=n", "-j1", "--reports=y", *sorted(f"pkg/m{n:02}.py" for n in range(40)))


@case("ruff-syntax-error", "build", "ruff")
def ruff(place: Place) -> None:
    place.write({f"pkg/m{n:02}.py": "import os\nimport sys\n" + f"l = {n}\n" for n in range(70)})
    place.write({"pkg/m45.py": "def load(path):\n    with open(path as file:\n        return file.read()\n"})
    place.run("ruff", "check", "--no-cache", "pkg")


@case("sqlfluff-unparsable", "build", "sqlfluff")
def sqlfluff(place: Place) -> None:
    place.write({f"q/{n:02}.sql": f"select a,b FROM t{n} where a={n}\n" for n in range(24)})
    place.write({"q/15.sql": "SELECT a\nFROM t15\nWHERE a BETWEEN 1 5;\n"})
    place.run("sqlfluff", "lint", "--dialect", "ansi", "q")


@case("yamllint-duplicate-key", "build", "yamllint")
def yamllint(place: Place) -> None:
    place.write({f"conf/{n:02}.yml": "".join(f"k{k}:   v{k} \n" for k in range(12)) for n in range(30)})
    place.write({"conf/21.yml": "---\nport: 80\nhost: a\nport: 81\n"})
    place.run(
        "yamllint",
        "-f",
        "parsable",
        "-d",
        "{extends: default, rules: {colons: {level: warning}, trailing-spaces: {level: warning}}}",
        "conf",
    )


@case("hadolint-unknown-instruction", "build", "hadolint")
def hadolint(place: Place) -> None:
    place.write(
        {
            f"img{n:02}/Dockerfile": "FROM debian\nRUN cd /x && apt-get install curl\nRUN sudo make\nMAINTAINER ada\n"
            for n in range(50)
        }
    )
    place.write({"img33/Dockerfile": "FROM debian:12\nCOPPY . /app\n"})
    place.shell(
        "hadolint --no-color img*/Dockerfile; for f in img*/Dockerfile; do hadolint --no-color --failure-threshold error $f; done"
    )


@case("typst-unknown-variable", "build", "python")
def typst(place: Place) -> None:
    place.write({f"ch{n:02}.typ": f"= Chapter {n}\n#lorem(40)\n" for n in range(330)})
    place.write(
        {
            "ch88.typ": "= Chapter 88\nThe height is #heigth metres.\n",
            "all.py": "import typst, glob\nfor name in sorted(glob.glob('ch*.typ')):\n    try:\n        print(name, len(typst.compile(name)) > 0, 'compiled without errors, 1 page, no warnings')\n    except Exception as error:\n        print(name, type(error).__name__, error)\n",
        }
    )
    place.run("python", "all.py")


@case("sphinx-toctree", "build", "sphinx-build")
def sphinx(place: Place) -> None:
    names = [f"page{n:02}" for n in range(220)]
    place.write({f"src/{name}.rst": f"{name}\n=======\n\nText of {name}.\n" for name in names})
    place.write(
        {
            "src/conf.py": "project = 'Almanac'\n",
            "src/index.rst": "Almanac\n=======\n\n.. toctree::\n\n"
            + "".join(f"   {name}\n" for name in names)
            + "   tides\n",
            "src/page41.rst": "page41\n======\n\nSee :doc:`harbours` and |flag|.\n",
        }
    )
    place.run("sphinx-build", "-v", "-W", "--keep-going", "--no-color", "-b", "html", "src", "out")


@case("mkdocs-strict", "build", "mkdocs")
def mkdocs(place: Place) -> None:
    place.write({f"docs/p{n:02}.md": f"# P{n}\n\n[next](p{(n + 1) % 60:02}.md)\n" for n in range(60)})
    place.write(
        {
            "mkdocs.yml": "site_name: Almanac\nvalidation:\n  links:\n    not_found: warn\n",
            "docs/index.md": "# Home\n",
            "docs/p40.md": "# P40\n\n[tides](tides/spring.md)\n",
        }
    )
    place.run("mkdocs", "build", "--strict", "--verbose")
