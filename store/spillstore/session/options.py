"""The keyword arguments of ``Session.create`` and ``Session.put`` as types, for functions that hand them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

if TYPE_CHECKING:
    from spillstore.info import Newline
    from spillstore.ingest.sequencer import Sequencer
    from spillstore.ingest.stream_filters import FilterFactory, Tap
    from spillstore.redaction import Redacted, RedactionRules
    from spillstore.settings import Policy, Size

    Redact: TypeAlias = bool | Redacted | RedactionRules | None


class MetaOptions(TypedDict, total=False):
    """The metadata of a new artifact; ``Session.create`` describes each option."""

    source: str
    tool_call_id: str | None
    command: str | None
    content_type: str | None
    newline: Newline
    limit: Size | None
    policy: Policy | None
    redact: Redact


class PutOptions(MetaOptions, total=False):
    """The same, and what is known of content that is already there."""

    exit_code: int | None


class CreateOptions(MetaOptions, total=False):
    """The same, and what sees the bytes before they are stored."""

    filters: FilterFactory | None
    tap: Tap | None
    ago: float
    spool: int | Sequencer | None
