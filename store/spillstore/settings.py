"""All defaults in one table, with their units.

A setting comes from, in rising precedence: the default here, the environment variable ``SPILLSTORE_<NAME>``, and an
argument to ``Store``. What shapes a file (chunk size, digest algorithm) is written into that file when it is made,
and read from there ever after.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING, Literal

from spillstore.exceptions import InvalidSettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Policy = Literal["roll", "stop", "reject"]
Durability = Literal["normal", "full"]
DigestName = Literal["blake3", "sha256"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "artifact_policy": ("roll", "stop", "reject"),
    "durability": ("normal", "full"),
    "digest": ("blake3", "sha256"),
}
_UNITS = {"": 1, "b": 1, "k": KIB, "kib": KIB, "m": MIB, "mib": MIB, "g": GIB, "gib": GIB}
_SIZE = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """What an operator may set. Sizes are bytes, times are seconds.

    Attributes:
        artifact_limit: raw bytes that one artifact may keep.
        artifact_policy: what happens at that limit: ``roll`` keeps the first quarter and a rolling tail and drops
            the middle, ``stop`` keeps the beginning, ``reject`` fails the write and discards the artifact.
        session_quota: bytes that one session's database may take on disk.
        free_disk_floor: bytes that must stay free on the disk; 0 switches the floor off.
        free_disk_floor_fraction: the same as a fraction of the disk; the larger of the two counts.
        artifacts_per_minute: artifacts that may be created in one session within 60 seconds; 0 is no limit.
        queue_bytes: raw bytes that may wait for compression, per session and process; then ``write`` blocks.
        hold_back: silence after which a line that has no end yet is let through.
        commit_interval: the longest time that written bytes wait for their commit.
        commit_bytes: raw bytes after which a commit starts early.
        busy_timeout: how long to wait for another process's transaction.
        retention: age after which a session that nobody holds is collected.
        collect_interval: the least time between two collections that a new session starts by itself.
        durability: ``normal`` survives a killed process, ``full`` also a power cut (one fsync a commit).
        digest: the digest algorithm of new sessions; see ``_digests.py`` for what was measured.
        cleanup_on_exit: whether ``Session.end`` deletes the session at once.

    Example:
        >>> Settings().artifact_limit == 1024**3
        True
        >>> Settings.load({"SPILLSTORE_ARTIFACT_LIMIT": "64MiB"}, retention=3600.0).artifact_limit
        67108864
    """

    artifact_limit: int = GIB
    artifact_policy: Policy = "roll"
    session_quota: int = 4 * GIB
    free_disk_floor: int = GIB
    free_disk_floor_fraction: float = 0.02
    artifacts_per_minute: int = 600
    queue_bytes: int = 8 * MIB
    hold_back: float = 0.05
    commit_interval: float = 0.2
    commit_bytes: int = 8 * MIB
    busy_timeout: float = 30.0
    retention: float = 7 * 86400.0
    collect_interval: float = 3600.0
    durability: Durability = "normal"
    digest: DigestName = "blake3"
    cleanup_on_exit: bool = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check(field.name, getattr(self, field.name), field.default)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, /, **overrides: object) -> Settings:
        """Defaults, overlaid by the environment, overlaid by ``overrides``.

        Args:
            environ: the variables to read; None for the process's own.
            overrides: settings by name; None leaves the lower layer's value.

        Returns:
            The settings.

        Raises:
            InvalidSettingError: an unknown name, a wrong type, or a value out of range.
        """
        environ = os.environ if environ is None else environ
        fields = {field.name: field.default for field in dataclasses.fields(cls)}
        values: dict[str, object] = {}
        for name, default in fields.items():
            variable = f"SPILLSTORE_{name.upper()}"
            if text := environ.get(variable, ""):
                values[name] = _parse(variable, text, default)
        for name, value in overrides.items():
            if name not in fields:
                raise InvalidSettingError(
                    f"no setting is called {name!r}; there are: {', '.join(sorted(fields))}"
                )
            if value is not None:
                values[name] = value
        return cls(**values)  # type: ignore[arg-type]  # __post_init__ checks each value's type


# A size below this would not hold what it bounds.
_AT_LEAST = {
    "queue_bytes": 64 * KIB,
    "commit_bytes": 64 * KIB,
    "artifact_limit": 1,
    "session_quota": 64 * KIB,
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


def parse_size(name: str, text: str) -> int:
    """A size in bytes, from ``"65536"``, ``"64KiB"`` or ``"1g"`` (powers of 1024).

    Raises:
        InvalidSettingError: the text is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise InvalidSettingError(f"{name} must be a size such as 65536, 64KiB or 1GiB, not {text!r}")
    return int(match[1]) * _UNITS[match[2].lower()]


def _parse(variable: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise InvalidSettingError(f"{variable} must be true or false, not {text!r}")
    if isinstance(default, int):
        return parse_size(variable, text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise InvalidSettingError(f"{variable} must be a number, not {text!r}") from None
    return text
