r"""Lines without what differs between two runs of one command: times, numbers, addresses.

Replaced, each by one ``#``: dates and times of day, durations and sizes with their units, percentages, plain numbers (places
in files, ports, process ids), addresses as ``0x7f3a``, UUIDs and hashes of seven digits or more, the first folder below
``/tmp``, workers of pytest-xdist, the width of a column in front of a number. A title's rule (``===== 2 passed =====``),
which is as long as the title leaves room for, has three signs.

Kept, because the number matters there: numbers that count results (``3 failed``, ``errors: 2``), codes (``exit code 1``,
``status=500``, ``HTTP/1.1" 404``), versions (``v1.2``, ``2.31.0``), digits that belong to a name (``test_2``, ``E0308``,
``py311``), and the parameter of a test (``test_f[2-3]``).

Everything works on whole blocks and takes time linear in them. One pattern finds the numbers; nothing in it gives back
what it took, and it begins with a digit, which the engine looks for quickly. Hexadecimal runs are looked for in a copy in
which each of their digits is an ``h``: a search for one fixed string, six times as fast as a pattern of classes.

What is replaced and what is kept depends on where digits stand, never on which ones they are. So a ``LineHasher`` looks at the
form of a line, in which each digit is a 0, and runs the pattern for forms that it has not met; of most logs there are
some thousands.
"""

from __future__ import annotations

import string
from operator import itemgetter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RESULTS = rb"""
    failed|failures?|failing|passed|passing|errors?|warnings?|skipped|xfailed|xpassed|deselected|pending|broken|total|
    tests?|examples?|suites?|specs?|assertions?|succeeded|problems?|issues?|conflicts?|vulnerabilities
"""
_UNITS = rb"""
    [num]?s|\xc2\xb5s|sec(?:ond)?s?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?|[kKMGT](?:i?[Bb])?(?:/s|ps)?|B(?:/s)?|bytes?|%
"""
_NUMBER = re.compile(
    rb"""
    [0-9]
    (?<! \w. ) (?<! [0-9][.-]. )                       # not inside a name or behind its digits
    (?: (?<! [\ =]. )                                  # not a code or a count of results
      | (?<! (?:[Ee]rror|errno|rrors|lures|ailed|assed|ipped|\ code|tatus|ignal|/[0-9]\.[0-9]")[\ =]. )
        (?<! (?:rrors|lures|ailed|assed|ipped|s\ run|\ code|tatus|ignal):\ . ) )
    (?! [0-9]{0,3} \.[0-9]{1,4} \.[0-9]{1,4} (?! [0-9] | \.[0-9] ) )              # not a version
    (?: (?<! \w\[. ) | (?= [0-9]*+ \]: ) )             # not a parameter; a process id is one that a colon follows
    [0-9]*+
    (?! (?>[,/][0-9]++){0,4}+ \ (?:"""
    + _RESULTS
    + rb""")\b )
    (?= [^A-Za-z_] | \Z | x[0-9a-fA-F] | T[0-9] | (?:"""
    + _UNITS
    + rb""") (?! [A-Za-z_=] ) )                         # not the beginning of a name
    (?: x[0-9a-fA-F]++ | (?>[:/.,-][0-9]++)*+ (?: T[0-9][0-9:.,]*+ (?: Z | [+-][0-9][0-9:]*+ )? )?
        (?> \ ?+ (?:"""
    + _UNITS
    + rb""") (?! [A-Za-z_=] ) (?> \ ?+ [0-9][0-9.]*+ \ ?+ (?:"""
    + _UNITS
    + rb""") (?! [A-Za-z_=] ) )*+ )?+ )
    """,
    re.VERBOSE,
)
_STAMP = re.compile(
    rb"""
    \n [\[(]?
    (?> (?: [0-9]{2,4} [-/.] [0-9]{2} [-/.] [0-9]{2,4} | (?:[A-Z][a-z]{2}\ )?[A-Z][a-z]{2}\ [\ 0-9]?[0-9] ) [T\ ] )?+
    [0-9]{2} : [0-9]{2} : [0-9]{2} (?: [.,][0-9]++ )? (?: Z | \ ?[+-][0-9]{2}:?[0-9]{2}\b )?
    """,
    re.VERBOSE,
)
_HASH = re.compile(rb"hhhhhhh(?<![hw].{7})h*+(?>-h{4,12}+){0,4}+(?!w)")
_HASH_CLASSES = bytes(
    ord("h")
    if chr(byte) in string.hexdigits
    else ord("w")
    if chr(byte) in string.ascii_letters + "_"
    else byte
    if byte < 128  # noqa: PLR2004  # ASCII
    else ord(" ")
    for byte in range(256)
)
_TEMPORARY = re.compile(rb"/tmp/[^\s/'\"`:,;()<>\[\]]+|/var/folders/[^\s/]+/[^\s/]+/T/[^\s/'\"`:,;()<>\[\]]+")
_WORKER = re.compile(rb"\[gw[0-9]+\]")
_PADDED = re.compile(rb"  (?<! ..) *+#")
_RULE = re.compile(rb"^([=_*~-])(?>\1{3,})(?= )|(?<= )([=_*~-])(?>\2{3,})$", re.MULTILINE)
_DIGITS = re.compile(rb"[0-9]+")
_ZEROS = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_FORMS, _KEPT_FORMS = 60_000, 20_000
_KEPT_BYTES = 512  # of a line whose parts are remembered


def without_timestamps(lines: bytes) -> bytes:
    r"""Lines in which a date and time at the beginning are one ``#``. Cost: 2 ns a byte.

    Example:
        >>> without_timestamps(b"2026-11-21T10:20:33.5Z one\n10:20:33 two\n")
        b'# one\n# two\n'
    """
    return _STAMP.sub(b"\n#", b"\n" + lines)[1:]


def normalise(lines: bytes) -> bytes:
    r"""Cleaned lines, normalised; there are as many as before. Cost: 10 to 25 ns a byte.

    Example:
        >>> normalise(b"[ 45%] built in 1.23s at 0x7f3a, job 12 of py311\n")
        b'[#] built in # at #, job # of py311\n'
        >>> normalise(b"FAILED t.py::test_2[3] - line 12, exit code 1; 3 failed, 10 passed in 12.5s\n")
        b'FAILED t.py::test_2[3] - line #, exit code 1; 3 failed, 10 passed in #\n'
        >>> normalise(b"==== 3 passed in 9.98s ====\n=== 3 passed in 10.02s ====\n")
        b'=== 3 passed in # ===\n=== 3 passed in # ===\n'
    """
    return _without_numbers(_without_names(without_timestamps(lines)))


class LineHasher:
    r"""Hashes normalised lines to 64 bits, with Python's hash, which differs from process to process.

    It remembers up to 60,000 forms of lines, in at most 15 MB. Cost: 3 to 25 ns a byte.

    Example:
        >>> hashes = LineHasher().hashes(b"1 file in 2s\n3 files in 4s\n20 files in 5.5s\nerror 1\nerror 2\n")
        >>> [hashes.index(each) for each in hashes]
        [0, 1, 1, 3, 4]
    """

    def __init__(self) -> None:
        self._plain: dict[int, int] = {}  # by the hash of a form: the number of each line of it
        self._kept: dict[
            int, tuple[bytes, Callable[[bytes], object]]
        ] = {}  # or the words, and what takes its digits

    def hashes(self, lines: bytes) -> list[int]:
        """The hash of each line; the last line must be ended, too."""
        named = _without_names(without_timestamps(lines))
        texts = named.split(b"\n")
        forms = list(map(hash, named.translate(_ZEROS).split(b"\n")))
        texts.pop()
        forms.pop()
        found = list(map(self._plain.get, forms))
        unknown = []
        kept = self._kept
        for index, number in enumerate(found):
            if number is None:
                if forms[index] in kept:
                    words, digits = kept[forms[index]]
                    found[index] = hash(words % digits(texts[index]))
                else:
                    unknown.append(index)
        if unknown:
            normalised = _without_numbers(b"\n".join([texts[index] for index in unknown]) + b"\n").split(
                b"\n"
            )
            for index, line in zip(unknown, normalised, strict=False):
                found[index] = hash(line)
                if len(self._plain) + len(kept) < _FORMS:
                    self._remember(forms[index], texts[index], line)
        return found  # type: ignore[return-value]  # what was unknown is not

    def _remember(self, form: int, text: bytes, normalised: bytes) -> None:
        if not _DIGITS.search(normalised):
            self._plain[form] = hash(normalised)
        elif len(self._kept) < _KEPT_FORMS and len(text) <= _KEPT_BYTES:
            self._kept[form] = _parts(text)


def _parts(text: bytes) -> tuple[bytes, Callable[[bytes], object]]:
    """The normalised line with a field for each number that it keeps, and the getter of these from a line of this form."""
    pieces: list[bytes] = []
    places: list[slice] = []
    at = 0
    for start, end in (*(found.span() for found in _NUMBER.finditer(text)), (len(text), len(text))):
        places += (slice(at + low, at + high) for low, high in _runs(text[at:start]))
        pieces += (_DIGITS.sub(b"%b", text[at:start].replace(b"%", b"%%")), b"#")
        at = end
    return _unpadded(b"".join(pieces[:-1])), itemgetter(*places)


def _runs(text: bytes) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _DIGITS.finditer(text))


def _without_numbers(lines: bytes) -> bytes:
    return _unpadded(_NUMBER.sub(b"#", lines))


def _unpadded(lines: bytes) -> bytes:
    """Lines without the blanks that pad columns of numbers, and with short rules beside titles."""
    if b"  #" in lines:
        lines = _PADDED.sub(b" #", lines)
    lines = lines.replace(b"[ #", b"[#").replace(b"\n #", b"\n#")
    lines = _RULE.sub(lambda rule: rule[0][:3], lines)
    return lines[1:] if lines.startswith(b" #") else lines


def _without_names(lines: bytes) -> bytes:
    """Lines without temporary folders, workers and hashes."""
    if b"/tmp/" in lines or b"/var/folders/" in lines:
        lines = _TEMPORARY.sub(b"/tmp/#", lines)
    if b"[gw" in lines:
        lines = _WORKER.sub(b"[#]", lines)
    return _without_hashes(lines)


def _without_hashes(lines: bytes) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for found in _HASH.finditer(lines.translate(_HASH_CLASSES)):
        start, end = found.span()
        token = lines[start:end]
        if not token.isdigit() and not token.isalpha():  # a number, or a word like "defaced"
            pieces += (lines[at:start], b"#")
            at = end
    return b"".join((*pieces, lines[at:])) if pieces else lines
