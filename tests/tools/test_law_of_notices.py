"""The law of notices: what is shown and what is named as missing are together everything, and stay so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from previews import expanded, of_stream, reader, spilled, whole, whole_field, writes

from spillstore import Store
from spillstore_tools.preview.clean import clean
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.stored import render

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
@settings(max_examples=25)
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
