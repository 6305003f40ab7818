r"""Escape sequences and other control characters: how they are found and removed.

All sequences are known: CSI, OSC, DCS, SOS, PM, APC and those of two characters, with seven-bit and eight-bit
introducers. A string sequence (OSC, DCS and the like) that is not ended within its line and 65,536 characters, or that
a CR or another introducer breaks off, loses its introducer alone, so that no text is hidden by it. The sequences that
erase (``CSI K``, ``CSI 2 K``) become marks, for ``Screen`` to act on.
"""

from __future__ import annotations

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import is_plain

STRING_LIMIT = 64 * 1024
# No string holds what begins one, and no repetition gives back what it took: else 64 KiB of introducers take seconds.
# Every alternative begins with one character, which the engine then looks for, six times as fast as for a choice.
_CSI = r"[0-?]{0,256} [ -/]{0,16} [@-~]?"  # the last part may have been cut off
_OSC = rf"[^\x07\x1b\x90\x98\x9b-\x9f\r\n]{{0,{STRING_LIMIT}}}+ (?:\x07|\x1b\\|\x9c)"  # titles, links
_STRING = rf"[^\x1b\x90\x98\x9b-\x9f\r\n]{{0,{STRING_LIMIT}}}+ (?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
ESCAPES = re.compile(
    rf"""
      \x1b (?: \[ {_CSI} | \] {_OSC} | [PX^_] {_STRING} | [ -/]{{0,16}} [0-~]? )
    | \x9b {_CSI} | \x9d {_OSC} | \x90 {_STRING} | \x98 {_STRING} | \x9e {_STRING} | \x9f {_STRING}
    """,
    re.VERBOSE,
)
NUL, NUL_SHOWN = "\0", "\u2400"  # it stands between names and records, so that it must be seen
SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CONTROLS = re.compile(
    r"[\x01-\x07\x0b-\x1f\x7f-\x9f]+"
)  # all but the NUL, and the backspace, which comes later
_CONTROL_BYTES = bytes([*range(1, 8), *range(0x0B, 0x20), 0x7F])  # those of them that are ASCII
INVALID = re.compile("[\udc80-\udcff]")
# Marks for the sequences that erase: halves of surrogates, which no decoded text holds.
ERASE_TO_END, ERASE_LINE = "\ud800", "\ud801"
ERASER_OF = {
    f"{csi}{mode}": mark
    for csi in ("\x1b[", "\x9b")
    for mode, mark in (("K", ERASE_TO_END), ("0K", ERASE_TO_END), ("2K", ERASE_LINE))
}
ERASERS = (ERASE_TO_END, ERASE_LINE)


def decode(data: bytes) -> str:
    """Bytes as text; each byte that is no UTF-8 becomes U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return INVALID.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


def without_controls(text: str) -> str:
    """A text without control characters, but for tab, LF and backspace; a NUL is shown."""
    if text.isascii():
        data = text.encode()
        if is_plain(data):
            return text
        text = data.translate(None, _CONTROL_BYTES).decode()
    else:
        text = CONTROLS.sub("", text)
    return text.replace(NUL, NUL_SHOWN)


def without_escapes(text: str) -> str:
    """A text without escape sequences; those that erase become marks."""
    if "\x1b" not in text and text.isascii():
        return text
    return ESCAPES.sub(lambda found: ERASER_OF.get(found[0], ""), text)


def has_visible(text: str) -> bool:
    """Whether a text without escape sequences holds any character that a terminal shows."""
    return any(shows(character) and character not in ERASERS for character in text)


def shows(character: str) -> bool:
    """Whether a character takes a place in the cleaned text: a tab does, and a NUL."""
    return character == NUL or not SPECIAL.match(character)
