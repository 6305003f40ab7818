"""Each line, each byte at a border and each moment of small artifacts of many chunks, with a hole and without, against plain bytes."""

from __future__ import annotations

import bisect

import pytest
from support import NO_FLOORS, ManualClock

from spillstore import Store
from spillstore.exceptions import DroppedRangeError, RangeTooLargeError

STEP = 1 / 16  # seconds between writes: each is a segment of its own
VIEWS = {"combined": None, "stdout": 0, "stderr": 1}
LIMITS = {"whole": 8_000, "rolled": 1_600, "rolled to little": 300}
WAYS = [(view, holes) for view in VIEWS for holes in ("raise", "skip")]


class Model:
    """The bytes of a view as they were written, with the moment of each, and what was dropped of them."""

    def __init__(self, written, stream, hole, dropped):
        own = [(byte, at) for kind, data, at in written for byte in data if stream in {None, kind}]
        self.data = bytes(byte for byte, _ in own)
        self.times = [at for _, at in own]
        self.hole = None if hole is None else range(hole.start, hole.end)
        self.lost = None if hole is None else range(hole.first_line, hole.last_line + 1)
        self.dropped = dropped
        ends = [at + 1 for at, byte in enumerate(self.data) if byte == 10]
        self.starts = [0, *ends]
        self.lines = len(ends) + (not self.data.endswith(b"\n") and bool(self.data))

    def of(self, start, end):
        """What there is of ``[start, end)``."""
        gone = self.hole or range(0)
        return bytes(self.data[at] for at in range(start, min(end, len(self.data))) if at not in gone)

    def start_of(self, line):
        return self.starts[line - 1] if line <= len(self.starts) else len(self.data)

    def line_of(self, byte):
        return bisect.bisect_right(self.starts, byte) if byte < len(self.data) else len(self.starts)

    def borders(self):
        """Positions that matter: chunks, lines, the hole, the ends."""
        chosen = {0, len(self.data), *self.starts[::17], *range(0, len(self.data), 100)}
        chosen |= {self.hole.start, self.hole.stop} if self.hole else set()
        return sorted({at + near for at in chosen for near in (-1, 0, 1) if at + near >= 0})


@pytest.fixture(scope="module", params=LIMITS)
def stored(request, tmp_path_factory):
    """An artifact whose lines of both streams have 1 to 40 bytes, and all that was written."""
    clock, written = ManualClock(), []
    with Store(tmp_path_factory.mktemp("positions") / "root", clock=clock, **NO_FLOORS).session(
        "test"
    ) as session:
        with session.create(policy="roll", limit=LIMITS[request.param], redact=False) as writer:
            for number in range(200):
                stream = int(number % 5 == 3 or 90 <= number < 96)
                end = b"" if number % 17 == 5 or number == 199 else b"\n"
                data = b"%d" % number + b"x" * (number * 7 % 37) + end
                writer.write(data, stream=("stdout", "stderr")[stream])
                writer.flush()
                written.append((stream, data, round(number * STEP * 1e6)))
                clock.advance(STEP)
        yield session.artifact(writer.id), written


def model_of(stored, view):
    artifact, written = stored
    hole = artifact.info.view("combined").hole
    dropped = None
    if hole is not None:
        times = [at for _, data, at in written for _ in data]
        dropped = times[hole.start], times[hole.end - 1]
    return Model(written, VIEWS[view], artifact.info.view(view).hole, dropped)


def got(ask, *place, **options):
    try:
        return ask(*place, **options)
    except DroppedRangeError:
        return DroppedRangeError


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_any_lines(stored, view, holes):
    """From any line to any other: their bytes, all that is left of them, or the error that says what is not."""
    artifact, model = stored[0], model_of(stored, view)
    total = model.lines
    assert (len(model.data), total) == (artifact.info.view(view).size, artifact.info.view(view).lines)
    firsts = sorted(
        {
            *range(1, total + 3, 9),
            *(model.lost or ()),
            *((model.lost[0] - 1, model.lost[-1] + 1) if model.lost else ()),
            total,
            total + 1,
        }
    )
    for first in filter(None, firsts):
        for last in {first, first + 1, first + 9, total - 1, total, total + 5}:
            if last < first:
                continue
            expected = model.of(model.start_of(first), model.start_of(last + 1)) if first <= total else b""
            if (
                holes == "raise"
                and model.lost
                and first <= model.lost[-1]
                and min(last, total) >= model.lost[0]
                and first <= total
            ):
                expected = DroppedRangeError
            assert expected == got(artifact.read_lines, first, last, stream=view, holes=holes), (
                first,
                last,
            )
            if isinstance(expected, bytes) and len(expected) > 1:
                assert expected == artifact.read_lines(
                    first, last, stream=view, holes=holes, max_bytes=len(expected)
                )
                with pytest.raises(RangeTooLargeError):
                    artifact.read_lines(first, last, stream=view, holes=holes, max_bytes=len(expected) - 1)


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_the_last_lines(stored, view, holes):
    """As many as are wanted, or all."""
    artifact, model = stored[0], model_of(stored, view)
    for count in (0, 1, 2, 3, 10, 50, model.lines - 1, model.lines, model.lines + 1):
        first = max(1, model.lines - count + 1)
        expected = model.of(model.start_of(first), len(model.data)) if count else b""
        if holes == "raise" and count and model.lost and first <= model.lost[-1]:
            expected = DroppedRangeError
        assert expected == got(artifact.tail, count, stream=view, holes=holes), count


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_any_bytes(stored, view, holes):
    """From any border of a chunk, a line or the hole to any other, and a byte beside each."""
    artifact, model = stored[0], model_of(stored, view)
    borders = model.borders()
    for number, start in enumerate(borders):
        for end in {*borders[number : number + 3], *borders[number::31], borders[-1]}:
            expected = model.of(start, end)
            clipped = min(end, len(model.data))
            if (
                holes == "raise"
                and model.hole
                and start < clipped
                and start < model.hole.stop
                and clipped > model.hole.start
            ):
                expected = DroppedRangeError
            assert expected == got(artifact.read_bytes, start, end, stream=view, holes=holes), (
                start,
                end,
            )
            if isinstance(expected, bytes) and len(expected) > 1:
                with pytest.raises(RangeTooLargeError):
                    artifact.read_bytes(start, end, stream=view, holes=holes, max_bytes=len(expected) - 1)


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_where_any_line_begins_and_any_byte_stands(stored, view, holes):
    """The first byte of a line, the line of a byte; the end, and the line that would come next, for what lies behind it."""
    artifact, model = stored[0], model_of(stored, view)
    size, hole = len(model.data), model.hole or range(0)

    def place(position, *, moved):
        if position in hole:
            return (
                DroppedRangeError if holes == "raise" else (hole.stop if moved else position, model.lost[-1])
            )
        return position, model.line_of(position)

    for line in range(1, len(model.starts) + 3):
        start = model.start_of(line)
        expected = place(start, moved=start != hole.start)
        if model.hole and hole.start < start < hole.stop and holes == "skip":
            expected = hole.stop, model.line_of(hole.stop)
        found = got(artifact.locate, line=line, stream=view, holes=holes)
        assert expected == (found if found is DroppedRangeError else (found.byte, found.line)), line
    for byte in [*model.borders(), size + 100]:
        found = got(artifact.locate, byte=byte, stream=view, holes=holes)
        assert place(min(byte, size), moved=False) == (
            found if found is DroppedRangeError else (found.byte, found.line)
        ), byte


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_any_moment(stored, view, holes):
    """What came from one moment to another, and the first byte of one or later; what was dropped then is told."""
    artifact, model = stored[0], model_of(stored, view)
    moments = [number * STEP for number in (0, 1, 2, 20, 50, 80, 90, 96, 120, 150, 190, 198, 199, 200, 300)]
    if model.dropped:
        moments += [
            at / 1e6 + near for at in model.dropped for near in (-STEP, 0, STEP) if at / 1e6 + near >= 0
        ]
    gone = model.hole or range(0)
    for start in moments:
        for end in moments:
            if end < start:
                continue
            low, high = round(start * 1e6), round(end * 1e6)
            expected = bytes(
                byte
                for at, (byte, time) in enumerate(zip(model.data, model.times, strict=True))
                if low <= time < high and at not in gone
            )
            if (
                holes == "raise"
                and model.dropped
                and low < high
                and low <= model.dropped[1]
                and high > model.dropped[0]
                and model.hole
            ):
                expected = DroppedRangeError
            assert expected == got(artifact.read_time, low / 1e6, high / 1e6, stream=view, holes=holes), (
                low,
                high,
            )
        low = round(start * 1e6)
        expected = next(
            (at for at, time in enumerate(model.times) if time >= low and at not in gone), len(model.data)
        )
        found = artifact.locate(
            time=low / 1e6, stream=view, holes="skip"
        ).byte  # or where the hole before it begins
        assert model.of(expected, len(model.data)) == model.of(found, len(model.data))


@pytest.mark.parametrize(("view", "holes"), WAYS)
def test_all_of_it_in_turn(stored, view, holes):
    """Lines, chunks, segments and a file give each byte once and in order, from any place on."""
    artifact, model = stored[0], model_of(stored, view)
    if holes == "raise" and model.hole:
        for iterate in (artifact.lines, artifact.chunks, artifact.segments):
            with pytest.raises(DroppedRangeError):
                list(iterate(stream=view))
        return
    whole = model.of(0, len(model.data))
    gone = model.hole or range(0)
    parts = [whole] if not model.hole else [model.data[: gone.start], model.data[gone.stop :]]
    assert [line for part in parts for line in part.splitlines(keepends=True)] == list(
        artifact.lines(stream=view, holes=holes)
    )
    assert whole == artifact.open(stream=view, holes=holes).read()
    places = [at for at in model.borders() if at <= len(model.data)]
    for start, end in zip(places, [*places[9:], *[None] * 9], strict=True):
        expected = model.of(start, len(model.data) if end is None else end)
        assert expected == b"".join(artifact.chunks(start, end, stream=view, holes=holes))
        found = list(artifact.segments(start, end, stream=view, holes=holes))
        assert expected == b"".join(segment.data for segment in found)
        kept = [
            model.times[at] for at in range(start, len(model.data) if end is None else end) if at not in gone
        ]
        assert kept == [round(segment.time * 1e6) for segment in found for _ in segment.data]


@pytest.mark.parametrize("view", VIEWS)
def test_the_error_says_what_was_dropped_and_what_is_there(stored, view):
    """Bytes and lines of the hole, those before it and behind it, and which lines are whole, in the text too."""
    artifact, model = stored[0], model_of(stored, view)
    if not model.hole:
        assert model.data == artifact.read(stream=view)
        return
    with pytest.raises(DroppedRangeError) as caught:
        artifact.read(stream=view)
    error, size = caught.value, len(model.data)
    first, last = model.lost[0], model.lost[-1]
    assert (model.hole.start, model.hole.stop) == error.dropped_bytes
    assert (first, last) == error.dropped_lines
    assert ((0, model.hole.start), (model.hole.stop, size)) == (error.before, error.after)
    whole = [f"{low}-{high}" for low, high in ((1, first - 1), (last + 1, model.lines)) if low <= high]
    assert (
        f"Whole lines there are still {' and '.join(whole)};" in str(error)
        if whole
        else "No line is still whole" in str(error)
    )
    assert f"lines {first}-{last}, bytes {model.hole.start}-{model.hole.stop} ({view})" in str(error)
    torn = model.starts[first - 1], model.start_of(last + 1)
    assert torn[0] <= model.hole.start < model.start_of(first + 1)
    assert model.start_of(last) < model.hole.stop <= torn[1] or model.hole.stop == torn[1]
