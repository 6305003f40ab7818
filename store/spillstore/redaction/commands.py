"""Secrets on command lines and in files of programs, where no name says so: ``curl -u``, ``mysql -p``, ``.pgpass``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.redaction.addresses import ANYTHING
from spillstore.redaction.look import ALNUM
from spillstore.redaction.values import LEAST, drawn, harmless

if TYPE_CHECKING:
    from spillstore.redaction.look import Look, Rule

_OPTIONS = 512  # bytes of a command line that belong to one command
_LEAST = 3
_LEAST_TOKEN = 16
_OWN_LINE = re.compile(rb"(?:[\r\n]|^)[ \t#]*\Z")
_OPENED = re.compile(rb"[ \t=]{0,8}+")
_LOGIN = re.compile(
    rb"(?=[\"']?([^\s:\"']{0,128}))(?:\"[^\":\r\n]{0,128}+:([^\"\r\n]*+)|'[^':\r\n]{0,128}+:([^'\r\n]*+)"
    rb"|(?:\"[^\":\r\n]{0,128}+\"|'[^':\r\n]{0,128}+'|[^\s\"':]{0,128}+):(?:\"([^\"\r\n]*+)|'([^'\r\n]*+)|([^\s\"'`\x00-\x20]*+)))"
)
_USER = re.compile(rb"[\"']?[^\s:\"']{0,128}+")
_ARGUMENT = re.compile(rb"(?<=')[^'\r\n]*+|(?<=\")[^\"\r\n]*+|(?<![\"'])[^\s\"'`\x00-\x20|;&]*+")
_COMMANDS = {
    b"mysql": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"mysqldump": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"mysqladmin": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"mariadb": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"sshpass": re.compile(rb"[ \t]-p[ \t]*[\"']?"),
    b"curl": re.compile(rb"[ \t](?:-u[ \t]*|-[a-zA-Z]{1,6}u[ \t]+|--(?:proxy-)?user[ \t=]+|-U[ \t]+)"),
    b"etcdctl": re.compile(rb"[ \t]--user[ \t=]+"),
    b"redis-cli": re.compile(rb"[ \t]-a[ \t]+[\"']?"),
    b"ldapsearch": re.compile(rb"[ \t]-w[ \t]+[\"']?"),
    b"smbclient": re.compile(rb"[ \t]-U[ \t]+[\"']?"),
    b"docker login": re.compile(rb"[ \t]-p[ \t=]+[\"']?"),
    b"sqlcmd": re.compile(rb"[ \t]-P[ \t]+[\"']?"),
    b"mongosh": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"mongodump": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"mongo": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"mongorestore": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"mongoexport": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"az sql": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"beeline": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"cqlsh": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"cypher-shell": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"evil-winrm": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"psexec": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"PSEXEC": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"PsExec": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"psexec.exe": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"PSEXEC.EXE": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"PsExec.exe": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"rdesktop": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"xfreerdp": re.compile(rb"[ \t]/p:[\"']?"),
    b"schtasks": re.compile(rb"[ \t]/rp[ \t]+[\"']?"),
    b"useradd": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"ldapmodify": re.compile(rb"[ \t]-w[ \t]+[\"']?"),
    b"ldapadd": re.compile(rb"[ \t]-w[ \t]+[\"']?"),
    b"ldapwhoami": re.compile(rb"[ \t]-w[ \t]+[\"']?"),
    b"7z a": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"7z x": re.compile(rb"[ \t]-p(?=[^\s-])[\"']?"),
    b"bcp": re.compile(rb"[ \t]-P[ \t]+[\"']?"),
    b"http": re.compile(rb"[ \t](?:-a|--auth)[ \t=]+"),
    b"https": re.compile(rb"[ \t](?:-a|--auth)[ \t=]+"),
    b"zip": re.compile(rb"[ \t]-P[ \t]+[\"']?"),
    b"unzip": re.compile(rb"[ \t]-P[ \t]+[\"']?"),
    b"openssl": re.compile(rb"[ \t]-k[ \t]+[\"']?|[ \t]-pass(?:in|out)?[ \t]+[\"']?pass:"),
    b"htpasswd": re.compile(rb"[ \t]-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+[\"']?"),
    b"rabbitmqctl": re.compile(rb"[ \t](?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+[\"']?"),
    b"sqlplus": re.compile(rb"[ \t](?:-\w+[ \t]+){0,3}[\"']?[\w$#]+/(?!@)"),
    b"alias set": re.compile(rb"[ \t]\w[\w-]*[ \t]+https?://\S+[ \t]+\S+[ \t]+[\"']?"),
    b"authtoken": re.compile(rb"[ \t]+(?=\w)"),
    b"snyk auth": re.compile(rb"[ \t]+(?=\w)"),
    b"wandb login": re.compile(rb"[ \t]+(?=\w)"),
    b"codecov": re.compile(rb"[ \t]-t[ \t]+[\"']?"),
    b"doctl": re.compile(rb"[ \t]-t[ \t]+[\"']?"),
    b"ConvertTo-SecureString": re.compile(
        rb"[ \t]+(?:-String[ \t]+|-AsPlainText[ \t]+|-Force[ \t]+){0,3}+(?:\\{0,4}[\"']|(?=[^\s\"'|)(-]))"
    ),
    b"az login": re.compile(rb"[ \t]-p[ \t]+[\"']?"),
    b"ssh-keygen": re.compile(rb"[ \t]-[NP][ \t]+[\"']?"),
    b"snmpwalk": re.compile(rb"[ \t]-[AX][ \t]+[\"']?"),
    b"snmpget": re.compile(rb"[ \t]-[AX][ \t]+[\"']?"),
}
_GIVEN = {b"authtoken", b"snyk auth", b"wandb login", b"codecov", b"doctl"}  # tokens, to programs
DIRECT = {
    b"authtoken",
    b"snyk auth",
    b"wandb login",
    b"ConvertTo-SecureString",
    b"htpasswd",
    b"alias set",
    b"sqlplus",
}
WITHOUT_OPTION = DIRECT | {b"rabbitmqctl"}
_LOGINS = {b"curl", b"etcdctl", b"http", b"https"}
_PGPASS = re.compile(rb"(?<=:)[^:\s]{1,64}+:[^:\s]{1,64}+:(?=[^:\s])")
_HOST = re.compile(rb"[\w.*-]{1,200}|\[[0-9a-f:]{2,45}\]")
_QUOTES = frozenset({b"'", b'"', b"`"})
_DISCORD = re.compile(
    rb"[MNO][DTjz](?:[AEIMQUYcgk][w-z0-5][MNO][DTjz]){3,4}[A-Za-z0-9_-]{2,10}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
)
_DISCORD_OPEN = re.compile(rb"[MNO][DTjz](?:$|[AEIMQUYcgk](?:$|[w-z0-5](?:$|[MNO])))")


def command(look: Look, start: int, end: int) -> int:
    """A program that takes a password by a short option."""
    text = look.text
    word = text[start:end].strip()
    form = _COMMANDS.get(word)
    if form is None or (start and text[start - 1] in ALNUM):
        return end
    if start < look.commands.get(word, 0):
        return end
    line = min(look.line(end), end + _OPTIONS)
    if word in _LOGINS:
        for match in form.finditer(text, end - 1, line):
            look.commands[word] = line
            _login(look, match.end())
        return end
    for match in form.finditer(text, end - 1, line):
        if word in DIRECT and match.start() != end - 1:
            break
        look.commands[word] = line
        begin = match.end()
        stop = look.end(_ARGUMENT, begin)
        if look.open(begin, stop):
            continue
        _argument(look, word, begin, text[begin:stop])
    return end


def _argument(look: Look, word: bytes, begin: int, value: bytes) -> None:
    """What a program is given as a password or a token."""
    if word in _GIVEN:
        if len(value) >= _LEAST_TOKEN and drawn(value):
            look.add(begin, begin + len(value), "TOKEN")
        return
    if word == b"smbclient":
        _, sign, password = value.partition(b"%")
        begin, value = begin + len(value) - len(password), password if sign else b""
    if word == b"sqlplus":
        value = value.partition(b"@")[0]
    if len(value) >= _LEAST and not harmless(value) and value.lower() not in ANYTHING:
        look.add(begin, begin + len(value), "PASSWORD")


def option(look: Look, start: int, end: int) -> int:
    """``-u user:password`` in a line of its own, of a command in several."""
    text = look.text
    if not _OWN_LINE.search(text, max(0, start - 64), start):
        return end
    _login(look, _OPENED.match(text, end).end())  # type: ignore[union-attr]  # it matches everywhere
    return end


def _login(look: Look, start: int) -> None:
    """``user:password``, any part of it in quotes."""
    text = look.text
    match = _LOGIN.match(text, start)
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
    if (
        len(value) >= _LEAST
        and not harmless(value)
        and value != user
        and value.lower() not in ANYTHING
        and user[:1] != b"<"
        and not value.isdigit()
    ):
        look.add(begin, stop, "PASSWORD")


def pgpass(look: Look, start: int, end: int) -> int:
    """A line of ``.pgpass``: host, port, database, user, password."""
    text = look.text
    low = max(0, start - 256)
    head = text[low:start]
    begin = max(head.rfind(b"\n"), head.rfind(b"\r")) + 1
    if begin == 0 and low:
        return end
    match = _PGPASS.match(text, end)
    if match is None or not _HOST.fullmatch(head, begin):
        return end
    stop = look.line(match.end())
    if look.open(match.end(), stop):
        return stop
    value = text[match.end() : stop]
    if match[0].replace(b":", b"").isdigit():  # of /etc/shadow
        return end
    if value and not re.search(rb"[\s/]", value) and not harmless(value):
        look.add(match.end(), stop, "PASSWORD")
    return end


def discord(look: Look, _start: int, end: int) -> int:
    """Where a Discord bot is started with its token: a number in base64, a time, a digest."""
    text = look.text
    begin = end + (text[end : end + 1] in _QUOTES)
    stop = look.run(begin)
    if stop == look.size and not look.final and _DISCORD_OPEN.match(text, begin):
        look.open(begin, stop)
    elif match := _DISCORD.match(text, begin):
        look.add(begin, match.end(), "DISCORD_TOKEN")
    return end


RULES: tuple[tuple[str, Rule], ...] = (
    ("-u ", option),
    ("--user ", option),
    (".login(", discord),
    (".run(", discord),
    ("Bot ", discord),
    (":5432:", pgpass),
    (":5433:", pgpass),
    (":6432:", pgpass),
    (":*:", pgpass),
    *((f"{word.decode()} ", command) for word in _COMMANDS),
)
