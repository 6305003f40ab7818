"""Tools that speak German, French, Japanese, Korean, Polish, Portuguese and Chinese."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from benchmarks.corpus.case import Place, case
from benchmarks.corpus.makers.builds import c_sources
from benchmarks.corpus.makers.sql import _SERVER, compile_locale, inserts, server, sessions
from benchmarks.corpus.makers.web_builds import modules

if TYPE_CHECKING:
    from collections.abc import Callable

_TSC = {  # one wrong module each
    "de": "import { f121 } from './m121';\nexport const f120 = (x: number): string => x + f121(x);\n",
    "fr": "import { f121 } from './m121';\nexport const f120 = (x: number): number => x + f121(x, 3);\n",
    "ja": "import { f121 } from './m121';\nexport const f120 = (x: number): number => x + f121(y);\n",
    "ko": "import { f121 } from './m121';\nimport { g } from './m121';\nexport const f120 = (x: number): number => f121(x);\n",
    "pl": "import { f121 } from './m121';\nconst limit = 3;\nlimit = 4;\nexport const f120 = (x: number): number => f121(x);\n",
    "pt-br": "import { f121 } from './m121';\nexport const f120 = (x?: number): number => x.valueOf() + f121(1);\n",
    "zh-cn": "import { f121 } from './moved/m121';\nexport const f120 = (x: number): number => f121(x);\n",
}


def _tsc(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.write(modules(180, "ts"))
        place.write({"src/m120.ts": _TSC[language]})
        trace = "--traceResolution" if language in {"de", "fr", "ja", "ko"} else "--explainFiles"
        place.run(
            "tsc",
            "--noEmit",
            "--strict",
            "--locale",
            language,
            trace,
            "--pretty",
            "false",
            *sorted(f"src/m{n:03}.ts" for n in range(180)),
        )

    return make


def _make(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.write(c_sources(120))
        rule = {
            "de": "src/part_071.o: include/pegel.h\n",
            "fr": "src/part_033.o: include/marees.h\n",
            "ja": "src/part_050.o: include/shiori.h\n",
            "ko": "src/part_014.o: include/bada.h\n",
        }
        makefile = (place.folder / "Makefile").read_text()
        if language in rule:
            place.write({"Makefile": makefile + rule[language]})
        else:
            place.write(
                {
                    "src/part_062.c": '#include "parts.h"\nint drift_of_tide(int);\nint part_062(int x) {\n  return drift_of_tide(x);\n}\n'
                }
            )
        place.run("make", "-k", "CFLAGS=-O0", language=language)
        place.run("tar", "-cvf", "/dev/null", "--sort=name", "src", language=language)

    return make


_SHELL = {
    "de": "for n in $(seq -w 1 420); do cp -v in/$n.txt out/; done; for n in $(seq -w 1 200); do rm -v out/$n.txt; done",
    "fr": "for n in $(seq -w 1 420); do mv -v in/$n.txt out/; done; rmdir -v in/*; for n in $(seq 1 200); do mkdir -v d$n; done",
    "ja": "for n in $(seq -w 1 420); do cp -v in/$n.txt out/; if [ $n = 150 ]; then tar -xvf in/$n.txt; fi; done",
    "ko": "for n in $(seq -w 1 420); do mkdir -v out/$n; if [ $n = 099 ]; then aggregate-logs --day $n; fi; done",
    "pl": "for n in $(seq -w 1 420); do ln -sv in/$n.txt out/$n; if [ $n = 180 ]; then sed -i 's/a/b' in/$n.txt; fi; done",
    "pt_BR": "set -u; trap 'for n in $(seq -w 1 420); do rm -v out/$n.txt; done' EXIT; for n in $(seq -w 1 420); do cp -v in/$n.txt out/; done; echo $DESTINO; echo fim",
    "zh_CN": "for n in $(seq -w 1 420); do cp -v in/$n.txt out/; if [ $n = 201 ]; then grep -E '(a' in/$n.txt; fi; done; ls -lR out | head -100",
}


def _shell(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        missing = {"de": 117, "fr": 88}.get(language, 0)
        place.write({f"in/{n:03}.txt": f"{n}\n" for n in range(1, 421) if n != missing})
        place.write({"out/.keep": "", "work.sh": _SHELL[language] + "\n"})
        place.run("bash", "work.sh", language=language)

    return make


_SQL = {
    "de_DE": "INSERT INTO fahrt VALUES ('zwölf', 'name 280', 3);\n",
    "fr_FR": "INSERT INTO trajet VALUES (280, 'name 280', 3, 4);\n",
    "ja_JP": "INSERT INTO fahrt VALUES (12, 'name 280', 3);\n",
    "ko_KR": "INSERT INTO fahrt VALUES (280, repeat('x', 30), 3);\n",
    "pl_PL": "INSERT INTO fahrt VALUES (280, 'name', 3 / 0);\n",
    "pt_BR": "INSERT INTO fahrt (id, nome) VALUES (280, 'x');\n",
    "zh_CN": "INSERT INTO fahrt VALUES (280, NULL, 3);\n",
}


def _psql(locale: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.write(
            {
                "load.sql": "CREATE TABLE fahrt (id int PRIMARY KEY, name varchar(20) NOT NULL, preis int);\n"
                + inserts(500, "fahrt", 280, _SQL[locale])
                + "SELECT * FROM fahrt LIMIT 200;\n"
            }
        )
        with server(place, f"{locale}.UTF-8") as variables:
            place.run("psql", "-X", "-e", "-f", "load.sql", **variables)

    return make


def _deadlock(locale: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        with server(place, f"{locale}.UTF-8", log_statement="all", deadlock_timeout="100ms") as variables:
            sessions(place, variables)

    return make


def _git(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        place.shell(
            "git init -q -b main . && git config gc.auto 0; for n in $(seq -w 1 400); do echo $n > satz-$n; done; git add .; git commit -qm base\n"
            "git checkout -qb other; for n in $(seq -w 1 149) $(seq -w 151 400); do echo other >> satz-$n; done; git rm -q satz-150; git commit -qam other\n"
            "git checkout -q main; echo main >> satz-077; echo main >> satz-150; git commit -qam main",
            keep=False,
        )
        place.shell(
            "git log --stat --format=%s -1; git merge other; git status; git diff --stat HEAD",
            language=language,
        )

    return make


_LOCALES = {
    "de": "de_DE.UTF-8", "fr": "fr_FR.UTF-8", "ja": "ja_JP.UTF-8", "ko": "ko_KR.UTF-8", "pl": "pl_PL.UTF-8", "pt_BR": "pt_BR.UTF-8", "zh_CN": "zh_CN.UTF-8",
}  # fmt: skip
_SPHINX = {
    "de": "Siehe :doc:`gezeiten`.\n", "fr": ".. image:: maree.png\n", "ja": "Text [#f1]_ here.\n",
    "ko": ".. include:: missing/tide.txt\n", "pl": "Zob. :ref:`przyplyw`.\n", "pt_BR": "Veja :term:`preamar`.\n", "zh_CN": "- item\n  - nested\n text :unknownrole:`x`.\n",
}  # fmt: skip


def _sphinx(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        names = [f"page{n:02}" for n in range(220)]
        place.write({f"src/{name}.rst": f"{name}\n=======\n\n{name}.\n" for name in names})
        place.write(
            {
                "src/conf.py": f"project = 'Almanac'\nlanguage = '{language}'\n",
                "src/index.rst": "Almanac\n=======\n\n.. toctree::\n\n"
                + "".join(f"   {name}\n" for name in names),
                "src/page33.rst": "page33\n======\n\n" + _SPHINX[language],
            }
        )
        locale = _LOCALES[language]
        compile_locale(place.folder, locale)
        place.run(
            "sphinx-build",
            "-v",
            "--no-color",
            "-b",
            "html",
            "src",
            "out",
            LC_ALL=locale,
            LOCPATH=str(place.folder),
        )

    return make


_DJANGO = {  # language, what is said of a record that is stored, the field that is wrong
    "de": ("Datensatz {n} gespeichert", "email='kein-at-zeichen'"),
    "fr": ("enregistrement {n} sauvegardé, aucune erreur", "seats=-3"),
    "ja": ("レコード {n} を保存しました", "name=''"),
    "ko": ("레코드 {n} 저장됨", "name='x' * 41"),
    "pl": ("rekord {n} zapisany, błędów: 0", "day='2026-02-30'"),
    "pt-br": ("registro {n} gravado, 0 erros", "kind='lorry'"),
    "zh-hans": ("记录 {n} 已保存,0 个错误", "seats='many'"),
}


def _django(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        said, wrong = _DJANGO[language]
        script = f"""
            import django
            from django.conf import settings
            settings.configure(LANGUAGE_CODE={language!r}, USE_I18N=True, INSTALLED_APPS=[])
            django.setup()
            from django.core.exceptions import ValidationError
            from django.db import models
            from django.core.validators import MinValueValidator
            class Booking(models.Model):
                name = models.CharField(max_length=40)
                email = models.EmailField()
                seats = models.IntegerField(validators=[MinValueValidator(1)])
                day = models.DateField()
                kind = models.CharField(max_length=5, choices=[("train", "train"), ("bus", "bus")])
                class Meta:
                    app_label = "booking"
            for n in range(3000):
                good = dict(name="Ada", email="ada@example.org", seats=2, day="2026-03-01", kind="bus")
                try:
                    Booking(**(good | dict({wrong}) if n == 347 else good)).full_clean()
                    print({said!r}.format(n=n))
                except ValidationError as error:
                    for field, messages in error.message_dict.items():
                        print(f"{{n}} {{field}}: {{' '.join(messages)}}")
            """
        place.write({"import_bookings.py": textwrap.dedent(script)})
        place.run("python", "import_bookings.py")

    return make


def _javac(language: str) -> Callable[[Place], None]:
    def make(place: Place) -> None:
        for n in range(60):
            place.write(
                {
                    f"src/p/Part{n:02}.java": f"package p;\nimport java.util.*;\npublic class Part{n:02} {{\n  List list = new ArrayList();\n  void add() {{ list.add({n}); }}\n}}\n"
                }
            )
        wrong = (
            '  int size() { return "9"; }\n'
            if language == "ja"
            else "  void close() { throw new Exception(); }\n"
        )
        place.write({"src/p/Part31.java": f"package p;\npublic class Part31 {{\n{wrong}}}\n"})
        place.shell(
            f"javac -J-Duser.language={language} -J-Duser.country={ {'ja': 'JP', 'zh': 'CN'}[language] } -J-Dfile.encoding=UTF-8 -J-Dstdout.encoding=UTF-8 -J-Dstderr.encoding=UTF-8 -Xlint:all -Xmaxwarns 500 -d out src/p/*.java"
        )

    return make


def _register() -> None:
    for language in _TSC:
        case(f"tsc-in-{language}", "build", "tsc", language=language[:2])(_tsc(language))
    for language in _SHELL:
        case(f"make-in-{language.lower()}", "build", "make", "gcc", language=language[:2])(_make(language))
        case(f"shell-in-{language.lower()}", "script", "bash", language=language[:2])(_shell(language))
        case(f"sphinx-in-{language.lower()}", "build", "sphinx-build", "localedef", language=language[:2])(
            _sphinx(language)
        )
    for locale in _SQL:
        case(f"psql-in-{locale.lower()}", "script", *_SERVER, "localedef", language=locale[:2])(_psql(locale))
    for locale in ("de_DE", "ja_JP", "fr_FR", "zh_CN"):
        case(f"deadlock-in-{locale.lower()}", "log", *_SERVER, "localedef", language=locale[:2])(
            _deadlock(locale)
        )
    for language in ("de", "fr", "pl", "zh_CN"):
        case(f"git-merge-in-{language.lower()}", "script", "git", language=language[:2])(_git(language))
    for language in _DJANGO:
        case(f"django-import-in-{language}", "script", "django-admin", language=language[:2])(
            _django(language)
        )
    for language in ("ja", "zh"):
        case(f"javac-in-{language}", "build", "javac", language=language)(_javac(language))


_register()
