"""Rules from files in the TOML format of gitleaks (its configuration, https://github.com/gitleaks/gitleaks#configuration).

Read are ``id``, ``regex``, ``secretGroup``, ``keywords``, ``entropy`` and the allow-lists with ``regexes``, ``stopwords``,
``regexTarget`` and ``condition``. Files and commits do not exist here: a rule for paths alone is left out, paths and commits
in allow-lists allow nothing, and what they would restrict is looked for everywhere. Every other field is refused by name.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from spillstore.exceptions import InvalidSettingError
from spillstore.redaction.patterns import Allowed, Pattern, compiled

_TOP = {"title", "description", "minVersion", "rules", "allowlist", "allowlists"}
_RULE = set(
    "id description regex secretGroup entropy keywords tags path allowlist allowlists".split()  # noqa: SIM905
)
_ALLOW = set(
    "description regexes stopwords regexTarget condition paths commits targetRules".split()  # noqa: SIM905
)


def read(source: str | Path) -> tuple[Pattern, ...]:
    """The rules of a file.

    Args:
        source: a path, or the TOML itself as a string.

    Returns:
        A pattern a rule, its kind the rule's id in capitals. The file's own allow-list holds for each.

    Raises:
        InvalidSettingError: it is no TOML, or has fields that are not supported; they are named.
        PatternError: an expression is none of RE2's.

    >>> [rule] = read('''
    ... [[rules]]
    ... id = "badge-number"
    ... regex = "badge-([0-9]{6})"
    ... secretGroup = 1
    ... keywords = ["badge-"]
    ... ''')
    >>> rule.kind, rule.group, rule.keywords
    ('BADGE_NUMBER', 1, ('badge-',))
    """
    text = source.read_text("utf-8") if isinstance(source, Path) else source
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettingError(f"the rules are no TOML: {error}") from None
    _known(table, _TOP, "the file")
    general = _allow_lists(table, "the file")
    rules = table.get("rules", [])
    for number, rule in enumerate(rules, 1):
        _known(rule, _RULE, f"rule {number}")
    return tuple(
        _rule(rule, [allowed for allowed, of in general if not of or rule.get("id") in of])
        for rule in rules
        if "regex" in rule
    )


def _known(table: Any, fields: set[str], place: str) -> None:
    if not isinstance(table, dict):
        raise InvalidSettingError(f"{place}: a table is wanted, not {type(table).__name__}")
    if unknown := sorted(set(table) - fields):
        place = f"rule {table['id']!r}" if isinstance(table.get("id"), str) else place
        raise InvalidSettingError(
            f"{place}: not supported: {', '.join(unknown)}; supported: {', '.join(sorted(fields))}"
        )


def _rule(rule: dict[str, Any], general: list[Allowed]) -> Pattern:
    place = f"rule {rule.get('id')!r}"
    name, pattern = (_of(rule, field, str, place) for field in ("id", "regex"))
    own = [allowed for allowed, _ in _allow_lists(rule, place)]
    group = _of(rule, "secretGroup", int, place, 0)
    return Pattern(
        name=name,
        pattern=pattern,
        group=group or min(1, compiled(pattern, name).groups),  # the first one, if none is named
        keywords=tuple(_list(rule, "keywords", place)),
        entropy=float(_of(rule, "entropy", (int, float), place, 0.0)),
        allowed=tuple(own + general),
    )


def _allow_lists(table: dict[str, Any], place: str) -> list[tuple[Allowed, list[str]]]:
    lists = table.get("allowlists", [])
    if "allowlist" in table:
        lists = [*lists, table["allowlist"]]
    found = []
    for entry in lists:
        where = f"{place}, allow-list"
        _known(entry, _ALLOW, where)
        every = str(entry.get("condition", "OR")).upper() in {"AND", "&&"}
        if every and (entry.get("paths") or entry.get("commits")):
            continue
        target = _of(entry, "regexTarget", str, where, "secret") or "secret"
        if target not in {"secret", "match", "line"}:
            raise InvalidSettingError(f"{where}: regexTarget {target!r} is none of secret, match, line")
        found.append(
            (
                Allowed(
                    patterns=tuple(_list(entry, "regexes", where)),
                    stopwords=tuple(_list(entry, "stopwords", where)),
                    target=target,
                    every=every,
                ),
                _list(entry, "targetRules", where),
            )
        )
    return found


def _of(table: dict[str, Any], field: str, wanted: Any, place: str, default: Any = None) -> Any:
    value = table.get(field, default)
    if not isinstance(value, wanted):
        raise InvalidSettingError(
            f"{place}: {field} is {value!r}, which is no {getattr(wanted, '__name__', 'number')}"
        )
    return value


def _list(table: dict[str, Any], field: str, place: str) -> list[str]:
    value = table.get(field, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidSettingError(f"{place}: {field} is {value!r}, which is no list of strings")
    return value
