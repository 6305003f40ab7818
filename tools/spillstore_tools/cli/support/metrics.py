"""The option ``--metrics`` of the commands that serve."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from spillstore_tools.loopback.addresses import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable


def _endpoint(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    try:
        return endpoint(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


metrics_option = click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    callback=_endpoint,
    help="Serve metrics for Prometheus there; only this machine can be.  [default: nowhere]",
)


def served_metrics(
    where: tuple[str, int] | None, announce: Callable[[str, str], object]
) -> contextlib.AbstractContextManager[object]:
    """A context in which metrics are counted and served, if anywhere; it says where.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
        OSError: the port cannot be had.
    """
    if where is None:
        return contextlib.nullcontext()
    from spillstore_tools.telemetry import served  # noqa: PLC0415  # only where it is asked for

    stack = contextlib.ExitStack()
    announce("metrics", stack.enter_context(served(*where)))
    return stack
