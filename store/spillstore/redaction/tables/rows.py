"""The columns of the tables of places and of commands.

In the examples what is a secret is drawn when the tests run: ``%a{36}`` stands for 36 letters and digits.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.tables.classes import TOKEN

ARGUMENT = r"(?<=')[^'\r\n]*+|(?<=\")[^\"\r\n]*+|(?<![\"'])[^\s\"'`\x00-\x20|;&]*+"


class Place(NamedTuple):
    """What stands before a secret, and what the secret is like.

    Attributes:
        kind: of the placeholder.
        literals: texts that are looked for.
        before: expression for what may stand between a literal and the secret.
        run: the bytes that the secret cannot leave: a class, or an expression.
        least: how many of them there are at least.
        form: expression that the run begins with; its group, if it has one, is the secret.
        judge: what is asked of the secret besides, by its name in ``places.py``.
        apart: whether no letter or digit may stand before the literal.
        rule: the function of Python that finds the secret, for what no row can say; then no other column counts.
        goes: examples whose drawn parts go, one a line.
        stays: examples that stay as they are.
    """

    kind: str
    literals: tuple[str, ...]
    before: str = ""
    run: str = TOKEN
    least: int = 1
    form: str = ""
    judge: str = ""
    apart: bool = False
    rule: str = ""
    goes: str = ""
    stays: str = ""


class Command(NamedTuple):
    """Programs that take a secret without a name.

    Attributes:
        kind: of the placeholder.
        programs: as they are called, with commas between them.
        before: expression for what stands before the secret; if it begins with a dash or a slash it is an option, which may stand
            anywhere in the command, and otherwise it follows the program.
        run: expression for the argument.
        judge: what is asked of the secret; ``login`` for a user and a password with a colon between them.
        goes: an example whose drawn part goes.
        stays: an example that stays as it is.
    """

    kind: str
    programs: str
    before: str
    run: str = ARGUMENT
    judge: str = "chosen"
    goes: str = ""
    stays: str = ""
