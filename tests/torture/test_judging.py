"""The judges of damages and of what is salvaged see what they are for: answers that would be wrong are found."""

from __future__ import annotations

import types

import campaigns
import pytest
import salvages
from campaign_salvage import Campaign
from damaging import MAY_BE_OLDER, _Asked, beginnings

from spillstore import Store

pytestmark = pytest.mark.slow
LINES = b"".join(b"line %09d\n" % number for number in range(8000))


@pytest.mark.parametrize(
    ("what", "answer", "other"),
    [
        ("all", LINES[:500], LINES[1:500]),
        ("stderr", b"", b"x"),
        ("lines", LINES[30:90], LINES[15:90]),
        ("a middle", LINES[66_000:66_050], LINES[:50]),
        ("tail", LINES[15:60], LINES[:60]),
        ("tail", LINES[15:60], b"other\n"),
        ("search", "[(96, 1425)]", "[(97, 1440)]"),
        ("count", 8000, 8001),
    ],
)
def test_an_answer_of_no_beginning_is_found(what, answer, other):
    """By each question."""
    is_one = beginnings(LINES)[what]
    assert (True, False) == (is_one(answer), is_one(other))


class Damaged:
    """A session that lists what it is told to."""

    def __init__(self, ids, sound):
        self.ids, self.sound = ids, sound

    def infos(self, limit):
        return [types.SimpleNamespace(id=each) for each in self.ids]

    def artifact(self, name):
        raise salvages.SpillstoreError("damaged")

    def events(self):
        return []

    def check(self):
        if not self.sound:
            raise salvages.SpillstoreError("damaged")

    def close(self):
        pass


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("kind", ["flip", "stale", "cells", "removed", "moved", "replayed"])
def test_an_older_state_and_a_loss_are_found_where_they_must_be_told(keyed, kind, monkeypatch):
    """Of what is listed that was deleted before, and what is not listed."""

    def judged(ids, *, sound):
        built = {
            "whole": {"a": {}, "b": {}},
            "gone": ["gone"],
            "going": [],
            "young": {},
            "grew": [],
            "empty": ["b"],
            "older": {},
        }
        monkeypatch.setattr(Store, "open_file", lambda *_, **__: Damaged(ids, sound))
        one = _Asked(built, kind, keyed, [])
        one.ask(None, None, "file")
        return one.wrong != []

    may = kind in MAY_BE_OLDER[keyed]
    assert judged(["a", "b", "gone"], sound=True) == (not may)
    assert judged(["a", "b", "gone"], sound=False) == (not may and kind != "stale")
    assert judged(["a"], sound=True) == (keyed or kind not in {"cells", "removed"})
    assert judged(["b"], sound=True)
    assert not judged(["a"], sound=False)


def test_other_bytes_missing_chunks_and_what_is_not_told_are_found():
    """Of a file that is whole, if something else is said to have been in it."""
    with campaigns.workplace("judging") as folder, Campaign(folder, 1) as campaign:
        base, built = campaign._base(False, 16)
        states = salvages.known(base, keyed=False)
        places = {name: salvages.Places(base / name) for name in ("whole.db", "older.whole")}

        def judged(number, change):
            work = folder / f"{number}"
            path = work / "from" / "_" / "s" / "session.db"
            path.parent.mkdir(parents=True)
            path.write_bytes(places["whole.db"].raw)
            whole = {key: (size, list(own)) for key, (size, own) in states["whole"].items()}
            change(whole)
            known = {"whole": whole, "older": {}, "live": {}}
            one = salvages._Salvaged(known, "flip", False, places, [*built["young"]])
            one.salvage(work, path, by_name=True)
            return "\n".join(one.wrong)

        first = next(key for key, (_, own) in states["whole"].items() if len(own) == 1)

        def other(whole):
            ((at, text),) = whole[first][1]
            whole[first] = (whole[first][0], [(at, b"?" + text[1:])])

        def longer(whole):
            ((at, text),) = whole[first][1]
            whole[first] = (whole[first][0], [(at, text + b"?")])

        def one_more(whole):
            whole["art_1_0000000000000000"] = (1, [])

        assert "" == judged(0, lambda whole: None)
        assert "that were not stored there" in judged(1, other)
        assert "said to be missing" in judged(2, longer)
        assert "said to be complete, without" in judged(3, one_more)
        places["whole.db"].chunks[first, 10**6] = set()
        assert "is whole, and was not got" in judged(4, lambda whole: None)
