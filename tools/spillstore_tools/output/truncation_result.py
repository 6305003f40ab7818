"""A tool result as a model sees it, and what was done to it."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from spillstore_tools.describe import counted, tokens
from spillstore_tools.output.output_events import omitted_chars, shown_chars
from spillstore_tools.profiles.rendered import REFUSED

if TYPE_CHECKING:
    from spillstore_tools.config import MetadataSettings, TruncationConfiguration
    from spillstore_tools.preview.parts import Omission
    from spillstore_tools.profiles.rendered import Rendered

METADATA_VERSION = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncationMetadata:
    """What was done to a tool result.

    Attributes:
        original_size: code points of the cleaned content; of large content that ``smart`` cut, its bytes.
        original_bytes: bytes that came.
        truncated_size: code points of what is shown.
        strategy_used: how it was cut; ``none`` if it was not, ``reference`` if a reference stands for it.
        was_truncated: whether anything is missing.
        artifact_id: where all of it is, or None.
        omitted_lines: lines of which nothing is shown.
        omitted_characters: code points that are missing, or None where nobody counted.
        omitted_elements: array items, members or nodes that are missing.
        redrawn_characters: characters that were drawn over or erased in their lines, and are stored but not shown.
        tool_name: the tool.
        profile: the profile's name.
        included: what ``as_dict`` gives by default; None for all of it.
        partial: whether parts of an artifact may be asked for.
    """

    original_size: int
    original_bytes: int
    truncated_size: int
    strategy_used: str
    was_truncated: bool
    artifact_id: str | None
    omitted_lines: int
    omitted_characters: int | None
    omitted_elements: int
    tool_name: str
    profile: str
    redrawn_characters: int = 0
    included: MetadataSettings | None = dataclasses.field(default=None, repr=False, compare=False)
    partial: bool = dataclasses.field(default=True, repr=False, compare=False)

    def as_dict(self, include: MetadataSettings | None = None) -> dict[str, Any]:
        """What the configuration wants of it, under the names of the profile ``acode``.

        Args:
            include: what it gives; None for what the processor's configuration says, all of it where it has none.
        """
        include = self.included if include is None else include
        own = {"included", "partial"}
        data: dict[str, Any] = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in own
        }
        data["version"] = METADATA_VERSION
        data["strategy"] = data["truncation_strategy"] = self.strategy_used
        data["artifact_created"] = self.artifact_id is not None
        data["original_tokens"] = tokens(self.original_size)
        data["truncated_tokens"] = tokens(self.truncated_size)
        if self.was_truncated:
            data["omission_summary"] = self._omission_summary()
        if self.artifact_id is not None:
            part = ", start_line=1, end_line=100" if self.partial else ""
            use = "for a part of it" if self.partial else "for all of it, a part at a time"
            data["retrieval_instructions"] = f'Use get_artifact(id="{self.artifact_id}"{part}) {use}.'
        if include is not None:
            for included, names in (
                (include.include_original_size, ("original_size", "original_bytes")),
                (include.include_token_estimate, ("original_tokens", "truncated_tokens")),
                (include.include_strategy, ("strategy", "strategy_used", "truncation_strategy")),
                (include.include_retrieval_instructions, ("retrieval_instructions",)),
            ):
                for name in () if included else names:
                    data.pop(name, None)
        return data

    def _omission_summary(self) -> str:
        """What is missing, in words."""
        if self.strategy_used == REFUSED:
            return f"all of it, {self.original_bytes} bytes"
        missing = self.omitted_characters
        lines = counted(self.omitted_lines, "line")
        return lines if missing is None else f"{lines}, {missing} characters / ~{tokens(missing)} tokens"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncationResult:
    """A tool result as a model sees it.

    Attributes:
        content: the text.
        metadata: what was done.
        artifact_id: where all of it is, or None.
        artifact_reference: ``[Artifact: id] ...``, or None.
        omissions: what is missing, exactly, and where in ``content`` its markers stand.
        is_error: whether the tool call failed by the rules of the profile.
        redactions: how many secrets of each kind were taken out of what came, before anything else.
        storage_error: why not all of it could be stored, or None.
    """

    content: str
    metadata: TruncationMetadata
    artifact_id: str | None = None
    artifact_reference: str | None = None
    omissions: tuple[Omission, ...] = ()
    is_error: bool = False
    redactions: dict[str, int] = dataclasses.field(default_factory=dict)
    storage_error: str | None = None

    @classmethod
    def of(
        cls,
        rendered: Rendered,
        size: int,
        artifact_id: str | None,
        tool_name: str,
        redactions: dict[str, int],
        *,
        profile: str,
        configuration: TruncationConfiguration | None,
        storage_error: str | None = None,
    ) -> TruncationResult:
        """The result of a text.

        Args:
            rendered: the text.
            size: bytes that came.
            artifact_id: where all of it is, or None.
            tool_name: the tool.
            redactions: how many secrets of each kind were taken out of it.
            profile: the profile's name.
            configuration: which metadata it gives; None for all.
            storage_error: why not all of it could be stored, or None.
        """
        omitted = omitted_chars(rendered)
        metadata = TruncationMetadata(
            original_size=size if omitted is None else shown_chars(rendered) + omitted,
            original_bytes=size,
            truncated_size=len(rendered.text),
            strategy_used=rendered.strategy,
            was_truncated=rendered.was_truncated,
            artifact_id=artifact_id,
            omitted_lines=sum([each.lines for each in rendered.omissions]),
            omitted_characters=omitted,
            omitted_elements=rendered.elements,
            tool_name=tool_name,
            profile=profile,
            redrawn_characters=rendered.redrawn,
            included=None if configuration is None else configuration.metadata,
            partial=configuration is None or configuration.artifacts.enable_partial_retrieval,
        )
        return cls(
            content=rendered.text,
            metadata=metadata,
            artifact_id=artifact_id,
            artifact_reference=None if artifact_id is None else _reference(rendered, artifact_id),
            omissions=rendered.omissions,
            is_error=rendered.is_error,
            redactions=redactions,
            storage_error=storage_error,
        )


def _reference(rendered: Rendered, identity: str) -> str:
    """The line of our own that refers to the artifact; output may hold others like it."""
    ours = "".join(rendered.text[at : at + length] for at, length in rendered.notes)
    begin = f"[Artifact: {identity}]"
    if (at := ours.find(f'"{begin}')) >= 0:  # inside JSON
        return str(json.JSONDecoder().raw_decode(ours, at)[0])
    return next((line for line in ours.split("\n") if line.startswith(begin)), begin)
