"""Sizes, times and artifacts in words."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillstore import ArtifactInfo, HoleInfo

Prefix = Literal["K", "M", "G", "T"]

_PREFIXES: tuple[Prefix, ...] = ("K", "M", "G", "T")
_STEP = 1024
_CHARS_PER_TOKEN = 4  # the usual rule of thumb


def human_size(
    size: int, *, unit: Literal["iB", "B"] = "iB", fixed: bool = False, prefix: Prefix | None = None
) -> str:
    """A size in bytes for people, in powers of 1024.

    Args:
        size: bytes.
        unit: the end of the unit: ``KiB``, or ``KB`` for the same, as agents' manuals write it.
        fixed: whether there is always one digit after the point; else three digits at most, and no zero after the point.
        prefix: the unit, unless the size is 0.0 of it; None for the largest unit that the size reaches.

    Example:
        >>> human_size(512), human_size(2_415_919), human_size(911_360)
        ('512 bytes', '2.3 MiB', '890 KiB')
        >>> human_size(51_200, unit="B", fixed=True), human_size(90_000, unit="B", fixed=True, prefix="M")
        ('50.0 KB', '0.1 MB')
    """
    if size < _STEP:
        return count(size, "byte")
    full = _STEP - (0.05 if fixed else 0.5)  # what is not less would be rounded to the next unit
    exact = prefix is not None and size >= 0.05 * _STEP ** (_PREFIXES.index(prefix) + 1)
    value = float(size)
    for each in _PREFIXES:
        value /= _STEP
        if each == (prefix if exact else _PREFIXES[-1]) or (not exact and value < full):
            break
    number = f"{value:.0f}" if not fixed and value >= 99.95 else f"{value:.1f}"  # noqa: PLR2004  # three digits
    return f"{number if fixed else number.removesuffix('.0')} {each}{unit}"


def preview_size(size: int, *, prefix: Prefix | None = None) -> str:
    """A size as previews write it, in the words that agents' manuals use.

    Example:
        >>> preview_size(999), preview_size(2_415_919), preview_size(51_200)
        ('999 bytes', '2.3 MB', '50.0 KB')
    """
    return human_size(size, unit="B", fixed=True, prefix=prefix)


def count(number: int, noun: str) -> str:
    """A number and its noun.

    Example:
        >>> count(1, "byte"), count(12_345, "line")
        ('1 byte', '12,345 lines')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def counted(number: int, noun: str) -> str:
    """The same without separators, as previews have it.

    Example:
        >>> counted(1, "item"), counted(12_345, "line")
        ('1 item', '12345 lines')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(value: object, length: int) -> str:
    """What an error says of a value: at most so many characters, and three dots.

    Example:
        >>> shown("make", 10), shown(10**5000, 10), shown([1, 2, 3], 4)
        ("'make'", 'a number of thousands of digits', '[1, ...')
    """
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than ``sys.get_int_max_str_digits``
        return "a number of thousands of digits"
    return text if len(text) <= length else f"{text[:length]}..."


def shortened(text: str, length: int = 60) -> str:
    """A text of at most ``length`` characters; a longer one ends in three dots.

    Example:
        >>> shortened("make test", 8), shortened("make", 8)
        ('make ...', 'make')
    """
    return text if len(text) <= length else f"{text[: length - 3]}..."


def exact_size(size: int, rounded: Callable[[int], str] = human_size) -> str:
    """A size to the byte, and ``rounded`` for people where that is not the same."""
    return count(size, "byte") if size < _STEP else f"{count(size, 'byte')} ({rounded(size)})"


def seconds(number: float) -> str:
    """A duration for people.

    Example:
        >>> seconds(0.0042), seconds(2.04), seconds(75.3), seconds(7265)
        ('0.004 s', '2.0 s', '1 min 15 s', '2 h 1 min')
    """
    if number < 60:  # noqa: PLR2004
        return f"{number:.3f} s" if number < 1 else f"{number:.1f} s"
    whole = round(number)
    if whole < 3600:  # noqa: PLR2004
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def utc(seconds: float) -> str:
    """A time, given in seconds since 1970, as text in UTC.

    Example:
        >>> utc(1_699_280_567.5)
        '2023-11-06 14:22:47 UTC'
    """
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def tokens(chars: int) -> int:
    """About how many tokens a text is: a quarter of its characters, rounded up.

    Example:
        >>> tokens(8000), tokens(1)
        (2000, 1)
    """
    return -(-chars // _CHARS_PER_TOKEN)


def described(info: ArtifactInfo, when: Callable[[float], str] = utc) -> Iterator[tuple[str, str]]:
    """The facts about an artifact as names and values; ``when`` formats a time."""
    yield "Artifact", info.id
    yield "Type", info.content_type or "unknown"
    yield "Size", exact_size(info.size)
    yield "Estimated tokens", f"~{tokens(info.chars):,}"
    yield "Created", when(info.created)
    yield "Source", " ".join(part for part in (info.source, info.command) if part)
    yield "Session", info.session if info.project is None else f"{info.session} of project {info.project}"
    if info.tool_call_id is not None:
        yield "Tool call", info.tool_call_id
    yield "State", info.state if info.reason is None else f"{info.state}: {info.reason}"
    if info.exit_code is not None:
        yield "Exit code", str(info.exit_code)
    if info.duration is not None:
        yield "Duration", f"{info.duration:.3f} s"
    yield "Lines", f"{info.lines:,} ending in {info.newline.upper()}"
    yield "Stdout", f"{count(info.stdout.size, 'byte')}, {count(info.stdout.lines, 'line')}"
    yield "Stderr", f"{count(info.stderr.size, 'byte')}, {count(info.stderr.lines, 'line')}"
    yield "Stored", _stored(info)
    if info.received != info.size:
        yield "Received", exact_size(info.received)
    if info.hole is not None:
        yield "Hole", _hole(info.hole, info)
    if info.digest is not None:
        yield "Digest", info.digest


def incomplete(info: ArtifactInfo) -> str | None:
    """What an artifact lacks of the output, in words; None if it is complete."""
    if info.hole is not None:
        from spillstore.model.records import loss  # noqa: PLC0415  # it is loaded where there is an artifact

        hole = info.hole
        return (
            f"bytes {hole.start}-{hole.end} (lines {hole.first_line}-{hole.last_line}) were "
            f"{loss(info.reason, f'at its limit of {human_size(info.limit)}')}"
        )
    if info.policy == "stop" and info.received > info.size >= info.limit:
        return f"what came after its limit of {human_size(info.limit)} was not kept"
    if info.state == "interrupted":
        return f"it ends where its writer did ({info.reason or 'unknown why'})"
    return None


def _stored(info: ArtifactInfo) -> str:
    ratio = f", {info.kept / info.stored_size:.1f} : 1" if info.stored_size else ""
    return f"{exact_size(info.stored_size)} in {count(info.chunks, 'chunk')}{ratio}"


def _hole(hole: HoleInfo, info: ArtifactInfo) -> str:
    from spillstore.model.records import loss  # noqa: PLC0415  # likewise

    lines = f"lines {hole.first_line}-{hole.last_line}"
    return (
        f"bytes {hole.start}-{hole.end} ({lines}) were {loss(info.reason, '')}; {exact_size(info.kept)} kept"
    )


def listed(names: Sequence[str], room: int, *, beside: int = 0) -> str:
    """As many names as there is room for, and how many more there are.

    Args:
        names: the names.
        room: code points.
        beside: how many there are that are not among the names.

    Example:
        >>> listed(["one", "two", "three"], 40), listed(["one", "two", "three", "four"], 17)
        ('one, two, three', 'one, and 3 more')
        >>> listed(["one", "two"], 40, beside=7)
        'one, two, and 7 more'
    """
    whole = ", ".join(names)
    if not beside and len(whole) <= room:
        return whole
    every = len(names) + beside
    shown, used = 0, len(f"and {every} more")
    while shown < len(names) and used + len(names[shown]) + 2 <= room:
        used += len(names[shown]) + 2
        shown += 1
    return ", ".join([*names[:shown], f"and {every - shown} more"])
