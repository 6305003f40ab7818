"""A text that rules look at: what they found in it, and from where on they cannot tell yet.

A rule is called where one of its literals stands, and looks at that line alone, at most ``CONTEXT`` bytes back. The text
may be unfinished: more of its last line is to come. Then a rule that reached the end of the text does not answer; it says
where its secret begins (``open``), and from there on the text is held back. So that every answer stays true however the
line goes on, rules keep to one form: what stands before a secret, then the secret in characters that it cannot leave, then
at most two bytes behind it. And none takes back what another found: where several apply, all that they find goes.

Ends of runs are kept, since many literals may stand in one run; that is what keeps hostile text linear.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from spillstore.redaction.names import classify
from spillstore.redaction.spans import Span
from spillstore.redaction.tables import classes
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.names import Expected, Named

_TAIL = 64 * 1024 + 2048  # bytes of a line that a stream looks at
_NEAR = 512  # bytes that nearly always hold the end of a word
CONTEXT = 1024  # bytes before a secret that a rule may look at
BACK = 256  # bytes before a name that rules look at
LONGEST_NAME = 96

ALNUM = frozenset(classes.members("[A-Za-z0-9]"))
NAME_LETTERS = classes.members(classes.NAME)
RUN_LETTERS = classes.members(classes.TOKEN)
RUN_END = re.compile(classes.others(classes.TOKEN).encode())
WORD_END = re.compile(classes.others(classes.WORD).encode())
LINE_END = re.compile(rb"[\r\n]")
LINE_ENDS = frozenset({b"", b"\r", b"\n"})
_DEFINES = frozenset({b"-D", b"-P"})  # of Java, of Gradle
_ESCAPED = re.compile(rb"(?:\\[nrtbfv0]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})\Z")
_ESCAPE = 6  # bytes of the longest one
_LINE = r"[^\r\n]"


class Look:
    """A text and what was found in it.

    Args:
        text: lines, the last one may be unfinished.
        final: nothing follows that belongs to the last line.

    Attributes:
        spans: the secrets, in no order; they may overlap.
        hold: from where on a secret may have begun that is not told.
        until: what alone can end what is held, or None.
        tail: from where on all are letters of tokens.
        keys: where ``PRIVATE KEY`` stands, in order.
        expected: values that names promise in the lines from a place on, in order.
        tried: how often a rule was called.
        commands: whose options were looked at, up to where.
        told: up to where words were looked at behind one that says that a password follows; the same behind a prompt.
    """

    def __init__(self, text: bytes, *, final: bool) -> None:
        self.text = text
        self.size = len(text)
        self.final = final
        self.spans: list[Span] = []
        self.hold = self.size
        self.until: re.Pattern[bytes] | None = None
        self.tail = self.size if text[-1:] in LINE_ENDS else self.size - _letters_at_end(text)
        self.keys: list[int] = []
        self.expected: list[tuple[int, Expected]] = []
        self.commands: dict[bytes, int] = {}
        self.told = [0, 0]
        self.tried = 0
        self._ends: dict[str, tuple[int, int]] = {}

    def add(self, start: int, end: int, kind: str) -> None:
        """A secret was found."""
        if start < end:
            self.spans.append(Span(start, end, kind))

    def open(self, start: int, end: int, until: re.Pattern[bytes] | None = None) -> bool:
        """Whether what begins at ``start`` and goes to ``end`` may go on behind the text; if so, it is held.

        Args:
            start: its first byte.
            end: as far as it goes.
            until: what alone can end it besides a line's end; None if that is not known.
        """
        if end < self.size or self.final:
            return False
        if start < self.hold:
            self.hold, self.until = start, until
        elif start == self.hold and until is not self.until:
            self.until = None
        return True

    def apart(self, start: int) -> bool:
        """Whether no letter or digit stands before a token, but for those of an escape."""
        text = self.text
        if start <= 0 or text[start - 1] not in ALNUM:
            return True
        return _ESCAPED.search(text, max(0, start - _ESCAPE), start) is not None

    def classified(self, start: int, stop: int) -> Named | None:
        """What a name promises that stands here."""
        name = self.text[start:stop]
        found = classify(name.strip(b"-."))
        return classify(name[2:]) if found is None and name[:2] in _DEFINES else found

    def end(self, of: re.Pattern[bytes], start: int) -> int:
        """Where the longest match from ``start`` on ends; ``start`` if there is none."""
        match = of.match(self.text, start)
        return start if match is None else match.end()

    def line(self, start: int) -> int:
        """The end of the line."""
        return self.run(_LINE, start)

    def word(self, start: int) -> int:
        """The end of what has no blanks and no quotes."""
        return self.run(classes.WORD, start)

    def run(self, of: str, start: int) -> int:
        """The end of a run of one class, which is looked for once, however many literals stand in it; or of another expression."""
        if of[0] != "[":
            return self.end(compiled(of), start)
        first, last = self._ends.get(of, (0, -1))
        if not first <= start <= last:
            last = self.end(compiled(f"{of}*+"), start)
            self._ends[of] = (start, last)
        return last


@functools.cache
def compiled(expression: str, *, ends: bool = False) -> re.Pattern[bytes]:
    """An expression of a table, compiled when it is first needed; of what stands before something, if it ``ends`` there."""
    return re.compile((rf"(?:{expression})\Z" if ends else expression).encode())


def line_start(text: bytes, at: int, low: int = 0) -> int:
    """Where the line begins that holds ``at``, or ``low`` if it begins before that."""
    feed = max(text.rfind(b"\n", low, at), low - 1)
    return max(text.rfind(b"\r", feed + 1, at), feed) + 1


def name_start(text: bytes, stop: int, low: int = 0) -> int:
    """Where the letters of names begin that go on up to ``stop``, of the last ``LONGEST_NAME`` bytes behind ``low``."""
    last = text[max(low, stop - LONGEST_NAME) : stop]
    return stop - (len(last) - len(last.rstrip(NAME_LETTERS)))


def _letters_at_end(text: bytes) -> int:
    """How many bytes at the end are letters of tokens."""
    for size in (_NEAR, _TAIL):
        last = text[-size:]
        letters = len(last) - len(last.rstrip(RUN_LETTERS))
        if letters < len(last):
            break
    return letters


Rule = Callable[[Look, int, int], int]
"""Called with the text, where a literal stands, and where it ends; returns where to look on."""
