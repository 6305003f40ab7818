"""The law of notices: what is shown and what is named as missing are together everything, and stay so."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from previews import expanded, of_stream, reader, spilled, whole, whole_field, writes
from support import examples

from spillstore import Store
from spillstore_tools.output.rendering import render
from spillstore_tools.output.spill import Spill
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.facts import Background

ONE_VIEW = ("default", "acode", "omni")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("root"), free_disk_floor=0, artifacts_per_minute=0)
    with store.session("test") as session:
        yield session
    store.check()


def hold(name, rendered, written, artifact):
    """The law itself."""
    streams = {stream: of_stream(written, stream) for stream in ("stdout", "stderr")}
    read = reader(artifact) if artifact is not None else None
    if name == "lace":
        for stream, data in streams.items():
            assert clean(data) == whole_field(rendered, stream, read)
        return
    if artifact is None:  # nothing is missing, or (pipe) what is missing is not kept

        def read(omission):
            assert name == "pipe"
            return streams[omission.stream][omission.start : omission.end]

    if name in ONE_VIEW:
        expected = artifact.read_bytes(0, artifact.info.size) if artifact else None
        if expected is None:
            assert not rendered.omissions
            return
        assert clean(expected) == whole(rendered, read)
    else:
        assert clean(streams["stdout"]) + clean(streams["stderr"]) == whole(rendered, read)


@pytest.mark.parametrize("name", NAMES)
@given(drawn=writes, exit_code=st.sampled_from((None, 0, 127)))
@examples(25)
def test_what_is_shown_and_what_is_missing_are_everything(session, name, drawn, exit_code):
    """Markers replaced by what they name, own words left out: the whole cleaned output; and made again, the same text."""
    written = expanded(drawn)
    spill, rendered = spilled(
        session, name, written, command="make", is_command=exit_code is not None, exit_code=exit_code
    )
    hold(name, rendered, written, spill.artifact)
    if spill.artifact is not None:
        assert rendered == render(spill.artifact, profile_named(name))
        spill.artifact.delete()


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@given(drawn=writes, cuts=st.lists(st.integers(0, 8), max_size=4))
@example(  # nothing to tell, for an escape sequence is held back, inside a line whose beginning was told
    drawn=[(b"\0", 1, "stdout"), (b"\x1b]8;;never ended", 1, "stdout"), (b"caf\xe9 \xff\xfe", 40, "stdout")],
    cuts=[1],
)
@examples(20)
def test_news_is_everything_once(session, name, drawn, cuts):
    """Piece after piece of news goes on where the one before ended, to the end; each holds to the law on its own."""
    written = expanded(drawn)
    spill = Spill(lambda: session, profile_named(name), source="bash", command="x", is_command=True)
    places = sorted({min(cut, len(written)) for cut in cuts} | {len(written)})
    told, at = [], 0
    for number, place in enumerate(places):
        for data, stream in written[at:place]:
            spill.write(data, stream)
        at = place
        if number == 0:
            spill.look(Background(pid=7, state="running", timeout=100))
        else:
            low = spill._scans.news.origin
            rendered = spill.news(Background(pid=7, state="running"))
            told.append((low, spill._scans.news.origin, rendered))
    low = spill._scans.news.origin
    spill.finish(exit_code=0, runtime=1)
    spill._progress.final = None  # at the end ``pipe`` would show all of it again
    told.append((low, None, spill.news(Background(pid=7, state="ended"), exit_code=0)))
    data = spill.artifact.read_bytes(0, spill.artifact.info.size)
    read = reader(spill.artifact)
    for low, high, rendered in told:
        end = len(data) if high is None else high.byte
        assert low.line == data[: low.byte].count(b"\n") + 1
        field = rendered.fields.get("combinedPreview", rendered.text)
        plain = dataclasses.replace(rendered, text=field, fields={})
        assert whole(plain, read) == clean(data[low.byte : end])
        assert all(low.byte <= each.start <= each.end <= end for each in rendered.omissions)
    assert [high.byte for _, high, _ in told[:-1]] == [low.byte for low, _, _ in told[1:]]
