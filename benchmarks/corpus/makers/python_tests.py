"""Runs of pytest, unittest and Django's tests."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case

_SUBJECTS = (
    "ledger", "parser", "router", "cache", "queue", "schema", "token", "worker",
    "index", "mailer", "search", "export", "import_", "billing", "session", "upload",
)  # fmt: skip


def many(
    files: int, each: int, body: str = "assert sum(range({n})) == {n} * ({n} - 1) // 2"
) -> dict[str, str]:
    """Files of tests that pass."""
    made = {}
    for number in range(files):
        subject = _SUBJECTS[number % len(_SUBJECTS)].rstrip("_")
        lines = [f"def test_{subject}_keeps_case_{n}():\n    {body.format(n=n)}\n" for n in range(each)]
        made[f"tests/test_{number:02}_{subject}.py"] = "\n".join(lines)
    return made


def go_on(place: Place) -> None:
    """What a pipeline does after its tests, whatever they said."""
    place.run("python", "-m", "compileall", "-f", ".", PYTHONDONTWRITEBYTECODE="")
    place.run("tar", "-cvf", "/dev/null", "--sort=name", ".")


@case("pytest-one-wrong-sum", "test", "pytest")
def one_wrong_sum(place: Place) -> None:
    place.write(many(24, 25))
    place.write(
        {
            "cart.py": "def total(prices, rebate):\n    return sum(prices) - rebate * len(prices)\n",
            "tests/test_11_cart.py": "from cart import total\n\ndef test_total_takes_the_rebate_once():\n"
            "    prices = [1200, 800, 99]\n    assert total(prices, 100) == 1999\n",
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")
    go_on(place)


@case("pytest-refused-connection", "test", "pytest")
def refused_connection(place: Place) -> None:
    place.write(many(20, 25))
    place.write(
        {
            "tests/conftest.py": "import socket, pytest\n\n@pytest.fixture(scope='session')\ndef broker():\n"
            "    with socket.create_connection(('127.0.0.1', 9), timeout=5) as link:\n        yield link\n",
            "tests/test_09_broker.py": "".join(
                f"def test_publishes_message_{n}(broker):\n    assert broker\n\n" for n in range(6)
            ),
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")
    go_on(place)


@case("pytest-module-not-collected", "test", "pytest")
def not_collected(place: Place) -> None:
    place.write(many(20, 25))
    place.write(
        {"tests/test_07_ledger_io.py": "import ledgerio.codec\n\ndef test_codec():\n    assert ledgerio\n"}
    )
    place.run(
        "python", "-m", "pytest", "-v", "--continue-on-collection-errors", "-rA", "-p", "no:cacheprovider"
    )


@case("pytest-forty-of-one-cause", "test", "pytest")
def one_cause(place: Place) -> None:
    place.write(many(16, 20))
    place.write(
        {
            "tests/conftest.py": "import sqlite3, pytest\n\n@pytest.fixture\ndef accounts():\n"
            "    base = sqlite3.connect(':memory:')\n    base.execute('CREATE TABLE account (id, name)')\n"
            "    return base\n",
            "tests/test_05_accounts.py": "import pytest\n\n@pytest.mark.parametrize('n', range(40))\n"
            "def test_balance_of(accounts, n):\n"
            "    rows = accounts.execute('SELECT balance FROM accounts WHERE id = ?', (n,))\n    assert rows\n",
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")
    go_on(place)


@case("pytest-worker-dies", "test", "pytest")
def worker_dies(place: Place) -> None:
    place.write(many(16, 25))
    place.write(
        {
            "tests/test_08_native.py": "import ctypes\n\ndef test_reads_a_freed_block():\n    ctypes.string_at(8)\n"
        }
    )
    place.run("python", "-m", "pytest", "-v", "-n", "2", "-p", "no:cacheprovider")


@case("pytest-flood-of-captured-log", "test", "pytest")
def captured(place: Place) -> None:
    place.write(many(4, 10))
    place.write(
        {
            "tests/test_02_replay.py": "import logging\n\ndef test_replay_ends_at_the_checkpoint():\n"
            "    position = 0\n    for n in range(1500):\n"
            "        logging.warning('segment %d replayed, 0 errors, lag %d ms', n, n * 7 % 90)\n"
            "        position += 64\n    checkpoint = 96064\n    assert position == checkpoint\n"
        }
    )
    place.run("python", "-m", "pytest", "-p", "no:cacheprovider")


@case("pytest-hypothesis-example", "test", "pytest")
def hypothesis_example(place: Place) -> None:
    place.write(many(20, 20))
    place.write(
        {
            "slug.py": "def slug(text):\n    return '-'.join(text.lower().split())\n",
            "tests/test_06_slug.py": "from hypothesis import given, settings, strategies as st\nfrom slug import slug\n\n"
            "@settings(derandomize=True, database=None)\n@given(st.text())\ndef test_slug_is_stable(text):\n"
            "    assert slug(text).upper().lower() == slug(text)\n",
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")
    go_on(place)


@case("pytest-names-full-of-errors", "test", "pytest")
def names_of_errors(place: Place) -> None:
    words = (
        "error_is_raised",
        "failure_is_logged",
        "exception_in_callback",
        "fatal_signal",
        "panic_is_caught",
    )
    tests = "".join(f"def test_{word}_{n}():\n    assert '{word}'\n\n" for n in range(70) for word in words)
    place.write(
        {
            "tests/test_errors.py": tests,
            "tests/test_failures.py": tests,
            "tests/test_exceptions.py": "import pytest\n\n"
            + tests
            + "@pytest.mark.xfail(strict=True, reason='upstream bug 4411')\ndef test_rounding_of_halves():\n"
            "    assert round(2.5) == 2\n\n" + tests.replace("():", "_again():"),
        }
    )
    place.run("python", "-m", "pytest", "-v", "-p", "no:cacheprovider")


@case("pytest-doctest", "test", "pytest")
def doctest(place: Place) -> None:
    for number in range(60):
        functions = "".join(
            f'def step_{n}(x):\n    """Add {n}.\n\n    >>> step_{n}({number})\n    {number + n}\n    """\n'
            f"    return x + {n}\n\n"
            for n in range(6)
        )
        place.write({f"pkg/module_{number:02}.py": functions})
    place.write(
        {
            "pkg/module_33_units.py": 'def to_kelvin(celsius):\n    """Kelvin.\n\n    >>> to_kelvin(20)\n    293.15\n    """\n'
            "    return celsius + 273.16\n"
        }
    )
    place.run("python", "-m", "pytest", "--doctest-modules", "-v", "pkg", "-p", "no:cacheprovider")
    go_on(place)


@case("pytest-nested-difference", "test", "pytest")
def nested(place: Place) -> None:
    place.write(many(12, 20))
    place.write(
        {
            "tests/test_04_catalogue.py": "def catalogue(tax):\n    return {f'item-{n:03}': {'price': n * 10, 'tax': tax(n), 'tags': "
            "['a', 'b']} for n in range(150)}\n\ndef test_catalogue_is_taxed_alike():\n"
            "    left = catalogue(lambda n: 19)\n    right = catalogue(lambda n: 7 if n == 88 else 19)\n    assert left == right\n"
        }
    )
    place.run("python", "-m", "pytest", "-vv", "--durations=0", "-p", "no:cacheprovider")


@case("unittest-subtests", "test", "python")
def subtests(place: Place) -> None:
    tests = "".join(
        f"    def test_handles_case_{n}(self):\n        self.assertTrue({n} >= 0)\n\n" for n in range(260)
    )
    place.write(
        {
            "test_codes.py": "import unittest\n\nRATES = {'de': 19, 'fr': 20, 'ch': 8, 'lu': 17}\n\nclass Rates(unittest.TestCase):\n"
            f"{tests}    def test_rates_are_those_of_the_table(self):\n"
            "        for code, rate in {'de': 19, 'fr': 20, 'ch': 8.1, 'lu': 17}.items():\n"
            "            with self.subTest(code=code):\n                self.assertEqual(RATES[code], rate)\n"
        }
    )
    place.run("python", "-m", "unittest", "-v")
    go_on(place)


@case("unittest-class-not-set-up", "test", "python")
def class_not_set_up(place: Place) -> None:
    tests = "".join(
        f"    def test_writes_row_{n}(self):\n        self.assertTrue(True)\n\n" for n in range(120)
    )
    for number in range(6):
        place.write(
            {f"test_part_{number}.py": f"import unittest\n\nclass Part{number}(unittest.TestCase):\n{tests}"}
        )
    place.write(
        {
            "test_part_2_disk.py": "import os, unittest\n\nclass OnDisk(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
            f"        cls.root = os.listdir('/srv/fixtures/ledger-v7')\n\n{tests}"
        }
    )
    place.run("python", "-m", "unittest", "-v")
    go_on(place)


@case("django-test-integrity", "test", "django-admin")
def django_test(place: Place) -> None:
    place.write(
        {
            "settings.py": "SECRET_KEY = 'x'\nINSTALLED_APPS = ['django.contrib.contenttypes', 'django.contrib.auth', 'shop']\n"
            "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\nUSE_TZ = True\n",
            "shop/__init__.py": "",
            "shop/models.py": "from django.db import models\n\nclass Item(models.Model):\n    sku = models.CharField(max_length=20, unique=True)\n"
            "    class Meta:\n        app_label = 'shop'\n",
            "shop/tests.py": "from django.test import TestCase\nfrom shop.models import Item\n\nclass Items(TestCase):\n"
            + "".join(
                f"    def test_item_{n:03}_is_stored(self):\n        self.assertTrue(Item.objects.create(sku='s{n}').pk)\n\n"
                for n in range(150)
            )
            + "    def test_items_may_be_imported_twice(self):\n        for sku in ('a-1', 'a-2', 'a-1'):\n"
            "            Item.objects.create(sku=sku)\n",
        }
    )
    place.run("django-admin", "test", "-v", "2", PYTHONPATH=".", DJANGO_SETTINGS_MODULE="settings")
    go_on(place)


@case("behave-feature", "test", "behave")
def behave(place: Place) -> None:
    scenarios = "".join(
        f"  Scenario: Order {n}\n    Given a basket with {n} apples\n    When {n % 3} apples are taken out\n"
        f"    Then {n - n % 3} apples are left\n\n"
        for n in range(3, 90)
    )
    odd = "  Scenario: Basket from last year\n    Given a basket with 12 apples\n    When 5 apples are taken out\n    Then 8 apples are left\n\n"
    place.write(
        {
            "features/basket.feature": f"Feature: Basket\n\n{scenarios[:6000]}".rpartition("  Scenario")[0]
            + odd
            + "  Scenario: Last\n    Given a basket with 1 apples\n    Then 1 apples are left\n",
            "features/more.feature": f"Feature: More baskets\n\n{scenarios}",
            "features/steps/steps.py": "from behave import given, when, then\n\n@given('a basket with {n:d} apples')\ndef _(context, n):\n"
            "    context.n = n\n\n@when('{n:d} apples are taken out')\ndef _(context, n):\n    context.n -= n\n\n"
            "@then('{n:d} apples are left')\ndef _(context, n):\n    assert context.n == n, f'{context.n} apples instead of {n}'\n",
        }
    )
    place.run("behave", "--no-color", "--no-timings")
    go_on(place)


@case("robot-keywords", "test", "robot")
def robot(place: Place) -> None:
    cases = "".join(
        f"Transfer {n} Is Booked\n    ${{left}}=    Evaluate    1000 - {n}\n    Should Be Equal As Integers    ${{left}}    {1000 - n}\n\n"
        for n in range(220)
    )
    odd = "Refund Is Booked Once\n    ${left}=    Evaluate    250 - 75 - 75\n    Should Be Equal As Integers    ${left}    175\n\n"
    place.write(
        {
            "bank.robot": f"*** Test Cases ***\n{cases[: len(cases) // 2].rpartition('Transfer')[0]}{odd}{cases.replace('Transfer', 'Deposit')}"
        }
    )
    place.run("robot", "--output", "NONE", "--log", "NONE", "--report", "NONE", "bank.robot")


@case("lit-tests", "test", "lit", "filecheck")
def lit(place: Place) -> None:
    place.write(
        {
            "lit.cfg": "import lit.formats\nconfig.name = 'fold'\nconfig.test_format = lit.formats.ShTest()\nconfig.suffixes = ['.txt']\n"
        }
    )
    for n in range(220):
        place.write({f"fold/add-{n:03}.txt": f"RUN: expr {n} + 1 | filecheck %s\nCHECK: {n + 1}\n"})
    place.write({"fold/mul-077.txt": "RUN: expr 7 '*' 11 | filecheck %s\nCHECK: {{^}}78{{$}}\n"})
    place.run("lit", "-v", "-a", "-j", "2", "--order=lexical", ".")
