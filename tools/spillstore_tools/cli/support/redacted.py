"""Secrets that are taken out: said, and how to keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.output import note
from spillstore_tools.describe import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore import Artifact

no_redact_option = click.option(
    "--no-redact",
    is_flag=True,
    help="Keep secrets as they are. SPILLSTORE_REDACT=0 does so for all commands.",
)


def counted(artifact: Artifact) -> dict[str, int]:
    """How many secrets of each kind were taken out of an artifact, as its events tell."""
    found: dict[str, int] = {}
    for event in artifact.events("redaction"):
        for kind, number in event.detail.get("counts", {}).items():
            found[kind] = found.get(kind, 0) + number
    return found


def told(counts: Mapping[str, int]) -> str:
    """What was taken out, in words; an empty string for nothing."""
    if not counts:
        return ""
    kinds = ", ".join(kind if number == 1 else f"{kind} x{number}" for kind, number in sorted(counts.items()))
    return f"{count(sum(counts.values()), 'secret')} taken out of what is stored ({kinds})"


def announce(counts: Mapping[str, int]) -> None:
    """Say on stderr what was taken out, if anything was, and how to keep it."""
    if words := told(counts):
        note(f"{words}; --no-redact keeps them")
