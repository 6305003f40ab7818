"""A store on a server that wants a password: it works with it, and nobody is told of it but libpq."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import subprocess
import sys
from urllib.parse import quote, urlsplit

import pytest
from support import NO_FLOORS

from spillstore import Store, aio
from spillstore.exceptions import StorageError
from spillstore.observers import Observer, subscribe
from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.truncation import TruncationProcessor

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]
SHOWS = 'echo "[$SPILLSTORE_ROOT] [${PGPASSWORD-none}]"'


@pytest.fixture(scope="module")
def tcp_server(servers):
    """A server whose clients need a password."""
    server = servers.new(tcp=True)
    yield server
    server.stop()


@pytest.fixture
def url(tcp_server):
    """The URL of a new database, with the password."""
    name = tcp_server.new_database()
    yield tcp_server.url(name)
    tcp_server.drop_database(name)


@pytest.fixture
def password(url):
    return urlsplit(url).password


@pytest.fixture
def without(url, password):
    """The URL without the password."""
    return url.replace(f":{password}", "")


@pytest.fixture
def passfile(tmp_path, monkeypatch, password):
    """A file of passwords that libpq knows of."""
    file = tmp_path / "pgpass"
    file.write_text(f"127.0.0.1:*:*:postgres:{password}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))


@pytest.fixture(autouse=True)
def no_floor(monkeypatch):
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")


@pytest.mark.parametrize("make", [Store, aio.Store])
def test_it_is_known_by_its_url(make, url, without, password):
    """Root and path are None; the name has stars, the address nothing in the place of the password."""
    store = make(url, **NO_FLOORS)
    shown = url.replace(password, "***")
    assert (None, shown, without) == (store.root, store.name, store.address)
    plain = getattr(store, "plain", store)
    assert f"Store({shown!r})" == repr(plain)
    with plain.session("s", "p") as session:
        artifact = session.put("hello\n")
        assert (None, without, None) == (session.root, session.address, session.path)
        assert password not in repr(session) + repr(artifact) + repr(artifact.info)
        assert b"hello\n" == artifact.read_bytes(0, 6)


def test_nothing_that_is_seen_has_the_password(url, password, caplog):
    """Neither events, nor what is stored, nor what is logged, nor what is observed."""
    seen = []

    class Seeing(Observer):
        def on_event(self, event):
            seen.append(repr(event))

    caplog.set_level(logging.DEBUG)
    stop = subscribe(Seeing())
    with Store(url, **NO_FLOORS).session("s") as session:
        session.put("x\n" * 9999)
        bash_sync(session, command="seq 1 99999")
        session.check()
        seen += [repr(event) for event in session.events()]
    stop()
    assert len(seen) > 5
    assert not [each for each in [*seen, caplog.text] if password in each]


@pytest.mark.parametrize("word", ["@/?:%&=#", "a'b\\\\ c\"", "ä\n€"])
def test_any_password_opens_the_server(tcp_server, url, word):
    """Percent-encoded, whatever it holds: as a part of the URL, and as a parameter."""
    role, word = f"role_{secrets.token_hex(4)}", f"{secrets.token_hex(4)}{word}"
    quoted = word.replace("'", "''")
    tcp_server.execute(f"CREATE ROLE {role} SUPERUSER LOGIN PASSWORD '{quoted}'")
    parts = urlsplit(url)
    where, hidden = f"{parts.hostname}:{parts.port}{parts.path}", quote(word, safe="")
    for number, named in enumerate(
        (f"postgresql://{role}:{hidden}@{where}", f"postgresql://{where}?user={role}&password={hidden}")
    ):
        store = Store(named, **NO_FLOORS)
        with store.session(f"s{number}") as session:
            session.put("x\n")
        assert hidden not in store.name + store.address
    tcp_server.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize("name", ["wrong password", "no password", "no database"])
def test_errors_have_no_password(url, password, without, monkeypatch, name):
    """Whatever libpq and the server say."""
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    wrong = password[::-1]
    given = {
        "wrong password": url.replace(password, wrong),
        "no password": without,
        "no database": url + "_none",
    }[name]
    with pytest.raises(StorageError) as caught:
        Store(given, busy_timeout=1.0).session("s")
    error = caught.value
    while error is not None:
        assert not [word for word in (password, wrong) if word in f"{error} {error!r}"]
        error = error.__cause__ or error.__context__


def test_a_command_reads_what_an_earlier_one_printed(url, without, passfile):
    """The tool ``bash`` leads it to the session, by a URL without password; the file of passwords opens the server."""
    with Store(url, **NO_FLOORS).session("chat", "web") as session:
        result = bash_sync(session, command="seq 1 30000")
        assert result.artifact_id is not None
        found = bash_sync(session, command=f"{SHOWS}; spillstore cat {result.artifact_id} | grep -c 7")
    expected = sum("7" in str(number) for number in range(1, 30001))
    assert f"[{without}] [none]\n{expected}\n[exit code 0]\n" == found.text


@pytest.mark.long
def test_a_preview_names_the_server(url, without, password, passfile, tmp_path):
    """The commands of a notice find the session from any folder, and are shown to a model: no password is in them."""
    with Store(url, **NO_FLOORS).session("two words", project="p q") as session:
        content = (
            TruncationProcessor(session)
            .process("".join(f"line {n} of words\n" for n in range(5000)), "read_file")
            .content
        )
    assert f"--root {without}" in content.replace("'", "")
    assert password not in content
    shown = content.partition("in a shell: ")[2].partition("]\n")[0]
    command = shown.split(", ")[0]
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if name != "SPILLSTORE_ROOT"} | {"PATH": path}
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.endswith("line 99 of words\n")


def test_the_tools_tell_no_password(url, password):
    """A model that lists, reads and searches sees none."""
    with Store(url, **NO_FLOORS).session("s") as session:
        toolbox = Toolbox(session)
        artifact = session.put("one\ntwo\n")
        for name, arguments in (
            ("list_artifacts", {}),
            ("artifact_info", {"artifact_id": artifact.id}),
            ("get_artifact", {"artifact_id": artifact.id}),
            ("get_artifact", {"artifact_id": "art_none"}),
            ("search_artifact", {"artifact_id": artifact.id, "pattern": "two"}),
        ):
            assert password not in str(toolbox.call_sync(name, arguments))


@pytest.mark.parametrize("by", ["option", "variable"])
def test_the_command_line(cli, url, password, without, by):
    """Each command works, and prints no password; the options that it tells to type name the server without it."""
    named = ["--root", url] if by == "option" else []
    env = {} if named else {"SPILLSTORE_ROOT": url}
    printed = []

    def call(*command, stdin=None):
        first, *rest = command
        answer = cli(first, *named, *rest, env=env, stdin=stdin)
        printed.append(answer.text + answer.err)
        return answer

    assert 0 == call("run", "--", "sh", "-c", f"{SHOWS}; seq 1 99999").code
    assert f"[{without}] [none]" in printed[-1]
    assert 0 == call("put", "-", stdin=b"one\ntwo\n").code
    for command in (
        "list",
        "sessions",
        "show @last",
        "cat @last",
        "tail @last",
        "search two",
        "info",
        "stats",
    ):
        assert (command, 0) == (command, call(*command.split()).code)
    assert re.search(rf"Store: +{re.escape(without)}", printed[-2]) is not None
    assert json.loads(call("info", "--json").text)["path"] is None
    assert 125 == call("show", "--session", "none").code
    assert f" in {url.replace(password, '***')}; " in printed[-1]
    for command in (
        "verify",
        "audit",
        "diff @1 @2",
        "replay @last",
        "rm @last",
        "gc --dry-run",
        "clean --yes",
    ):
        assert call(*command.split()).code in {0, 1, 125}, command
    assert not [text for text in printed if password in text]


@pytest.mark.long
def test_a_server_of_the_model_context_protocol(url, password):
    """Its answers and what it says on stderr have no password."""
    calls = [
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ("tools/call", {"name": "bash", "arguments": {"command": f"{SHOWS}; seq 1 99999"}}),
        ("resources/list", {}),
    ]  # fmt: skip
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(calls)
    ]
    program = [*PROGRAM, "mcp", "--root", url]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()
        answers, waited_for = [], set(range(len(calls)))
        while waited_for:  # whoever ends the input earlier ends the calls
            answers.append(process.stdout.readline())
            waited_for.discard(json.loads(answers[-1]).get("id"))
        rest, errors = process.communicate()
    assert process.returncode == 0
    assert "art_" in "".join(answers)
    assert password not in "".join(answers) + rest + errors
