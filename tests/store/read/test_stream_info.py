"""What is told of each view: its size, its lines, what was dropped of it, and what ends a line."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import spillstore
import spillstore_tools
from spillstore.exceptions import DroppedRangeError, RangeError, RangeTooLargeError
from spillstore.info import HoleInfo, StreamInfo

VIEWS = ("combined", "stdout", "stderr")


def printed(session, seed, *, newline="lf", ended=True):
    """An artifact that has rolled, unless little came on purpose, and what each view was, byte for byte."""
    rng = random.Random(seed)
    writer = session.create(source="x", limit=24_000, policy="roll", newline=newline)
    whole = dict.fromkeys(VIEWS, b"")
    share = rng.choice((0.0, 0.02, 0.5, 1.0))
    end = b"\r" if newline == "cr" else b"\n"
    for number in range(rng.choice((10, 150, 250))):
        stream = "stderr" if rng.random() < share else "stdout"
        data = b"%d %s" % (number, b"x" * rng.choice((0, 150, 500))) + end
        whole[stream] += data
        whole["combined"] += data
        writer.write(data, stream=stream)
        writer.flush()  # so that both streams stand as they came
    if ended:
        writer.close()
    return session.artifact(writer.id), whole, end


def refused(artifact, view, size):
    """What the refusal of a read of everything says was dropped: bytes and lines; None where nothing was."""
    try:
        artifact.read_bytes(0, size, stream=view, max_bytes=0)
    except DroppedRangeError as error:
        return error.dropped_bytes, error.dropped_lines
    except RangeTooLargeError:
        pass
    return None


@pytest.mark.parametrize("ended", [True, False], ids=["sealed", "open"])
@pytest.mark.parametrize("newline", ["lf", "cr"])
@pytest.mark.parametrize(
    "seed", [seed if seed < 2 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(5)]
)
def test_each_view_is_told_as_it_is(plain_store, seed, newline, ended):
    """Sizes and lines are those of what came, and a hole is what reads of that view refuse, down to its torn line."""
    with plain_store.session("s") as session:
        artifact, whole, end = printed(session, seed, newline=newline, ended=ended)
        info = artifact.info
        assert info.terminator == end
        for view in VIEWS:
            told = info.view(view)
            assert (told.size, told.lines) == (len(whole[view]), whole[view].count(end))
            hole = told.hole
            expected = refused(artifact, view, told.size)
            assert expected == (hole and ((hole.start, hole.end), (hole.first_line, hole.last_line)))
            if hole is not None:
                assert hole.torn == (whole[view][hole.end - 1 : hole.end] != end)
        assert info.hole == info.view().hole
        assert (info.view("stdout"), info.view("stderr")) == (info.stdout, info.stderr)


def test_views_lose_what_was_theirs(plain_store):
    """Of a stream that is dropped in part, and of one that is all there, the hole is told in their own bytes and lines."""
    with plain_store.session("s") as session:
        with session.create(source="x", limit=24_000, policy="roll") as writer:
            writer.write(b"first\n", stream="stderr")
            for number in range(5000):
                writer.write(b"line %d\n" % number)
        info = session.artifact(writer.id).info
        assert info.stderr == info.view("stderr") == StreamInfo(size=6, lines=1, hole=None)
        hole, combined = info.view("stdout").hole, info.hole
        assert isinstance(hole, HoleInfo)
        assert (combined.start - hole.start, combined.end - hole.end) == (6, 6)
        assert (combined.first_line - hole.first_line, combined.last_line - hole.last_line) == (1, 1)


def test_a_text_in_json_has_views_too(plain_store):
    """All of it is stdout, LF ends its lines whatever ends those of the artifact, and nothing of it is gone."""
    with plain_store.session("s") as session:
        info = session.put('{"log": "one\\ntwo"}').string("$.log").info
        assert info.view() == info.view("stdout") == StreamInfo(size=7, lines=2)
        assert (info.view("stderr").size, info.terminator) == (0, b"\n")


@pytest.mark.parametrize("name", ["all", "", None, 1, []])
def test_there_are_three_views(plain_store, name):
    """Another name is refused with those that there are."""
    with plain_store.session("s") as session:
        info = session.put("x").info
        with pytest.raises(RangeError, match="stream must be combined, stdout or stderr, not"):
            info.view(name)


def test_nothing_else_works_it_out():
    """No module provokes a refusal to learn of a hole, or tells views and line ends apart by itself."""
    sources = {
        path: path.read_text(encoding="utf-8")
        for package in (spillstore, spillstore_tools)
        for path in Path(package.__file__).parent.rglob("*.py")
    }
    again = re.compile(
        r"\bmax_bytes=0\)|info\.newline == |\"stdout\": \(?info\.stdout\.|info\.stdout if \w+ == \"stdout\""
    )
    assert [path.name for path, text in sources.items() if again.search(text)] == []
