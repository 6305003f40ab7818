"""What is fuzzed, a part each: a function of bytes that compares with a plain reference or asserts a law, and texts to begin with.

A target raises what must not be, or returns. ``fuzz_parts.py`` plays them, guided by what a text makes run or without a guide.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import tempfile
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock
from xml.parsers import expat

import msgspec
from law import cleaned

from spillstore import Store
from spillstore.engine.postgres import address
from spillstore.exceptions import IntegrityError, SpillstoreError
from spillstore.format import chunk_codec, grams, segment_map
from spillstore.format.chunk_codec import ChunkRow
from spillstore.format.chunker import Chunker
from spillstore.format.digests import Algorithm, new_digest
from spillstore.format.segment_map import Segment
from spillstore.redaction import counted as redacted
from spillstore.search.cursor import Cursor
from spillstore_tools.cli import _invoke
from spillstore_tools.config import ConfigurationError, TruncationConfiguration, load
from spillstore_tools.mcp.proxy.listing import OwnToolNames
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.server.stdio_messages import InvalidMessage, request_of
from spillstore_tools.mcp.server.stdio_messages import _decoded as decoded_line
from spillstore_tools.mcp.wire import raw_json
from spillstore_tools.mcp.wire.lines import OversizedLine, read_lines
from spillstore_tools.mcp.wire.messages import ToolCall, error_code, id_in, id_of, members_of
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.structured.cuts import NotStructured, apply_cuts
from spillstore_tools.preview.structured.json_cuts import cut_json
from spillstore_tools.preview.structured.xml_cuts import cut_xml
from spillstore_tools.preview.text.clean import clean, clean_length, is_clean
from spillstore_tools.profiles import profile as profile_named

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS: dict[str, Callable[[bytes], None]] = {}
SEEDS: dict[str, list[bytes]] = {}
WORDS: dict[str, list[bytes]] = {}  # that a guide puts in
SETTINGS = {"free_disk_floor": 0, "artifacts_per_minute": 0, "redact": False, "audit": "writes"}
ALGORITHM = Algorithm("blake3")
START = chunk_codec.prefix("art_1_0123456789abcdef", "lf")


def target(*seeds: bytes, words: str = ""):
    """Make a function a target, with texts to begin with and words of its language."""

    def named(function):
        name = function.__name__.replace("_", "-")
        TARGETS[name], SEEDS[name], WORDS[name] = function, list(seeds), words.encode().split()
        return function

    return named


class Source:
    """Takes small values off the beginning of bytes; what is left is the text."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        """The next byte; 0 behind the end."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def number(self, size: int = 2) -> int:
        """The next bytes as a number."""
        return int.from_bytes(bytes(self.byte() for _ in range(size)), "little")

    def rest(self) -> bytes:
        """All that is left."""
        return self._data[self._at :]


@functools.cache
def _session(*, redact=False):
    """A session in memory that ends with the process."""
    store = Store("memory:", **(SETTINGS | {"redact": redact}))
    session = store.session("redacted" if redact else "fuzz")  # a session that is open keeps its settings
    atexit.register(session.close)
    return session


def _text(data, how):
    """Bytes as text; sometimes with halves of pairs."""
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8", "surrogatepass" if how & 64 else "strict")
    return data.decode("utf-8", "replace")


def _restored(result, text, cuts):
    for cut in cuts:
        assert result[cut.start : cut.start + len(cut.text)] == cut.text
        result = result[: cut.start] + text[cut.start : cut.end] + result[cut.start + len(cut.text) :]
    return result


# --- the stored format --------------------------------------------------------------------------------------

_MAP = segment_map.encode(
    [Segment(n % 2, 5 - 2 * (n % 2), 7 + n) for n in range(6)], 7, chunk_codec.compressor()
)
_LONG_MAP = segment_map.encode([Segment(n % 2, 2, n) for n in range(40)], 0, chunk_codec.compressor())


def _row(size, stdout, segments, data, **more):
    columns = dict.fromkeys(ChunkRow._fields, 0)
    return ChunkRow(
        **{**columns, "size": size, "stdout_size": stdout, "stderr_size": size - stdout, "digest": b"", "segments": segments, "data": data,
           "grams": None, **more}
    )  # fmt: skip


@target(
    b"\x18\x00\x0f\x00" + _MAP,
    b"\x50\x00\x28\x00" + _LONG_MAP,
    b"\x05\x00\x05\x00",
    b"\x05\x00\x02\x00\x00\x01\x00\x00\x00" + bytes(11),
)
def segment_maps(data):
    """Any bytes are a map that says the same when it is written again, or an ``IntegrityError``."""
    source = Source(data)
    size, stdout = source.number(), source.number()
    row = _row(size, min(stdout, size), source.rest(), b"")
    try:
        found = chunk_codec.segments_of(row)
    except IntegrityError:
        return
    assert size == sum(each.length for each in found) or not row.segments
    if row.segments:
        again = _row(size, row.stdout_size, segment_map.encode(found, 0, chunk_codec.compressor()), b"")
        assert len(found) == 1 or found == chunk_codec.segments_of(again)


@target(bytes(range(60)) * 3, b"\x01\x00\x02\x03" * 40)
def segment_lists(data):
    """Segments come back as they were, and are the coarser ones if their map would be too large."""
    source, found, now = Source(data), [], 0
    while (rest := source.rest()) and len(found) < 3000:
        kind = source.byte()
        now += source.number(1 + kind % 7) if kind & 8 else kind & 7
        found.append(Segment(kind >> 4 & 1, 1 + source.number(1 + (kind >> 5 & 1)) % 65536, now))
        assert len(rest) > len(source.rest())
    if not found or now >= 2**63:
        return
    encoded = segment_map.encode(found, found[0].time, chunk_codec.compressor())
    sizes = [sum(each.length for each in found if each.stream == stream) for stream in (0, 1)]
    assert len(encoded) <= segment_map.MAX_MAP_BYTES
    assert found == segment_map.decode(encoded, found[0].time, *sizes, chunk_codec.decompressor())


@target(b"\x40\x00\x01\x10hello\nworld\n" * 5, b"\x07\x00\x03\x05" + b"a line of words\n" * 9, bytes(200))
def chunks(data):
    """What is chunked, encoded, verified and decoded is what was written; one bit changed anywhere is an ``IntegrityError``."""
    source = Source(data)
    size, flip, step = 1 + source.number() % 4096, source.number(), 1 + source.byte()
    text = source.rest()
    chunker = Chunker(size, b"\n", new_digest(ALGORITHM))
    streams = [b"", b""]
    for at in range(0, len(text), step):
        piece = text[at : at + step]
        chunker.add(piece[0] & 1, [piece], at * (piece[-1] & 7) * 5000)
        streams[piece[0] & 1] += piece
    raws = chunker.take()
    last = chunker.finish()
    raws += [last] if last else []
    rows = chunk_codec.encode(raws, START, ALGORITHM)
    for row in rows:
        chunk_codec.verify(row, START, ALGORITHM)
        chunk_codec.verify_grams(row, START, ALGORITHM)
    assert text == b"".join(map(chunk_codec.decode, rows))
    for stream in (0, 1):
        assert streams[stream] == b"".join(
            chunk_codec.stream_part(row, chunk_codec.decode(row), stream) for row in rows
        )
    assert [text.count(b"\n")] == [sum(row.stdout_lines + row.stderr_lines for row in rows)] or streams[1]
    if rows:
        _spoilt(rows[flip % len(rows)], flip)


def _spoilt(row, flip):
    name = ("data", "segments", "digest", "size", "line_start", "time_end", "line_flags")[flip % 7]
    old = getattr(row, name)
    if isinstance(old, bytes):
        if not old:
            return
        at = flip // 7 % len(old)
        new = old[:at] + bytes([old[at] ^ (1 << flip % 8)]) + old[at + 1 :]
    else:
        new = old ^ (1 << flip % 40)
    try:
        chunk_codec.verify(row._replace(**{name: new}), START, ALGORITHM)
    except IntegrityError:
        return
    raise AssertionError(f"{name} was changed and is not missed")


@target(
    b"\x05\x00\x05\x00" + chunk_codec.compressor().compress(b"hello"),
    b"\x05\x00\x05\x00\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello",
)
def frames(data):
    """Any bytes are a frame of exactly the size of their row, or an ``IntegrityError``; nothing larger is made."""
    source = Source(data)
    size, stdout = source.number(), source.number()
    with contextlib.suppress(IntegrityError):
        assert size == len(chunk_codec.decode(_row(size, min(stdout, size), b"", source.rest())))


@target(
    b"\x20\x40error Timeout deadlock_1 = a3f09bd1\n" * 4,
    "\x10\x30größe \u212a \u017f Z_ \x85 words\n".encode() * 3,
)
def gram_filters(data):
    """What ends in a chunk is never ruled out by its filter, wherever it begins; and a filter fits to its own text."""
    source = Source(data)
    split, room = source.byte(), source.byte()
    text = source.rest()
    before, text = text[:split][-grams.BEFORE :], text[split:]
    size = 2_100 + room * 400
    if not text:
        return
    (found,) = grams.grams_of([(before, text, size)])
    if not found:
        return
    stored = bytes(16) + found
    together = before + text
    lowered = bytes(each + 32 if 65 <= each <= 90 else each for each in together)
    for at in range(1, 14):
        end = len(before) + 1 + (at * 7919 + split) % len(text)
        start = max(0, end - 1 - (at * 104_729 + room) % grams.LONGEST)
        assert grams.Run(list(lowered[start:end])).may_end_in(stored), (start, end)
    assert grams.fits(stored, before, text, size)


# --- what is shown ------------------------------------------------------------------------------------------


@target(
    b"\n\x1b[31mred\x1b[0m\r\x1b[K10%\r20%\b\bx\x1b]0;title\x07y\n",
    "\n\x9b31m\x9dx\x9c 世 👩\u200d👧 \x90q\x9c".encode(),
    b"\r\x1bPq\x1b\\a\rb\xff\xc2",
)
def cleaning(data):
    """What is shown of bytes is what the rules say, a character at a time; and as long as is counted."""
    terminator = b"\r" if data[:1] == b"\r" else b"\n"
    data = data[1:]
    shown = clean(data, terminator)
    assert cleaned(data, terminator) == shown
    assert len(shown) == clean_length(data, terminator)
    if terminator == b"\n" and is_clean(data):
        assert shown == data.decode()
    assert data.count(terminator) == shown.count("\n")


@target(
    b"\x20\x02" + json.dumps([{"a": n, "b": ["x\u0301" * 20, None]} for n in range(9)]).encode(),
    b'\x10\x13{"a":[1,2,3],"b":"' + b"\\u0041" * 30 + b'"}\n{}',
)
def json_cuts(data):
    """Cut JSON is JSON, no longer than with the least that is kept, and what was cut puts it back; or it was none."""
    source = Source(data)
    limit, how = 2 * source.byte(), source.byte()
    text = _text(source.rest(), how)
    options = {"first": how & 3, "last": how >> 2 & 3, "max_depth": how >> 4 & 3}
    try:
        cuts = cut_json(text, limit, **options)
    except NotStructured:
        return
    result = apply_cuts(text, cuts)
    for line in [result] if _is_json(text) else filter(str.strip, result.splitlines()):
        json.loads(line)
    assert _restored(result, text, cuts) == text
    assert len(result) <= max(limit, len(apply_cuts(text, cut_json(text, 0, **options))))


def _is_json(text):
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@target(
    b"\x30\x05<log>" + b"<line a='1'>ok &amp; more</line>" * 12 + b"</log>",
    b"\x20\x12<?xml version='1.0'?><a><![CDATA[<&]]><!-- c --><b/><c>text</c></a>",
)
def xml_cuts(data):
    """Cut XML is well-formed, and what was cut puts it back; or it was none."""
    source = Source(data)
    limit, how = 2 * source.byte(), source.byte()
    text = _text(source.rest(), how)
    options = {"first": how & 3, "last": how >> 2 & 3, "max_depth": how >> 4 & 3}
    try:
        cuts = cut_xml(text, limit, **options)
    except NotStructured:
        return
    result = apply_cuts(text, cuts)
    # ElementTree would refuse a colon in an instruction's name, which only documents with namespaces may not have.
    expat.ParserCreate("utf-8").Parse(result.encode(), True)
    assert _restored(result, text, cuts) == text


PROFILES = ("default", "acode", "omni")  # with one view


def _without_unseen(text: str) -> str:
    """Text with a mark for each character of format, of which previews replace some: a joiner by what stands around it."""
    return "".join("\ufffd" if unicodedata.category(each) == "Cf" else each for each in text)


@target(
    b"\x00\x03one\ntwo\n",
    b"\x01\x40" + b"error: it failed\nplain line\n" * 40,
    b"\x02\x9f\x1b[31mred\x1b[0m\r\n" + b"x" * 90,
)
def notices(data):
    """The law of notices: what is shown, with what is left out put back, is all that was written, cleaned, with unseen characters marked."""
    from previews import whole

    source = Source(data)
    name, times = PROFILES[source.byte() % len(PROFILES)], 1 + source.byte()
    text = source.rest()
    spill = Spill(_session, profile_named(name), source="bash")
    for at in range(0, len(text), 64):
        spill.write(text[at : at + 64] * (times if at // 64 % 3 == 1 else 1), "stdout")
    written = b"".join(
        text[at : at + 64] * (times if at // 64 % 3 == 1 else 1) for at in range(0, len(text), 64)
    )
    rendered = spill.finish(exit_code=0)
    artifact = spill.artifact
    if artifact is None:
        assert not rendered.omissions
        return
    try:
        assert written == artifact.read_bytes(0, len(written) + 1, max_bytes=len(written) + 1)
        shown = whole(rendered, lambda each: written[each.start : each.end])
        assert _without_unseen(clean(written)) == _without_unseen(shown)
    finally:
        artifact.delete()


# --- what comes from outside --------------------------------------------------------------------------------


@target(b"combined@10+2+3~4!", b"stdout@1+0+0", b"1700000000000000-7", b"combined:lines:5:10:2")
def cursors(data):
    """Any text is a cursor, which is written as it was read, or an error of ours; of a search, a query, a list and events."""
    text = data.decode("utf-8", "replace")
    for stream in ("combined", "stdout"):
        with contextlib.suppress(SpillstoreError):
            found = Cursor.parse(text, stream, "search", 10**18)
            assert found == Cursor.parse(found.marked("search"), stream, "search", 10**18)
            assert int(found.at) <= 10**18
    session = _session()
    artifact = _document()
    asks = (
        lambda: artifact.search("1", cursor=text),
        lambda: artifact.query("$..a", cursor=text),
        lambda: session.infos(cursor=text),
        lambda: session.events(cursor=text),
        lambda: session.new_events(text),
    )
    for ask in asks:
        with contextlib.suppress(SpillstoreError):
            ask()


@functools.cache
def _document():
    return _session().put(
        json.dumps([{"a": number} for number in range(20)]), content_type="application/json"
    )


@target(
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"command":"true"}}}\n',
    b'{"jsonrpc":"2.0","id":"\\ud800","result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":[1,{"b":NaN}]}}}\nx',
    b'[{"jsonrpc":"2.0","id":1.5,"error":{"code":-1,"message":"m","data":[[]]}},5]\n{"a":"\\u00e9","a":1e999}',
    words='"jsonrpc":"2.0" "id": "method" "params" "result" "error" "code" "message" "tools/call" "notifications/cancelled" \\ud800 \\u0000 '
    "NaN 1e999 -0 [ ] { } : , null \\r \\t",
)
def messages(data):
    """Lines of both protocols: what comes apart is what the standard library reads, and whatever is none has an error or no id."""
    pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
    feed = iter([*pieces, b""])
    lines = list(read_lines(lambda: next(feed)))
    assert data == b"".join(map(bytes, lines))
    feed = iter([*pieces, b""])
    for each in read_lines(lambda: next(feed), 40):
        assert (
            isinstance(each, OversizedLine) or len(each) <= 40 + 7
        )  # a line that ends in the piece in which it is too long
    for line in map(bytes, lines):
        message = decoded_line(line)
        if not isinstance(message, InvalidMessage):
            for each in message if isinstance(message, list) else [message]:
                request_of(each)
        id_of(id_in(line, line))
        id_of(id_in(line[:30], line[-30:]))
        fields = members_of(line)
        error_code(fields)
        id_of(fields.get("id"))
        _agrees(line, fields)


def _agrees(line, fields):
    """Members and items are those that the standard library reads."""
    try:
        expected = json.loads(line)
    except (ValueError, RecursionError):
        return
    if isinstance(expected, dict):
        found = {}
        for name, raw in fields.items():
            found[name] = json.loads(bytes(raw))
        assert (
            repr(expected) == repr({name: found[name] for name in expected})
            or "\\ud" in line.decode().lower()
        )
    elif isinstance(expected, list):
        assert repr(expected) == repr([json.loads(bytes(raw)) for raw in raw_json.items(line)])


SECRET = b"password=hunter2hunter"
LONG = {
    b"~": b"error: line %d of what was said\\n",
    b"^": b"QUJDREVG",
}  # what a byte of a result stands for, again and again
OPAQUE = {"requestState", "inputRequests", "taskId"}  # members that are the client's


@target(
    b'{"content":[{"type":"text","text":"password=hunter2hunter"}],"structuredContent":{"a":"password=hunter2hunter"}}',
    b'{"content":[{"type":"resource","resource":{"uri":"https://me:hunter2hunter@host/","text":"x"}},{"type":"image","data":"aGk=","mimeType":"image/png"}]}',
    b'{"code":1,"message":"password=hunter2hunter","data":[{"password":"hunter2hunter"}]}',
    b'{"content":[{"type":"text","text":"~ password=hunter2hunter"},{"type":"text","text":"~"}],"isError":true}',
    b'{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/json","text":"[1,[2,{}]]","blob":"^"}}],"_meta":{"a":"~"}}',
    b'{"content":[{"type":"audio","data":"^","mimeType":"audio/wav","annotations":{"audience":["user"],"priority":0.5}},{"type":"new","a":"^"}]}',
    b'{"content":[{"type":"resource_link","uri":"file:///a","name":"~","description":"password=hunter2hunter"}],"structuredContent":[1,"~"]}',
    b'{"code":-32000,"message":"~","data":{"a":["~",{"b":"password=hunter2hunter"}]}}',
    b'{"structuredContent":{"rows":[{"a":"~ password=hunter2hunter"},{"a":1}]},"content":[],"requestState":"x"}',
    words='"content" "type" "text" "resource" "blob" "uri" "mimeType" "image" "audio" "data" "annotations" "structuredContent" "_meta" '
    '"isError" "resource_link" "name" "message" "code" "requestState" "text/plain" "application/json" {"type":"text","text":" '
    ' password=hunter2hunter \\u0041 \\ud800 \\n ~ ^ [ ] { } : , null true 1e5',
)  # fmt: skip
def results(data):
    """A result or an error from behind the proxy is shown in bounds, without what redaction finds in it, or refused as none; it is JSON if it was."""
    data = _lengthened(data)
    fitter = ResultFitter(_processor(), lambda: OwnToolNames(()))
    for fit in (fitter.fit, fitter.fit_error):
        try:
            found = fit(data, ToolCall(tool="t"))
        except raw_json.RawJsonError as error:
            found = fitter.as_text(data, ToolCall(tool="t"), error)
            assert raw_json.is_json(found)
        if found is not None:
            assert raw_json.is_json(found) or not raw_json.is_json(data)
            assert len(found) <= 4 * len(data) + 20_000
        if SECRET in (data if found is None else found):
            assert any(SECRET in clean(redacted(each)[0]).encode() for each in _texts(data)), found
    session = _session(redact=True)
    for info in session.infos(limit=None):
        session.artifact(info.id).delete()


def _lengthened(data):
    """With a few of the bytes that stand for much written out."""
    for byte, line in LONG.items():
        many = b"".join(line % number if b"%" in line else line for number in range(200))
        data = data.replace(byte, many, 6)
    return data


def _texts(data):
    """All in which redaction may not see a secret, which control characters may part: the whole, its strings, and what is the client's."""
    text = data.decode("utf-8", "replace")
    found = [text]

    def members(pairs):
        for name, value in pairs:
            found.append(name)
            found.extend([value] if isinstance(value, str) else [])
            found.extend([SECRET.decode() + "("] if name in OPAQUE else [])
        return [value for _, value in pairs]

    def walk(value):
        for each in value if isinstance(value, list) else []:
            found.extend([each] if isinstance(each, str) else [])
            walk(each)

    with contextlib.suppress(ValueError, RecursionError):
        walk([json.loads(text, object_pairs_hook=members)])
    return [data, *(each.encode("utf-8", "replace") for each in found)]


@functools.cache
def _processor():
    return TruncationProcessor(_session(redact=True))


COMMANDS = (
    "list",
    "info",
    "show",
    "tail",
    "search",
    "query",
    "diff",
    "verify",
    "audit",
    "stats",
    "sessions",
    "cat",
)
CODES = {0, 1, 2, 3, 4, 5, 65, 66, 69, 70, 73, 74, 75, 77, 78, 125, 126, 127, 130}


def _typed(line):
    """A command line as a text of ``arguments``."""
    name, *words = line.split(" ")
    return bytes([COMMANDS.index(name)]) + "\0".join(words).encode()


@target(
    *map(
        _typed,
        (
            "show @last --lines 1-5", "search x @last --context 2", "query @last $..a", "list --state sealed --json", "tail @2 -n 3",
            "show --bytes 0-10", "show @2 --path $[3].b --json", "show @last --stream stderr --skip-holes", "show @last --raw --no-pager",
            "list --since 5m --until 2026-01-01 --min-size 64K --failed", "list --sort lines --reverse --limit 2 --box", "list --command x --type text/plain",
            "info @last --json", "info @1", "search --all -i ONE -F -l", "search -v -c one @last --json", "search one @last -A 1 -B 2 -m 3",
            "search one @2 --path $[9].b -o -n", "query @2 $[?@.a>3].a --limit 2 --json", "diff @1 @2", "diff @1 @2 --json", "verify --json", "verify @last",
            "audit --since 1h --kind create --limit 3", "audit --artifact @last --json", "audit --deleted --actor cli", "stats --prometheus", "stats --all --json",
            "sessions --json", "sessions --project _", "cat @last --stream stdout", "cat @2 --raw", "tail @last --json", "tail -n 0 @last --json",
        ),
    ),
    words="@last @1 @2 --lines --bytes --path --stream --raw --json --limit --cursor --all --context --since --until --kind --state --sort --help "
    "--skip-holes --no-pager --session --project --count stdout stderr combined 1-5 -3 5- 0 $..a $[?@.a==1] 2026-01-01T00:00:00Z 64K 5m one art_",
)  # fmt: skip
def arguments(data):
    """Whatever is typed behind a command that reads: it ends with a code, prints no traceback, and writes nothing."""
    before = sorted(os.listdir(_root()))
    code, err = answered(data)
    assert code in CODES or isinstance(code, int), code
    assert "Traceback" not in err
    assert sorted(os.listdir(_root())) == before


def answered(data):
    """The code with which a text of ``arguments`` ends, and what is said on the error stream."""
    words = data[1:].decode("utf-8", "replace").split("\0") if len(data) > 1 else []
    name = COMMANDS[data[0] % len(COMMANDS) if data else 0]
    words = [each for each in words if not each.startswith(("--root", "--ro", "--fol", "-f", "--pager"))]
    out, err = (
        io.TextIOWrapper(io.BytesIO(), write_through=True),
        io.TextIOWrapper(io.BytesIO(), write_through=True),
    )
    session = mock.patch.dict(
        os.environ, {"SPILLSTORE_SESSION": "default"}
    )  # else that of this folder, which is none
    with session, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = _invoke([name, "--root", _root(), *words])
        except SystemExit as end:
            code = end.code
    return code, err.buffer.getvalue().decode("utf-8", "replace")


@functools.cache
def _root():
    folder = tempfile.TemporaryDirectory(prefix="fuzz-root-")
    atexit.register(folder.cleanup)
    os.environ["SPILLSTORE_FREE_DISK_FLOOR"] = "0"
    with Store(folder.name, **SETTINGS).session("default") as session:
        session.put(b"one\ntwo\n" * 50)
        session.put(
            json.dumps([{"a": number, "b": "one\n" * number} for number in range(20)]),
            content_type="application/json",
        )
    return folder.name


@target(
    b"postgresql://agent:pass%20word@db.example:6432,[::1]:5/spill?sslmode=require&connections=2&password=x",
    b"postgres:///?host=/run&citus=auto",
    b"mysql://x",
)
def urls(data):
    """Any text is the URL of a server, which means the same when it is written again, or an error of ours; no password is shown."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        found = address.parse(text)
    except SpillstoreError as error:
        _hides(text, str(error))
        return
    password = dict(found.parameters).get("password")
    if password and len(password) > 6 and text.count(password) == 1:
        assert password not in repr(found)
    found.conninfo.encode("utf-8", "surrogateescape")


def _hides(text, shown):
    """A password that is plainly one is in no message."""
    _, _, rest = text.partition("://")
    user, at, _ = rest.partition("@")
    _, colon, password = user.partition(":")
    if at and colon and len(password) > 6 and password.isalnum() and text.count(password) == 1:
        assert password not in shown


def _members(struct):
    """Names of all settings."""
    fields = msgspec.structs.fields(struct)
    return sorted({name for each in fields for name in (each.name, *_members_of(each.type))})


def _members_of(kind):
    return _members(kind) if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else ()


@target(
    b"tools:\n  truncation:\n    inline_limit: 9000\n    overrides:\n      bash: {strategy: head_tail}\n",
    b"tools: {truncation: {redaction: {patterns: ['a+']}}}\n",
    b"- &a [*a]\n",
    b"tools:\n  truncation:\n    profile: acode\n    limits: {max_lines: 5}\n    redaction: {enabled: true, patterns: [{pattern: 'x+', kind: a}]}\n",
    words="tools: truncation: "
    + " ".join(map("{}:".format, _members(TruncationConfiguration)))
    + " bash head_tail json | & * ? !! --- true null "
    "1e9 0x10 .inf 10MB {} [] << acode omni default",
)
def configurations(data):
    """Any file is a configuration or a ``ConfigurationError`` in a few words."""
    file = _file()
    file.write_bytes(data)
    try:
        found = load(path=file, environment={})
    except ConfigurationError as error:
        _words(str(error))
        return
    assert found.for_tool("bash").inline_limit > 0


def _words(text):
    """An error has words, and not endless ones."""
    assert 0 < len(text) < 3000


@functools.cache
def _file():
    folder = tempfile.TemporaryDirectory(
        prefix="fuzz-file-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    )
    atexit.register(folder.cleanup)
    return Path(folder.name) / "config.yml"
