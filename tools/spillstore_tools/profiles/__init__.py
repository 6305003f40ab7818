"""Profiles: named sets of limits, strategy and result format.

``default`` is ours; ``acode``, ``opencode``, ``pipe``, ``omni`` and ``lace`` follow five published designs to the
letter. ``base`` says what a profile does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal, cast, get_args

from spillstore.settings import check_names

if TYPE_CHECKING:
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.profiles.base import Profile

ProfileName = Literal["default", "acode", "opencode", "pipe", "omni", "lace"]
NAMES: tuple[ProfileName, ...] = get_args(ProfileName)
_CONFIGURED = {"default", "acode"}  # the others follow their documents


def profile(name: ProfileName, configuration: TruncationConfiguration | None = None) -> Profile:
    """The profile of a name; ``configuration`` matters to ``default`` and ``acode``.

    Raises:
        InvalidSettingError: there is none; the message names those that there are.

    Example:
        >>> profile("omni").name
        'omni'
    """
    check_names("profile", [name], NAMES)
    folder = "" if name == "default" else "formats."
    kind = getattr(importlib.import_module(f"{__name__}.{folder}{name}"), name.title())
    return cast("Profile", kind(configuration) if name in _CONFIGURED else kind())
