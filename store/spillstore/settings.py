"""All defaults in one table, with their units.

A setting comes from, in rising precedence: the default here, the environment variable ``SPILLSTORE_<NAME>``, and an
argument to ``Store``. What shapes a file (chunk size, digest algorithm) is written into that file when it is made,
and read from there ever after.

What people write as text, a size, a duration, a number or a truth, is read here and nowhere else: ``parse_size``,
``parse_duration``, ``parse_count``, ``parse_bool``.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from typing import TYPE_CHECKING, Literal, TypedDict

from spillstore.exceptions import InvalidSettingError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Unpack

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
TIB = 1024 * GIB

Policy = Literal["roll", "stop", "reject"]
SessionPolicy = Literal["refuse", "evict"]
StorePolicy = Literal["refuse", "collect"]
Durability = Literal["normal", "full"]
DigestName = Literal["blake3", "sha256"]
AuditLevel = Literal["full", "writes", "off"]
Size = int | str  # bytes: a whole number, or a text such as "64MiB"
Duration = float | str  # seconds: a number, or a text such as "12h"

_CHOICES: dict[str, tuple[str, ...]] = {
    "artifact_policy": ("roll", "stop", "reject"),
    "session_policy": ("refuse", "evict"),
    "store_policy": ("refuse", "collect"),
    "durability": ("normal", "full"),
    "digest": ("blake3", "sha256"),
    "audit": ("full", "writes", "off"),
}
BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_UNITS = {"": 1, "b": 1}
for _letter, _unit in zip("kmgt", (KIB, MIB, GIB, TIB), strict=True):
    _UNITS |= dict.fromkeys((_letter, f"{_letter}b", f"{_letter}ib"), _unit)
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SHOWN = 80  # characters of a wrong text that an error repeats
# A leading zero is octal to some who read the same file; more digits than that are no amount of anything.
_COUNT = r"0|[1-9](?:_?[0-9]){0,30}"
# Compiled when they are first used, by ``re`` itself.
_SIZE = rf"({_COUNT})\s*([a-z]*)"
_DURATION = r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*([a-z]*)"


class SettingsOptions(TypedDict, total=False):
    """The settings as arguments, for type checkers and editors; ``Settings`` describes each.

    None leaves what the environment or the default says. A test compares it with ``Settings``.
    """

    artifact_limit: Size | None
    artifact_policy: Policy | None
    session_quota: Size | None
    session_policy: SessionPolicy | None
    store_quota: Size | None
    store_policy: StorePolicy | None
    free_disk_floor: Size | None
    free_disk_floor_fraction: float | None
    artifacts_per_minute: int | None
    queue_bytes: Size | None
    hold_back: Duration | None
    commit_interval: Duration | None
    commit_bytes: Size | None
    busy_timeout: Duration | None
    lease: Duration | None
    retention: Duration | None
    collect_interval: Duration | None
    redact: bool | None
    durability: Durability | None
    digest: DigestName | None
    digest_key_file: str | None
    cleanup_on_exit: bool | None
    hidden_metadata: bool | None
    audit: AuditLevel | None
    audit_events: int | None
    audit_age: Duration | None
    audit_keep: bool | None


SIZES = frozenset(
    {"artifact_limit", "session_quota", "store_quota", "free_disk_floor", "queue_bytes", "commit_bytes"}
)
DURATIONS = frozenset(
    {"hold_back", "commit_interval", "busy_timeout", "lease", "retention", "collect_interval", "audit_age"}
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of a store. Sizes are bytes, times are seconds.

    Attributes:
        artifact_limit: raw bytes that one artifact may keep.
        artifact_policy: what happens at that limit: ``roll`` keeps the first quarter and a rolling tail and drops
            the middle, ``stop`` keeps the beginning, ``reject`` fails the write and discards the artifact.
        session_quota: bytes that one session's database may take on disk.
        session_policy: what happens there: ``refuse`` fails what is written, ``evict`` deletes ended artifacts, those that
            nobody has read first, the oldest first.
        store_quota: bytes that all sessions of the store may take together when something new is begun; 0 is no limit.
        store_policy: what happens there: ``collect`` deletes sessions that nobody holds, the oldest first, and fails what
            is begun if that is not enough; ``refuse`` fails it at once.
        free_disk_floor: bytes that must stay free on the disk; 0 switches the floor off.
        free_disk_floor_fraction: the same as a fraction of the disk; the larger of the two counts.
        artifacts_per_minute: artifacts that may be created in one session within 60 seconds; 0 is no limit.
        queue_bytes: raw bytes of one artifact that may wait for their commit; then ``write`` blocks. More than four
            artifacts that are written at once share four times as much.
        hold_back: silence after which a line that has no end yet is let through.
        commit_interval: the longest time that written bytes wait for their commit.
        commit_bytes: raw bytes after which a commit starts early.
        busy_timeout: how long to wait for another process's transaction, and for a server that is away.
        lease: silence after which a process that writes to a session on a server counts as dead; folders need none.
        retention: age after which a session that nobody holds is collected.
        collect_interval: the least time between two collections that a new session starts by itself.
        redact: whether secrets are taken out before anything is stored.
        durability: ``normal`` survives a killed process, ``full`` also a power cut (one fsync a commit).
        digest: the digest algorithm of new sessions; see ``format.digests`` for what was measured.
        digest_key_file: a file that holds a key of at least 32 bytes; with it digests are keyed, so that who can change a
            session's file, but has not the key, cannot change what is read from it. "" for none.
        cleanup_on_exit: whether ``Session.end`` deletes the session at once.
        hidden_metadata: whether the source and the command of new artifacts are stored as short keyed digests alone.
        audit: which events are recorded: ``full`` all; ``writes`` none of reads and previews; ``off`` none but what the
            library needs itself (texts of previews that show what was dropped, and what ``Artifact.reading`` has shown).
        audit_events: events that a session keeps; of more, the oldest go.
        audit_age: age after which an event goes; 0 keeps it.
        audit_keep: whether the events of a deleted session are kept in ``.audit.db`` of its project's folder.

    Example:
        >>> Settings().artifact_limit == 1024**3
        True
        >>> Settings.load({"SPILLSTORE_ARTIFACT_LIMIT": "64MiB"}, retention=3600.0).artifact_limit
        67108864
    """

    artifact_limit: int = GIB
    artifact_policy: Policy = "roll"
    session_quota: int = 4 * GIB
    session_policy: SessionPolicy = "refuse"
    store_quota: int = 20 * GIB
    store_policy: StorePolicy = "collect"
    free_disk_floor: int = GIB
    free_disk_floor_fraction: float = 0.02
    artifacts_per_minute: int = 600
    queue_bytes: int = 12 * MIB
    hold_back: float = 0.05
    commit_interval: float = 0.2
    commit_bytes: int = 6 * MIB
    busy_timeout: float = 30.0
    lease: float = 30.0
    retention: float = 7 * 86400.0
    collect_interval: float = 3600.0
    redact: bool = True
    durability: Durability = "normal"
    digest: DigestName = "blake3"
    digest_key_file: str = ""
    cleanup_on_exit: bool = False
    hidden_metadata: bool = False
    audit: AuditLevel = "full"
    audit_events: int = 100_000
    audit_age: float = 30 * 86400.0
    audit_keep: bool = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check(field.name, getattr(self, field.name), field.default)

    @classmethod
    def load(
        cls, environ: Mapping[str, str] | None = None, /, **overrides: Unpack[SettingsOptions]
    ) -> Settings:
        """Defaults, overlaid by the environment, overlaid by ``overrides``.

        Args:
            environ: the variables to read; None for the process's own.
            overrides: settings by name; None leaves the lower layer's value. A size may be a text such as ``"64MiB"``, a
                duration one such as ``"12h"``.

        Returns:
            The settings.

        Raises:
            InvalidSettingError: an unknown name, a wrong type, or a value out of range.
        """
        environ = os.environ if environ is None else environ
        fields = {field.name: field.default for field in dataclasses.fields(cls)}
        values: dict[str, object] = {}
        for name, default in fields.items():
            variable = _variable(name)
            if text := environ.get(variable, ""):
                values[name] = _parse(name, variable, text, default)
        check_names("setting", overrides, fields)
        for name, value in overrides.items():
            if value is not None:
                is_text = isinstance(value, str) and name in SIZES | DURATIONS
                values[name] = _parse(name, name, str(value), fields[name]) if is_text else value
        return cls(**values)  # type: ignore[arg-type]  # __post_init__ checks each value's type

    @classmethod
    def wrong(cls, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables that ``load`` would refuse, and why; but for those of yes and no, whose default may tell more than is wanted.

        >>> Settings.wrong({"SPILLSTORE_ARTIFACT_LIMIT": "nope", "SPILLSTORE_DURABILITY": "full", "HOME": "/"}).keys()
        dict_keys(['SPILLSTORE_ARTIFACT_LIMIT'])
        """
        found: dict[str, str] = {}
        for field in dataclasses.fields(cls):
            variable = _variable(field.name)
            if not environ.get(variable) or isinstance(field.default, bool):
                continue
            try:
                cls.load({variable: environ[variable]})
            except InvalidSettingError as error:
                found[variable] = str(error)
        return found


def _variable(name: str) -> str:
    return f"SPILLSTORE_{name.upper()}"


# A size below this would not hold what it bounds.
_AT_LEAST = {
    "queue_bytes": 64 * KIB,
    "commit_bytes": 64 * KIB,
    "artifact_limit": 1,
    "session_quota": 64 * KIB,
    "lease": 0.1,
}


def _check(name: str, value: object, default: object) -> None:
    """Refuse a value of a wrong type or out of range, naming both and the way out."""
    kinds: tuple[type, ...] = (int, float) if type(default) is float else (type(default),)
    if type(value) not in kinds:
        raise InvalidSettingError(f"{name} must be {type(default).__name__}, not {value!r}")
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise InvalidSettingError(f"{name} must be one of {', '.join(_CHOICES[name])}, not {value!r}")
    elif isinstance(value, (int, float)) and not (_AT_LEAST.get(name, 0) <= value < 2**62):
        raise InvalidSettingError(f"{name} must be at least {_AT_LEAST.get(name, 0)}, not {value!r}")


def check_names(what: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse names that there are not, with those that may be meant.

    Args:
        what: a name stands for: ``setting``, ``option``.
        given: the names.
        known: those that there are.

    Raises:
        InvalidSettingError: one of them is unknown.
    """
    for name in given:
        if name not in known:
            import difflib  # noqa: PLC0415  # only for a mistake

            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}? There are" if near else "there are"
            raise InvalidSettingError(f"no {what} is called {name!r}; {meant}: {', '.join(known)}")


def parse_size(name: str, text: str) -> int:
    """A size in bytes, from ``"65536"``, ``"64KiB"``, ``"64K"`` or ``"64KB"``: units are powers of 1024, up to ``TiB``.

    Args:
        name: what is set, as the error names it.
        text: what was written.

    Raises:
        InvalidSettingError: the text is no size.

    Example:
        >>> parse_size("limit", "64KiB"), parse_size("limit", "1g"), parse_size("limit", "8_000")
        (65536, 1073741824, 8000)
    """
    match = re.fullmatch(_SIZE, text.strip(), re.IGNORECASE)
    if match is None or match[2].lower() not in _UNITS:
        raise InvalidSettingError(f"{name} must be a size such as 65536, 64KiB or 1GiB, not {_shown(text)}")
    return int(match[1]) * _UNITS[match[2].lower()]


def parse_duration(name: str, text: str) -> float:
    """A duration in seconds, from ``"0.5"``, ``"200ms"``, ``"30s"``, ``"15m"``, ``"12h"`` or ``"7d"``.

    Args:
        name: what is set, as the error names it.
        text: what was written.

    Raises:
        InvalidSettingError: the text is no duration.

    Example:
        >>> parse_duration("retention", "7d"), parse_duration("retention", "3600")
        (604800.0, 3600.0)
    """
    match = re.fullmatch(_DURATION, text.strip(), re.IGNORECASE)
    unit = None if match is None else _SECONDS.get(match[2].lower())
    if match is None or unit is None or not math.isfinite(seconds := float(match[1]) * unit):
        raise InvalidSettingError(
            f"{name} must be a duration such as 0.5 (seconds), 200ms, 15m, 12h or 7d, not {_shown(text)}"
        )
    return seconds


def parse_count(name: str, text: str) -> int:
    """A whole number from 0 on, from ``"600"`` or ``"100_000"``.

    Args:
        name: what is set, as the error names it.
        text: what was written.

    Raises:
        InvalidSettingError: the text is no such number.
    """
    if re.fullmatch(_COUNT, text.strip()) is None:
        raise InvalidSettingError(f"{name} must be a whole number such as 600, not {_shown(text)}")
    return int(text)


def parse_bool(name: str, text: str) -> bool:
    """True from ``true``, ``yes``, ``on`` or ``1``, False from ``false``, ``no``, ``off`` or ``0``, in any case.

    Args:
        name: what is set, as the error names it.
        text: what was written.

    Raises:
        InvalidSettingError: the text is neither.

    Example:
        >>> parse_bool("redact", "1"), parse_bool("redact", "Off")
        (True, False)
    """
    found = BOOLEANS.get(text.strip().lower())
    if found is None:
        raise InvalidSettingError(f"{name} must be true or false (1 and 0 will do), not {_shown(text)}")
    return found


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _parse(name: str, called: str, text: str, default: object) -> object:
    """A setting from a text that stands where errors call it ``called``."""
    if name in SIZES:
        return parse_size(called, text)
    if name in DURATIONS:
        return parse_duration(called, text)
    if isinstance(default, bool):
        return parse_bool(called, text)
    if isinstance(default, int):
        return parse_count(called, text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise InvalidSettingError(
                f"{called} must be a number such as {default}, not {_shown(text)}"
            ) from None
    return text
