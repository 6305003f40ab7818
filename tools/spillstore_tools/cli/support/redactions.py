"""Secrets that were taken out of output: counted, reported, and the option to keep them."""

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


def redactions_of(artifact: Artifact) -> dict[str, int]:
    """How many secrets of each kind were taken out of an artifact, by its events."""
    found: dict[str, int] = {}
    for event in artifact.events("redaction"):
        for kind, number in event.detail.get("counts", {}).items():
            found[kind] = found.get(kind, 0) + number
    return found


def redaction_summary(counts: Mapping[str, int]) -> str:
    """The numbers in words; an empty string for none."""
    if not counts:
        return ""
    kinds = ", ".join(kind if number == 1 else f"{kind} x{number}" for kind, number in sorted(counts.items()))
    return f"{count(sum(counts.values()), 'secret')} taken out of what is stored ({kinds})"


def report_redactions(counts: Mapping[str, int]) -> None:
    """Report on stderr what was taken out, if anything was, and how to keep it."""
    if words := redaction_summary(counts):
        note(f"{words}; --no-redact keeps them")
