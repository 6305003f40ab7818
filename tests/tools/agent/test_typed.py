"""What is misspelled is found by a type checker, and at run time by an error that names what was meant."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import spillstore
from spillstore import Store, aio
from spillstore.exceptions import InvalidSettingError
from spillstore.settings import DURATIONS, SIZES, Duration, Settings, SettingsOptions, Size
from spillstore_tools import profiles
from spillstore_tools.agent.bash import BashOptions, BashTool, bash, bash_sync
from spillstore_tools.agent.command_launcher import CommandOptions
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.cli.support.profile import PROFILES
from spillstore_tools.output.truncation import TruncationProcessor

pytestmark = pytest.mark.everywhere

ROOT = Path(spillstore.__file__).parents[2]

RIGHT = """
from spillstore import Page, Session, Store, aio
from spillstore.info import Event
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.profiles import profile
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.truncation import TruncationProcessor

Store("o", artifact_limit="64MiB", session_quota=2**30, retention=None)
aio.Store("o", durability="full")


def right(session: Session) -> None:
    Toolbox(session, profile="pipe", cwd="/")
    BashTool(session, profile=profile("lace"), source="sh")
    TruncationProcessor(session, profile="acode")


async def right_too(session: aio.Session) -> None:
    await session.put("x", limit="1MiB")
    async with session.create(source="bash", limit="1MiB") as writer:
        writer.exit_code = 1
        count: int = await writer.write("x")
    writer = await session.create()
    artifact: aio.Artifact = await session.artifact(writer.id)
    data: bytes = await artifact.read_lines(1, last=count, stream="stderr")
    data = b"".join([line async for line in artifact.lines(max_bytes=100)])
    lines: int = (await artifact.info).lines
    page: Page[aio.Artifact] = await session.artifacts(limit=lines)
    names: list[str] = [found.id async for found in session.artifacts(source="bash")]
    reader: aio.Reader = await artifact.open()
    data = await reader.read(10)
    with session.acting("model", otherwise="user"):
        found: list[Event] = await artifact.events("read", limit=len(page.items) + len(names) + len(data))
    project: str | None = session.project
    assert project, found
"""
WRONG = """
from spillstore import Session, Store, aio
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.truncation import TruncationProcessor


def wrong(session: Session) -> None:
    Store("o", artifact_limt=3)
    Store("o", durability="high")
    Store("o", artifact_limit=1.5)
    aio.Store("o", redactt=False)
    Toolbox(session, profil="pipe")
    Toolbox(session, profile="pip")
    BashTool(session, cmd="/")
    TruncationProcessor(session, profile="nope")


async def wrong_too(session: aio.Session) -> None:
    await session.put("x", sauce="y")
    await session.create(sauce="y")
    await session.artifacts(tool="bash")
    session.project = str("p")
    session.cleanup_on_exit = str("yes")
    artifact = await session.artifact(str("a"), stream="stdout")
    await artifact.read_lines(1, 2, strem="stdout")
    await artifact.read_lines(1, 2, stream="both")
    await artifact.read_lines(str(1), 2)
    text: str = bytes(await artifact.read(max_bytes=9))
    text = await artifact.read(max_bytes=9)
    artifact.lines(max_byte=9)
    text = [line async for line in artifact.lines(max_bytes=9)][0]
    artifact.id()
"""


@pytest.mark.slow
def test_a_type_checker_finds_what_is_misspelled(tmp_path):
    """Mypy accepts every right call, and refuses each wrong one, by its line."""
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    path = ":".join(str(ROOT / folder) for folder in ("store", "migrations", "tools"))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file="),
            *("--cache-dir", str(tmp_path / "cache"), "right.py", "wrong.py"),
        ],
        cwd=tmp_path,
        env={"MYPYPATH": path, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.split(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    wrong = [
        number
        for number, line in enumerate(WRONG.splitlines(), 1)
        if line.startswith("    ") and "(" in line and not line.startswith("def")
    ]
    assert [f"wrong.py:{number}" for number in wrong] == sorted(set(found), key=lambda at: int(at[9:])), (
        done.stdout + done.stderr
    )


def test_the_settings_are_listed_once():
    """What a type checker knows of the settings is what ``Settings`` has: the same names, the same types, and None."""
    types = get_type_hints(Settings)
    expected = {
        name: (Size if name in SIZES else Duration if name in DURATIONS else kind) | NoneType
        for name, kind in types.items()
    }
    assert expected == get_type_hints(SettingsOptions)
    assert {name for name in SIZES if types[name] is int} == SIZES


def test_the_profiles_are_listed_once():
    """The names that a type checker knows are those that there are, and those of the command line."""
    assert Literal == get_origin(profiles.ProfileName)
    assert get_args(profiles.ProfileName) == profiles.NAMES == PROFILES


@pytest.mark.parametrize("function", [bash, bash_sync])
def test_the_options_of_bash_are_listed_once(function):
    """``bash`` takes what ``BashTool`` takes, and what belongs to one call, the time-out among it."""
    of_a_call = ["session", "command", "timeout", "check_pid", "kill_pid", "tool_call_id"]
    parameters = inspect.signature(function).parameters
    assert [*of_a_call, "options"] == list(parameters)
    assert "Unpack[CommandOptions]" == parameters["options"].annotation
    assert {*CommandOptions.__annotations__, "timeout"} == set(BashOptions.__annotations__)


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda _: Store("o", artifact_limt=3), "no setting is called 'artifact_limt'; did you mean artifact_limit?"),
        (lambda _: aio.Store("o", redactt=False), "did you mean redact?"),
        (lambda _: Store("o", zzz=3), "no setting is called 'zzz'; there are: artifact_limit, "),
        (lambda session: Toolbox(session, profil="pipe"), "called 'profil'; did you mean profile?"),
        (lambda session: BashTool(session, on_outputs=print), "did you mean on_output?"),
        (lambda session: Toolbox(session, profile="pip"), "no profile is called 'pip'; did you mean pipe?"),
        (lambda session: TruncationProcessor(session, profile="nope"), "there are: default, acode, opencode"),
        (lambda _: BashTool(None), "a tool needs a session, as Store.session gives it, .* not None"),
        (lambda _: Toolbox("chat-42"), "not 'chat-42'"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_an_error_that_says_the_right_one(plain_store, make, shown):
    """An option that there is not raises an error of ours with the nearest name, or with all there are."""
    with plain_store.session("s") as session, pytest.raises(InvalidSettingError, match=shown):
        make(session)


@pytest.mark.parametrize(
    ("given", "size"), [("64MiB", 64 * 1024**2), ("1g", 1024**3), ("65536", 65536), (65536, 65536)]
)
def test_sizes_are_arguments_as_in_the_environment(tmp_path, given, size):
    """A size may be text in every place where the environment takes it, and for one artifact."""
    store = Store(tmp_path, **dict.fromkeys(SIZES, given))
    assert dict.fromkeys(SIZES, size) == {name: getattr(store.settings, name) for name in SIZES}
    with Store(tmp_path, free_disk_floor=0).session("s") as session:
        assert size == session.put("x", limit=given).info.limit
        with session.create(limit=given) as writer:
            pass
        assert size == session.artifact(writer.id).info.limit


@pytest.mark.parametrize(
    ("given", "seconds"), [("1h", 3600.0), ("90m", 5400.0), ("7200", 7200.0), (1.5, 1.5)]
)
def test_durations_are_arguments_as_in_the_environment(tmp_path, given, seconds):
    """A duration may be text in every place where the environment takes it."""
    store = Store(tmp_path, **dict.fromkeys(DURATIONS, given))
    assert dict.fromkeys(DURATIONS, seconds) == {name: getattr(store.settings, name) for name in DURATIONS}


def test_what_is_no_size_is_refused(tmp_path):
    """A text that is no size or no duration names the setting and what would be one."""
    with pytest.raises(InvalidSettingError, match=r"artifact_limit must be a size such as .* not 'much'"):
        Store(tmp_path, artifact_limit="much")
    with pytest.raises(InvalidSettingError, match=r"retention must be a duration .* not 'a week'"):
        Store(tmp_path, retention="a week")
    with (
        Store(tmp_path, free_disk_floor=0).session("s") as session,
        pytest.raises(InvalidSettingError, match=r"limit must be a size .* not '3 apples'"),
    ):
        session.put("x", limit="3 apples")
