"""How tests make previews, and how they put what was left out back in."""

from __future__ import annotations

from hypothesis import strategies as st

from spillstore_tools.output.spill import Spill
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile as profile_named

OWN_TIME = 1_000_000  # what a caller says of the run time, which no artifact has
PIECES = (
    b"plain line\n",
    b"warning: something odd\n",
    b"ERROR: it failed at step 3\n",
    b"\x1b[31mred\x1b[0m and plain\n",
    b"\x1b]0;title\x07",
    b"\x1b]8;;never ended",
    b"10%\r20%\r",
    b"\r\n",
    b"\r",
    b"\n",
    b"ab\b\bc",
    b"caf\xe9 \xff\xfe",
    b"\xe4\xb8\x96",
    b"\xe4\xb8",
    "世界 é\u0301 🇩🇪👩\u200d👧\n".encode(),
    b"x" * 97,
    b"\x1b[",
    b"\0\0\x01",
    b'{"a": [1, 2, 3]}\n',
    b"<a><b>1</b></a>\n",
)
piece = st.one_of(st.sampled_from(PIECES), st.binary(max_size=12))
repeats = st.sampled_from((1, 1, 2, 3, 40, 700))
many = st.sampled_from((1, 1, 2, 40, 700, 4000))  # enough for the profiles that show 50 KB
writes = st.lists(st.tuples(piece, many, st.sampled_from(("stdout", "stderr"))), max_size=8)


def expanded(drawn):
    """What ``writes`` has drawn, each piece as often as it says."""
    return [(data * times, stream) for data, times, stream in drawn]


def spilled(session, profile, written, **options):
    """What was written to a spill and what it shows."""
    profile = profile_named(profile) if isinstance(profile, str) else profile
    ending = {name: options.pop(name) for name in ("exit_code", "runtime") if name in options}
    spill = Spill(
        session if callable(session) else lambda: session,
        profile,
        source=options.pop("source", "bash"),
        **options,
    )
    for data, stream in written:
        spill.write(data, stream)
    return spill, spill.finish(**ending)


def of_stream(written, stream):
    """The bytes of one stream."""
    return b"".join(data for data, name in written if name == stream)


def whole(rendered, read, terminator=b"\n"):
    """The text without our own words, and with what ``read(omission)`` gives in the place of every marker."""
    swaps = [(at, length, "") for at, length in rendered.notes]
    swaps += [
        (each.at, each.length, clean(read(each), terminator))
        for each in rendered.omissions
        if not rendered.fields
    ]
    text, at = "", 0
    for start, length, instead in sorted(swaps, key=lambda swap: swap[:2]):
        assert start >= at, "notes and markers do not overlap"
        text += rendered.text[at:start] + instead
        at = start + length
    return text + rendered.text[at:]


def whole_field(rendered, view, read, terminator=b"\n"):
    """Likewise for one text of a structured result."""
    field, text, at = rendered.fields[f"{view}Preview"], "", 0
    for each in rendered.omissions:
        if each.stream == view:
            text += field[at : each.at] + clean(read(each), terminator)
            at = each.at + each.length
    return text + field[at:]


def reader(artifact):
    """Reads omissions, and makes sure that lines bring the same as bytes where they say it exactly."""

    def read(omission):
        data = artifact.read_bytes(omission.start, omission.end, stream=omission.stream)
        assert len(data) == omission.end - omission.start
        if omission.exact_lines:
            lines = artifact.read_lines(omission.first_line, omission.last_line, stream=omission.stream)
            assert lines == data
        return data

    return read
