"""Secrets on command lines and in login files, where no name says so: ``curl -u``, ``mysql -p``, ``.pgpass``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.look import ALNUM, compiled, line_start
from spillstore.redaction.places import JUDGES, chosen
from spillstore.redaction.tables.places import COMMANDS
from spillstore.redaction.values import LEAST, drawn, harmless
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look
    from spillstore.redaction.tables.rows import Command

_OPTIONS = 512  # bytes of a command line that belong to one command
_OWN_LINE = re.compile(rb"(?:[\r\n]|^)[ \t#]*\Z")
_OPENED = re.compile(rb"[ \t=]{0,8}+")
_LOGIN = re.compile(
    rb"(?=[\"']?([^\s:\"']{0,128}))(?:\"[^\":\r\n]{0,128}+:([^\"\r\n]*+)|'[^':\r\n]{0,128}+:([^'\r\n]*+)"
    rb"|(?:\"[^\":\r\n]{0,128}+\"|'[^':\r\n]{0,128}+'|[^\s\"':]{0,128}+):(?:\"([^\"\r\n]*+)|'([^'\r\n]*+)|([^\s\"'`\x00-\x20]*+)))"
)
_USER = re.compile(rb"[\"']?[^\s:\"']{0,128}+")
_PGPASS = re.compile(rb"(?<=:)[^:\s]{1,64}+:[^:\s]{1,64}+:(?=[^:\s])")
_HOST = re.compile(rb"[\w.*-]{1,200}|\[[0-9a-f:]{2,45}\]")
_FIELD_END = re.compile(rb"[\s/]")


class Program:
    """The rule of a program that takes a secret without a name.

    Attributes:
        option: whether its secret is that of an option, which stands anywhere in the command.
    """

    def __init__(self, name: str, row: Command) -> None:
        self._row = row
        self._name = name.encode()
        self.option = row.before[0] in "-/"
        self._before = f"[ \t]{'' if self.option else '+'}{row.before}"

    def __call__(self, look: Look, start: int, end: int) -> int:
        """The program and a blank stand here."""
        text = look.text
        if (start and text[start - 1] in ALNUM) or start < look.commands.get(self._name, 0):
            return end
        line = min(look.line(end), end + _OPTIONS)
        form = compiled(self._before)
        for match in form.finditer(text, end - 1, line) if self.option else [form.match(text, end - 1, line)]:
            if match:
                look.commands[self._name] = line
                self._found(look, match.end())
        return end

    def _found(self, look: Look, begin: int) -> None:
        row = self._row
        if row.judge == "login":
            _login(look, begin)
            return
        stop = look.end(compiled(row.run), begin)
        if not look.open(begin, stop) and JUDGES[row.judge](look.text[begin:stop]):
            look.add(begin, stop, row.kind)


PROGRAMS = tuple((f"{name} ", Program(name, row)) for row in COMMANDS for name in row.programs.split(","))


def own_line(look: Look, start: int, end: int) -> int:
    """``-u user:password`` in a line of its own, of a command in several."""
    text = look.text
    if _OWN_LINE.search(text, max(0, start - 64), start):
        _login(look, look.end(_OPENED, end))
    return end


def _login(look: Look, start: int) -> None:
    """``user:password``, any part of it in quotes."""
    match = _LOGIN.match(look.text, start)
    if match is None:
        look.open(start, look.end(_USER, start))
        return
    group = match.lastindex or 0
    begin, stop = match.span(group)
    user, value = match[1], match[group]
    key = len(user) >= LEAST and drawn(user) and not harmless(user)
    if look.open(match.start(1) if key else begin, match.end()):
        return
    if key and not value:  # it needs no password
        look.add(match.start(1), match.end(1), "TOKEN")
    if chosen(value) and value != user and user[:1] != b"<" and not value.isdigit():
        look.add(begin, stop, "PASSWORD")


def pgpass(look: Look, start: int, end: int) -> int:
    """A line of ``.pgpass``: host, port, database, user, password."""
    text = look.text
    low = max(0, start - 256)
    begin = line_start(text, start, low)
    match = _PGPASS.match(text, end)
    if match is None or 0 < low == begin or not _HOST.fullmatch(text, begin, start):
        return end
    stop = look.line(match.end())
    if look.open(match.end(), stop):
        return stop
    value = text[match.end() : stop]
    shadow = match[0].replace(b":", b"").isdigit()  # of /etc/shadow
    if value and not shadow and not _FIELD_END.search(value) and not harmless(value):
        look.add(match.end(), stop, "PASSWORD")
    return end
