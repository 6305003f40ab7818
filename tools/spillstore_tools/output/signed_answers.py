r"""Signatures: answers of the retrieval tools are signed, so that no processor on the way stores them again.

An answer ends with ``[~LENGTH.SIGNATURE]``: how many characters the mark speaks of, and what only the artifact's session
can make of them (``Session.sign``). So a processor knows an answer by what it is, whatever the tool is called that
hands it on and whatever that puts around it, and a text that merely looks like one gets no further than any other.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     text = with_signature(session, "[art_1: lines 1-2 of 9]\none\ntwo\n[end of the range]\n")
    ...     len(text) - len("wrapped: "), unsigned_chars(lambda: session, "wrapped: " + text)
    (60, 10)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session

ROOM = 24  # characters that a mark takes at most
MOST = 128 * 1024  # characters of a text in which marks are looked for: a little more than the largest answer
_WRONG = 16  # marks that may be none; each costs as much as it says to speak of
_MARK = re.compile(r" \[~(\d{1,7})\.([A-Za-z0-9_-]{11})\]", re.ASCII)


def with_signature(session: Session, text: str) -> str:
    """The text with its mark, in front of the end of its last line.

    Args:
        session: where what it tells of is stored.
        text: an answer; it ends with a line end.
    """
    return f"{text[:-1]} [~{len(text)}.{session.sign(_bytes(text))}]\n"


def unsigned_chars(session: Callable[[], Session], text: str) -> int | None:
    """How many characters of a text are no answers of a session; None if none are.

    Args:
        session: gives the session; called if there is what looks like a mark.
        text: of any size; what is longer than ``MOST`` is not looked at.
    """
    if len(text) > MOST:
        return None
    ours = before = wrong = 0
    for mark in _MARK.finditer(text):
        start = mark.start() + 1 - int(mark[1])
        if start >= before and session().sign(_bytes(text[start : mark.start()] + "\n")) == mark[2]:
            ours += mark.end() - start
            before = mark.end()
        elif (wrong := wrong + 1) == _WRONG:
            break
    return len(text) - ours if ours else None


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
