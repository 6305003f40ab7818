"""Fairness: what is told of shares, that who comes short is found, and each scene for a moment."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import fairness
import pytest

from spillstore import Store

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scene", fairness.SCENES)
def test_a_short_part(scene, root):
    """Everybody gets a share, nobody an error, and all that was stored is there."""
    found = fairness.play(scene, str(root), seconds=0.3)
    assert [] == fairness.findings(str(root), found)
    wanted = [call for processes, threads, call in fairness.SCENES[scene] for _ in range(processes * threads)]
    assert wanted == [done.call for done in found]
    assert len(set(wanted)) == len(fairness.rows(scene, "here", found))


@pytest.fixture
def address(tmp_path):
    """A store with a session in which two outputs were put."""
    with Store(tmp_path / "store").session("s") as session:
        for text in ("one", "two"):
            session.put(text, source="put")
    return str(tmp_path / "store")


def done(*counts, call="put"):
    return [fairness.Done(call, [0.001] * count, []) for count in counts]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((100, 100, 100), 0), ((100, 150, 30), 0), ((100, 100, 100, 3), 1), ((100, 0, 0), 2), ((0, 0), 2)],
)
def test_who_comes_short_is_found(address, counts, expected):
    """Less than a tenth of the mean, or nothing; each kind of call is judged alone."""
    assert expected == fairness.starved(list(counts))
    short = [
        each
        for each in fairness.findings(address, done(1, 1) + done(*counts, call="read"))
        if "short" in each
    ]
    assert [f"read: {expected} of {len(counts)} came short: {sorted(counts)}"] * (expected > 0) == short


def test_what_was_stored_and_is_not_there_is_found(address):
    """Two are there, and three were acknowledged; an error is one, too."""
    assert [] == fairness.findings(address, done(1, 1))
    assert ["3 artifacts were stored, 2 are there"] == fairness.findings(address, done(1, 2))
    failed = fairness.Done("read", [0.1], ["StorageError: no"])
    assert ["read: StorageError: no"] == fairness.findings(address, [*done(1, 1), failed])


class Late:
    """A session that makes its caller wait for the first call."""

    def __init__(self, waits: float) -> None:
        self._waits = waits

    def put(self, _text, source):
        """Store nothing."""
        time.sleep(self._waits)
        self._waits = 0.001


class Broken:
    """A session in which nothing can be stored."""

    def put(self, _text, source):
        """Fail."""
        raise OSError("no room")


def played(*sessions):
    """What participants have done, each a thread with a session of its own."""
    together = fairness.Together(["put"] * len(sessions), 0.1, fairness.PATIENCE)
    with ThreadPoolExecutor(len(sessions)) as pool:
        return list(
            pool.map(
                lambda number: fairness.participate(together, number, sessions[number], ""),
                range(len(sessions)),
            )
        )


def test_the_others_go_on_while_somebody_is_behind():
    """So a machine on which one begins late makes no finding: it gets its share before all end."""
    assert 0 == fairness.starved([len(each.waits) for each in played(Late(0.001), Late(0.001), Late(0.5))])


def test_an_error_is_told_and_ends_its_participant():
    """The others come to their end."""
    one, other = played(Broken(), Late(0.001))
    assert ["OSError: no room"] == one.errors
    assert not one.waits
    assert not other.errors
