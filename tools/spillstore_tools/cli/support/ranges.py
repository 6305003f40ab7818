"""Ranges and sizes as people and models write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    import click

_NUMBER = r"\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+|\d+"
_RANGE = re.compile(rf"({_NUMBER})(?:(-)({_NUMBER})?)?", re.ASCII)
_COMMA = re.compile(r"(\d{1,18}),(\d{1,18})", re.ASCII)  # of `sed -n 10,20p`, or of a thousand
_DIGITS = 18


def parse_lines(text: str) -> tuple[int, int | None]:
    """``A-B``, ``A-`` (to the end) or ``A`` (one line), from 1, both inclusive.

    Returns:
        First and last line; None for the end.

    Raises:
        RangeError: anything else.

    Example:
        >>> parse_lines("10-20"), parse_lines("10-"), parse_lines("10")
        ((10, 20), (10, None), (10, 10))
    """
    first, last = _parse(text, "lines", "--lines 1-100, --lines 100- or --lines 7")
    if first < 1:
        raise _error(f"lines count from 1, not from {text!r}", "--lines 1-100")
    if last is not None and last < first:
        raise _error(f"line {last} lies before line {first}", f"--lines {last or 1}-{first}")
    return first, last


def parse_bytes(text: str) -> tuple[int, int | None]:
    """``A-B``, ``A-`` (to the end) or ``A`` (one byte), from 0, B exclusive.

    Returns:
        Start and end; None for the end of the artifact.

    Raises:
        RangeError: anything else.

    Example:
        >>> parse_bytes("0-65536"), parse_bytes("100-"), parse_bytes("7")
        ((0, 65536), (100, None), (7, 8))
    """
    start, end = _parse(text, "bytes", "--bytes 0-65536, --bytes 65536- or --bytes 7")
    if end is not None and "-" not in text:
        end += 1
    if end is not None and end < start:
        raise _error(f"byte {end} lies before byte {start}", f"--bytes {end}-{start}")
    return start, end


@overload
def size_option(_: click.Context, parameter: click.Parameter, text: str) -> int: ...
@overload
def size_option(_: click.Context, parameter: click.Parameter, text: None) -> None: ...
def size_option(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Callback of an option whose value is a size, as settings have them: bytes, or None where it was not given."""
    if text is None:
        return None
    import click  # noqa: PLC0415  # who reads ranges alone needs none

    from spillstore.exceptions import InvalidSettingError  # noqa: PLC0415  # as in all commands
    from spillstore.settings import parse_size  # noqa: PLC0415  # likewise

    try:
        return parse_size(parameter.opts[0], text)
    except InvalidSettingError:
        raise click.BadParameter(f"{text!r} is no size; for example 500, 64K, 10M or 2G") from None


def _parse(text: str, what: str, examples: str) -> tuple[int, int | None]:
    if comma := _COMMA.fullmatch(text.strip()):
        option = examples.split(" ", 1)[0]
        raise _error(
            f"{text[:60]!r} may be one number or two",
            f"{option} {comma[1]}-{comma[2]}, or {option} {comma[1]}{comma[2]}",
        )
    match = _RANGE.fullmatch(text.strip())
    if match is None or max(len(part or "") for part in match.groups()) > _DIGITS:
        raise _error(f"{text[:60]!r} is no range of {what}", examples)
    start = _number(match[1])
    if match[2] is None:
        return start, start
    return start, None if match[3] is None else _number(match[3])


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


def _error(problem: str, example: str) -> Exception:
    from spillstore.exceptions import RangeError  # noqa: PLC0415  # this module is imported before a command starts

    return RangeError(f"{problem}; for example {example}")
