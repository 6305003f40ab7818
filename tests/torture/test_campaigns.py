"""Each campaign, a short fixed part of it; that a round is the same again; and that each sees what it is for."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import campaigns
import pytest
from cases import Case
from support import ROOT, SEED
from victims import Fault, Victims

pytestmark = pytest.mark.slow
PARTS = [(name, number, share) for name in campaigns.names() for number, share in campaigns.named(name).short]


@pytest.fixture(scope="module")
def campaign_of():
    """Makes a campaign, once."""
    made = {}
    with contextlib.ExitStack() as stack:

        def make(name):
            if name not in made:
                folder = stack.enter_context(campaigns.workplace(name))
                try:
                    made[name] = stack.enter_context(campaigns.named(name)(folder, SEED))
                except campaigns.NotHereError as error:
                    pytest.skip(str(error))
            return made[name]

        yield make


@pytest.mark.parametrize(
    ("name", "number", "share"), PARTS, ids=[f"{name}-{number}" for name, number, _ in PARTS]
)
def test_a_short_part(campaign_of, name, number, share):
    """Nothing is found, and something was done."""
    done = campaigns.Done(rounds=1)
    campaign_of(name).play(number, done, share)
    assert [] == done.found
    assert done.figures.total()


@pytest.fixture(scope="module")
def victims():
    with campaigns.workplace("victims") as folder:
        try:
            victims = Victims(folder)
        except campaigns.NotHereError as error:
            pytest.skip(str(error))
        with victims:
            yield victims


@pytest.fixture
def folder():
    with campaigns.workplace("scene") as folder:
        yield folder


def scene_of(victims, folder):
    done = campaigns.Done()
    return Case(victims, folder / "scene", done, "here", {"settings": {}, "keyed": False}), done


def test_what_was_acknowledged_and_is_lost_is_found(victims, folder):
    """An artifact that never was, and a file that is gone."""
    case, done = scene_of(victims, folder)
    case.play("write")
    case.said.append({"sealed": "art_1_0000000000000000", "session": "s", "name": "tiny", "size": 7})
    case.judge()
    assert 2 == len(done.found)
    assert "an artifact is not there" in done.found[0]
    case, done = scene_of(victims, folder)
    case.play("write")
    (case.root / "root" / "_" / "s" / "session.db").unlink()
    case.judge()
    assert any("session s is not there" in each for each in done.found)


def test_other_bytes_are_found(victims, folder):
    """An artifact that is not what was put."""
    case, done = scene_of(victims, folder)
    case.play("seal")
    next(each for each in case.said if each.get("name") == "large")["name"] = "tiny"
    case.judge()
    assert any("other bytes than were put" in each for each in done.found)


KINDS = (
    "write",
    "sync",
    "truncate",
    "create",
    "open",
    "unlink",
    "rename",
    "mkdir",
    "mmap",
    "read",
    "lock",
    "stat",
    "allocate",
    "list",
)


def test_each_kind_of_call_is_counted(victims, folder):
    """Of what a store does, some of each kind, on files below its folder alone."""
    for number, kind in enumerate(KINDS):
        (folder / str(number)).mkdir()
        case, _ = scene_of(victims, folder / str(number))
        counted = case.play("delete", Fault(str(case.root), (kind,))).calls["counted"]
        assert (kind, True) == (kind, counted > 0)
    case, _ = scene_of(victims, folder)
    assert 0 == case.play("delete", Fault(str(folder / "elsewhere"), KINDS)).calls["counted"]


def hangs(say, calls):
    """Never comes to its end."""
    say(begun_to="hang")
    time.sleep(1000)


def dies(say, calls):
    """Is ended by a signal."""
    os.kill(os.getpid(), signal.SIGBUS)


def test_a_process_that_hangs_or_dies_is_found(victims, folder):
    """With the place where it hung."""
    case, done = scene_of(victims, folder)
    case.heard(victims.run("test_campaigns.hangs", seconds=3))
    case.heard(victims.run("test_campaigns.dies"))
    assert 2 == len(done.found)
    assert "ended by hang" in done.found[0]
    assert "in hangs" in done.found[0]
    assert "ended by signal 7" in done.found[1]


def test_it_says_what_there_is_and_how_to_go_on():
    """The command names all campaigns; what it plays ends with its figures and where to go on."""
    command = [sys.executable, str(ROOT / "tests" / "torture")]
    listed = subprocess.run([*command, "--list"], capture_output=True, text=True, check=True).stdout
    assert campaigns.names() == [line.split()[0] for line in listed.splitlines()]
    wanted = [*command, "damage", "--seed", "5", "--first", "2", "--rounds", "1"]
    played = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout
    assert "campaign damage: --seed 5 --first 2 --rounds 1" in played
    assert "to go on: damage --seed 5 --first 3" in played
    assert "| damage, seed 5, rounds 2 to 2 |" in played
    assert "; 0 found |" in played
