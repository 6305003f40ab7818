"""What the native scanner knows of the other tables: classes of bytes and lists of words, in the order of ``_native/scan.h``."""

from __future__ import annotations

import re

from spillstore.redaction.tables import classes, forms, names, values

CLASSES = (
    classes.NAME,
    f"[{re.escape(forms.BEHIND)}]",
    f"[{re.escape(forms.CLOSERS)}]",
    r"[ \t]",
    r"[\r\n]",
    classes.WORD,
    classes.KEY,
    "[A-Za-z0-9]",
    "[0-9]",
    classes.PIECE,
    "[0-9.,:+-]",
    r"[`\\&$@(\[{<!|>,+%\xe2-]",  # with the first byte of the bars of a frame
    r"[)\]}>,;.:]",
    f"[{re.escape(forms.BEFORE_OPTION)}]",
    r"[-+>#*|;/\"' \t]",
    r"[\w-]",
    f"[{re.escape(classes.BEFORE_RUN)}]",
    f"[{re.escape(classes.BEHIND_RUN)}]",
)
# Classes of the first or the last letters of words, in both cases.
LETTERS = (
    *((words, 0) for words in (forms.SPOKEN, forms.TYPES, values.PLAIN)),
    *((words, -1) for words in (forms.QUALIFIERS, forms.SETTERS)),
    *((words, 0) for words in (forms.VALUES, forms.PASSED)),
)
# A line that may hold the value of a name above it begins with one of these, or with a letter of these words.
BEGINS = r"[\r\n<\\\"'+-]"
BEGIN_LINES = (forms.VALUES, forms.PASSED)
# Words, in either case, and parts of lines.
WORDS = {
    "spoken": forms.SPOKEN,
    "values": forms.VALUES,
    "passed": forms.PASSED,
    "placeholders": values.PLAIN,
    "qualifiers": forms.QUALIFIERS,
}
PARTS = {
    "types": forms.TYPES,
    "setters": forms.SETTERS,
    "commands": forms.COMMANDS,
    "endings": " ".join(names.ENDINGS),
    "short_endings": " ".join(names.SHORT_ENDINGS),
}
