"""The options that choose a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from spillstore_tools.cli.support.completion import complete_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.profiles import ProfileName

# The same as ``spillstore_tools.profiles.NAMES``, which must not be imported before a command has started.
PROFILES = ("default", "acode", "opencode", "pipe", "omni", "lace")
STRATEGIES = ("head", "tail", "head_tail", "lines", "element", "smart", "none")
_CONFIGURED = frozenset({"default", "acode"})
F = TypeVar("F", bound="Callable[..., object]")


def known_profile(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Callback of an option: the name of a profile; a wrong one exits like a wrong id.

    Raises:
        click.ClickException: there is no such profile.
    """
    if value is not None and value not in PROFILES:
        raise click.ClickException(f"no profile {value!r}; there are {', '.join(PROFILES)}")
    return value


def profile_option(function: F) -> F:
    """``--profile``, with its variable."""
    option = click.option(
        "--profile",
        metavar="NAME",
        default="default",
        envvar="SPILLSTORE_PROFILE",
        callback=known_profile,
        shell_complete=complete_words(*PROFILES),
        help=f"What a model is shown: {', '.join(PROFILES)}.  [SPILLSTORE_PROFILE; default: default]",
    )
    return option(function)


def load_configuration(profile: ProfileName, **arguments: object) -> TruncationConfiguration | None:
    """The user's settings for a profile that uses them, else None; ``arguments`` that are None are left out.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    if profile not in _CONFIGURED:
        return None
    from spillstore_tools.config import load  # noqa: PLC0415  # not needed to start a command

    given = {name: value for name, value in arguments.items() if value is not None}
    return load(**given)  # type: ignore[arg-type]  # load() checks them
