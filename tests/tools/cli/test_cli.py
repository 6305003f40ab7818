"""What all commands have in common: help, errors, exit codes, what is imported when."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import click
import pytest
from support import each_of

from spillstore import Store
from spillstore_tools.cli import group

COMMANDS = group.list_commands(click.Context(group))
ABOUT_AGENTS = {"install", "uninstall", "doctor", "hook"}  # which find the store by variables
ABOUT_SERVERS = {"upgrade", "grant"}  # which are given its URL
HEAVY = {
    "sqlalchemy",
    "alembic",
    "mcp",
    "rich",
    "hypothesis",
    "asyncio",
    "opentelemetry",
    "prometheus_client",
    "starlette",
    "uvicorn",
}
STORE = {"spillstore.store", "sqlite3", "zstandard", "blake3", "platformdirs"}
PREVIEWS = {"spillstore_tools.profiles", "spillstore_tools.output.spill", "spillstore_tools.output.rendering"}
PREVIEWS |= {
    "spillstore_tools.config",
    "msgspec",
    "yaml",
    "re2",
    "spillstore_tools.preview.strategies",
}

# What a reader does without.
WRITING = {
    "spillstore.redaction",
    "spillstore.writer",
    "spillstore.session.new_artifact",
    "spillstore.session.check",
}
WRITING |= {f"spillstore.ingest.{name}" for name in ("ingest", "pipeline", "row_writer", "removal", "spool")}
# What only few outputs, sessions or errors need.
SELDOM = {
    f"spillstore.engine.sqlite.{name}" for name in ("full_disk", "leftovers", "partial_sessions", "upgrade")
}
SELDOM |= {
    "spillstore_tools.preview.code.cut_units",
    "spillstore_tools.preview.strategies.smart_layout",
    "spillstore_tools.preview.structured.replace",
    "spillstore_tools.profiles.binary",
    "spillstore_tools.profiles.structured",
    "re2",
    "difflib",
}
SELDOM |= {
    "spillstore.search.native_search",
    *(
        f"spillstore.info.{name}"
        for name in ("checks", "collected", "exports", "queries", "salvaged", "searches")
    ),
    "spillstore.read.verify",
    "spillstore.read.export",
    "random",
    "yaml",
}


def probe(script: str, *, code: int = 0) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


@each_of("name", COMMANDS)
def test_help_has_an_example(name):
    """Every command explains itself with a call that one can copy."""
    help_text = group.get_command(click.Context(group), name).get_help(click.Context(group))
    assert "Example:\n" in help_text
    assert f"spillstore {name}" in help_text or f"| spillstore {name}" in help_text


@each_of("name", COMMANDS)
def test_every_option_is_explained(name):
    """No option is without its help, and all commands agree on where artifacts are."""
    command = group.get_command(click.Context(group), name)
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []
    # The store as a whole has no session.
    where = {"project", "root"} if name == "gc" else {"session", "project", "root"}
    if name in ABOUT_AGENTS | ABOUT_SERVERS:
        where = set()
    assert where <= {option.name for option in options}


@each_of("name", sorted(set(COMMANDS) - {"cat", "hook", "view"}))
def test_every_command_speaks_json(name):
    """All but ``cat``, which writes bytes, ``hook``, which speaks nothing else, and ``view``, for people, can answer a program."""
    command = group.get_command(click.Context(group), name)
    assert "as_json" in {option.name for option in command.params}


def test_help_lists_all_commands(cli):
    """``--help`` names every command."""
    answer = cli("--help")
    assert answer.code == 0
    assert all(f"\n  {name} " in answer.text for name in COMMANDS)


def test_version(cli):
    """``--version`` is the library's."""
    from spillstore import __version__

    assert cli("--version").text == f"spillstore {__version__}\n"
    for arguments in (("--version", "-v"), ("-v", "--version")):
        first, scanner, python = cli(*arguments).text.splitlines()
        assert first == f"spillstore {__version__}"
        assert scanner.startswith(("redaction: native scanner, ", "redaction: Python, since "))
        assert python.startswith("Python 3.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command"),
        (["rm"], "Missing argument"),
        (["list", "--nonsense"], "No such option"),
        (["list", "--limit", "0"], "limit"),
        (["list", "--since", "yesterday"], "for example 2h"),
        (["run"], "Missing argument"),
        (["show", "@last", "--lines", "5-2"], "for example --lines 2-5"),
        (["show", "@last", "--lines", "1", "--bytes", "1"], "not both"),
        (["info", "@last", "--session", "a\nb"], "control character"),
    ],
)
def test_misuse(cli, arguments, words):
    """A call that cannot be understood is 2, with the way out on stderr and nothing on stdout."""
    answer = cli(*arguments)
    assert (answer.code, answer.out) == (2, b"")
    assert "spillstore: " in answer.err
    assert words in answer.err


def test_no_command_shows_help(cli):
    """Called alone it shows its help, and that is no success."""
    answer = cli()
    assert answer.code == 2
    assert "Commands:" in answer.err


@pytest.mark.parametrize(
    "name",
    sorted(
        set(COMMANDS)
        - {"run", "put", "gc", "mcp", "mcp-proxy", "ui", "view", "completion", "sessions"}
        - ABOUT_AGENTS
        - ABOUT_SERVERS
    ),
)
def test_missing_session_is_an_error_and_is_not_made(cli, root, name):
    """Only ``run``, ``put`` and the servers make a session; the others say how to name the right one, ``view`` in a terminal."""
    given = {
        "list": [],
        "audit": [],
        "stats": [],
        "clean": [],
        "copy": ["--to", "there"],
        "salvage": ["--to", "there"],
        "export": ["@last", "out"],
        "search": ["@last", "x"],
        "query": ["@last", "$"],
    }
    arguments = given.get(name, ["@last"])
    answer = cli(name, *arguments)
    assert (answer.code, answer.out) == (125, b"")
    assert answer.err.startswith("spillstore: no session 'default'")
    assert "--session" in answer.err
    assert not root.exists()


@pytest.mark.parametrize("name", ["info", "show", "cat", "tail", "verify", "export", "rm"])
def test_missing_artifact(cli, put, name):
    """An id that is not there is an error that says where to look."""
    put(b"x")
    answer = cli(name, "art_1_abc", *(["out"] if name == "export" else []))
    assert (answer.code, answer.out) == (125, b"")
    assert "spillstore list" in answer.err


def test_last_in_an_empty_session(cli, store):
    """``@last`` of a session without artifacts is an error."""
    store.session("default").close()
    answer = cli("cat", "@last")
    assert (answer.code, answer.err) == (125, "spillstore: session 'default' holds no artifact yet\n")


def test_last_and_prefixes(cli, put):
    """An artifact is named by its id, by the beginning of one that is unique, or as the newest."""
    first, second = put(b"first"), put(b"second")
    common = next(first[:size] for size in range(len(first)) if first[size] != second[size])
    assert cli("cat", "@last").out == b"second"
    assert cli("cat", first).out == b"first"
    assert cli("cat", first[: len(common) + 1]).out == b"first"
    answer = cli("cat", common)
    assert (answer.code, answer.out) == (125, b"")
    assert first in answer.err
    assert second in answer.err
    assert cli("cat", "").code == 125


def test_many_candidates_are_not_all_named(cli, put):
    """An ambiguous beginning names a few candidates and says that there are more."""
    for _ in range(8):
        put(b"x")
    answer = cli("info", "art_")
    assert answer.err.count("art_") == 6
    assert ", ..." in answer.err


@pytest.mark.parametrize("by_option", [True, False])
def test_session_project_and_root(cli, tmp_path, monkeypatch, by_option):
    """Session, project and root come from options, or from the environment."""
    places = {"session": "s 1", "project": "web/ui", "root": str(tmp_path / "other")}
    with Store(places["root"], free_disk_floor=0).session(places["session"], places["project"]) as session:
        artifact = session.put(b"here")
    options = []
    for name, value in places.items():
        if by_option:
            options += [f"--{name}", value]
        else:
            monkeypatch.setenv(f"SPILLSTORE_{name.upper()}", value)
    assert cli("cat", artifact.id, *options).out == b"here"


def test_reading_changes_nothing(cli, root, put):
    """Commands that read leave no claim, no event, no change behind."""
    put(b"one\ntwo\n")
    files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and "shm" not in path.name}
    for name in ("list", "info", "show", "cat", "tail", "verify"):
        assert cli(name, *([] if name == "list" else ["@last"])).code == 0
    assert {path: path.read_bytes() for path in files} == files


def test_file_that_is_no_session(cli, root):
    """A damaged store is an error in one line."""
    folder = root / "_" / "default"
    folder.mkdir(parents=True)
    (folder / "session.db").write_bytes(b"nonsense" * 1000)
    answer = cli("list")
    assert answer.code == 125
    assert answer.err.startswith("spillstore: ")
    assert answer.err.count("\n") == 1
    (folder / "session.db").unlink()
    folder.rmdir()


def test_setting_that_makes_no_sense(program):
    """A wrong variable is named."""
    answer = program("list", env={"SPILLSTORE_QUEUE_BYTES": "lots"})
    assert (answer.code, answer.out) == (125, b"")
    assert "SPILLSTORE_QUEUE_BYTES" in answer.err


def test_a_defect_is_not_hidden(cli, put):
    """What nobody foresaw is raised, with its traceback, instead of being explained away."""
    from spillstore_tools.cli import _explain

    with pytest.raises(ZeroDivisionError):
        _explain(ZeroDivisionError())


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [["show", "@last"], ["cat", "@last"], ["tail", "@last"], ["list"], ["info", "@last"], ["verify"]],
)
def test_reading_imports_nothing_heavy(put, arguments):
    """Commands that read need neither SQLAlchemy nor Alembic nor anything of that size, and nothing of previews."""
    put(b"text\n")
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n"
        f"    print(end.code, sorted({HEAVY | PREVIEWS!r} & set(sys.modules)), file=sys.stderr)"
    )
    assert probe(script) == "0 []\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [["show", "@last"], ["cat", "@last"], ["tail", "@last"], ["list"], ["info", "@last"]]
)
def test_reading_imports_nothing_of_writing(put, arguments):
    """What shows an artifact loads neither the write path nor redaction, nor what repairs or deletes sessions."""
    put(b"text\n")
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n"
        f"    print(end.code, sorted({WRITING | SELDOM!r} & set(sys.modules)), file=sys.stderr)"
    )
    assert probe(script) == "0 []\n"


@pytest.mark.long
def test_a_short_output_imports_nothing_for_long_ones(put):
    """``run`` of a command that prints a line loads no code that cuts output, finds its errors or repairs sessions."""
    put(b"text\n")  # there is a session
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        "try:\n    main(['run', '--', 'echo', 'hi'])\nexcept SystemExit as end:\n"
        f"    print(end.code, sorted({SELDOM!r} & set(sys.modules)), file=sys.stderr)"
    )
    assert probe(script) == "0 []\n"


@pytest.mark.long
def test_run_starts_its_command_before_it_imports_the_store(root):
    """At the moment at which it and its watchdog are started, no store, profile or setting is loaded; an audit hook looks."""
    script = (
        "import json, sys\n"
        "def look(event, arguments):\n"
        "    if event == 'subprocess.Popen':\n"
        f"        print(json.dumps(sorted({HEAVY | STORE | PREVIEWS!r} & set(sys.modules))), file=sys.stderr)\n"
        "sys.addaudithook(look)\n"
        "from spillstore_tools.cli import main\n"
        "main(['run', '--', 'true'])"
    )
    assert list(map(json.loads, probe(script).splitlines())) == [[], []]


@pytest.mark.long
def test_run_without_a_file_never_imports_yaml(root, tmp_path):
    """The reader of configuration files is loaded where there is one, by ``run`` as by ``put``."""
    (tmp_path / "big").write_bytes(b"line\n" * 10_000)
    for arguments in (["run", "--", "true"], ["put", f"{tmp_path}/big", "--profile", "acode"]):
        script = (
            f"import os, sys\nos.chdir({str(tmp_path)!r})\nfrom spillstore_tools.cli import main\n"
            f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n"
            "    print(end.code, 'yaml' in sys.modules, file=sys.stderr)"
        )
        assert probe(script) == "0 False\n"


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["run", "--", "true"], ["put", "big"]])
def test_what_is_not_configured_imports_no_configuration(root, tmp_path, arguments):
    """Where no file and no variable says anything, neither ``msgspec`` nor the checks of settings are loaded."""
    (tmp_path / "big").write_bytes(b"line\n" * 10_000)
    script = (
        f"import os, sys\nos.chdir({str(tmp_path)!r})\nfrom spillstore_tools.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n"
        "    print(end.code, sorted({'msgspec', 'spillstore_tools.config.schema'} & set(sys.modules)), file=sys.stderr)"
    )
    assert probe(script) == "0 []\n"


def test_every_source_of_the_configuration_is_seen(monkeypatch, tmp_path):
    """A file above the working directory, each variable that ``load`` reads, and a folder that is gone."""
    from spillstore_tools.config import sources
    from spillstore_tools.configured import is_configured

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert not is_configured()
    for name in (*sources._SHORT, f"{sources._PREFIX}REDACTION__ENABLED"):
        with monkeypatch.context() as inner:
            inner.setenv(name, "1")
            assert is_configured()
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text("")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert is_configured()
    (tmp_path / "below").rmdir()
    assert is_configured()


@pytest.mark.parametrize("source", ["run", "execute_command", "read_file"])
@pytest.mark.parametrize("lines", [3, 3000])
def test_without_a_configuration_the_preview_is_that_of_the_defaults(store, source, lines):
    """The profile ``default`` shows the same for no configuration and for one that nothing sets."""
    from spillstore_tools.config import load
    from spillstore_tools.output.spill import Spill
    from spillstore_tools.profiles.default import Default

    texts = []
    for name, configuration in (
        ("a", None),
        ("b", load(environment={})),
    ):  # or one says that it is the other again
        with store.session(name) as session:
            spill = Spill(session.__enter__, Default(configuration), source=source, is_command=True)
            spill.write(b"".join(b"line %d, error: none\n" % number for number in range(lines)))
            text = spill.finish(exit_code=0).text
            texts.append(text.replace(spill.artifact_id or "-", "ID"))
    assert texts[0] == texts[1]


@pytest.mark.long
def test_the_process_ends_as_the_interpreter_would(root):
    """``main`` without arguments waits for threads that are no daemons, calls what ``atexit`` has, and prints all."""
    script = (
        "import atexit, sys, threading, time\n"
        "from spillstore_tools.cli import main\n"
        "atexit.register(lambda: print('at exit', file=sys.stderr))\n"
        "late = lambda: (time.sleep(0.2), print('thread', file=sys.stderr))\n"
        "threading.Thread(target=late).start()\n"
        "sys.argv[1:] = ['run', '--', 'sh', '-c', 'exit 3']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "thread\nat exit\n")
    assert done.stdout.endswith("exit code 3]\n")


def test_the_options_know_every_profile():
    """The names that ``--profile`` takes, which are known before profiles are imported, are those of the profiles."""
    from spillstore_tools import profiles
    from spillstore_tools.cli.support.profile import PROFILES

    assert PROFILES == profiles.NAMES


@pytest.mark.long
def test_help_imports_nothing_of_the_store():
    """Help is as quick as click is."""
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n"
        f"    print(sorted({HEAVY | STORE | PREVIEWS!r} & set(sys.modules)), file=sys.stderr)"
    )
    assert probe(script) == "[]\n"


def test_closed_stdout(put, program):
    """What cannot be printed because the caller closed stdout is a failure, in one line; with nothing to print it is none."""
    put(b"text\n")
    line = f'"{sys.executable}" -m spillstore_tools.cli show @last >&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (125, "spillstore: stdout: Bad file descriptor\n")
    put(b"")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_closed_stderr(put, program):
    """Who closes stderr loses messages alone: results are printed, and the exit code is what it would be."""
    put(b"text\n")
    lines = {
        "show @last": (0, "text\n"),
        "verify": (0, "session default is whole: 1 artifact, 1 chunk, 5 bytes\n"),
        "run -- sh -c 'echo out; echo err >&2; exit 7'": (7, "out\nerr\n[exit code 7]\n"),
        "show nosuch": (125, ""),
        "show --lines x": (2, ""),
    }
    for line, expected in lines.items():
        whole = f'"{sys.executable}" -m spillstore_tools.cli {line} 2>&-'
        done = subprocess.run(["sh", "-c", whole], capture_output=True, text=True, check=False)
        shown = re.sub(r"\[artifact art_\w+; ", "[", done.stdout)
        assert (line, done.returncode, shown) == (line, *expected)


@pytest.mark.long
def test_numbers_of_closed_streams(tmp_path, root):
    """The numbers of streams that the caller has closed are never those of a file of ours."""
    script = tmp_path / "closed.py"
    script.write_text(
        "import os, sys\n"
        "from spillstore_tools import cli\n"
        "def open_ones(arguments):\n"
        "    with open(sys.argv[1], 'w') as file:\n"
        "        print(file.fileno(), [os.fstat(number).st_rdev == os.stat(os.devnull).st_rdev for number in range(3)], file=file)\n"
        "    return 3\n"
        "cli._invoke = open_ones\n"
        "cli.main()\n"
    )
    told = tmp_path / "told"
    line = f'"{sys.executable}" "{script}" "{told}" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    number, closed = told.read_text().split(" ", 1)
    assert (done.returncode, closed) == (3, "[True, True, True]\n")
    assert int(number) > 2


@pytest.mark.long
def test_full_stdout(put):
    """A result that cannot be written is a failure, in one line that names stdout: the store's disk is not full."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    put(b"text\n")
    for name in ("cat", "show", "info"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "spillstore_tools.cli", name, "@last"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stderr) == (125, "spillstore: stdout: No space left on device\n")


def test_terminal_that_does_not_speak_utf8(put, program):
    """A character that the terminal cannot show becomes a question mark."""
    put("naïve ✓\n".encode())
    answer = program("show", "@last", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (answer.code, answer.out) == (0, b"na?ve ?\n")


@pytest.mark.long
def test_the_storage_path_of_the_configuration_is_the_root(tmp_path):
    """Where nobody names a root, the one of the project's configuration holds the session, from any folder below."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text(
        "tools:\n  truncation:\n    artifacts:\n      storage_path: .kept/here\n"
    )
    below = tmp_path / "src"
    below.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")}

    def call(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "spillstore_tools.cli", *arguments],
            cwd=below,
            env=environment,
            input=b"hello\n",
            capture_output=True,
            check=True,
        ).stdout

    call("put", "-")
    assert (tmp_path / ".kept" / "here" / "_" / "default" / "session.db").exists()
    assert call("cat", "@last") == b"hello\n"


def test_a_root_that_is_empty_is_refused(cli):
    """A variable that was never set must not lead to another store, least of all where something is deleted."""
    for name in ("list", "gc"):
        answer = cli(name, "--root", "")
        assert (name, answer.code, "'--root': it is empty" in answer.err) == (name, 2, True)


def test_a_folder_to_write_to_that_is_empty_is_refused(cli):
    """It would be an error of the store, which tells how a program names one."""
    for name in ("copy", "salvage"):
        answer = cli(name, "s", "--to", "")
        assert (name, answer.code, "'--to': it is empty; name a folder" in answer.err) == (name, 2, True)


def test_a_root_below_the_home(program, tmp_path):
    """``~`` of an option or a variable that no shell has read is the home, for the command that is run, too."""
    kept = tmp_path / "home" / "kept"
    env = {"HOME": str(tmp_path / "home")}
    told = program("run", "--quiet", "--root", "~/kept", "--", "sh", "-c", "echo $SPILLSTORE_ROOT", env=env)
    assert told.out.startswith(f"{kept}\n".encode())
    assert json.loads(program("sessions", "--json", env={**env, "SPILLSTORE_ROOT": "~/kept"}).out)["sessions"]
    assert ["_"] == [each.name for each in kept.iterdir() if each.is_dir() and each.name == "_"]
