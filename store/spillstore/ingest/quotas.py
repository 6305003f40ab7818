"""Limits of a session that are checked inside a transaction, so that writers in other processes count too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.exceptions import RateLimitError, SessionQuotaError

if TYPE_CHECKING:
    from spillstore.engine.rows import Transaction
    from spillstore.settings import Settings

_MINUTE_US = 60_000_000


def refuse_rate(tx: Transaction, settings: Settings, now_us: int) -> None:
    """Refuse an artifact where too many were begun within a minute.

    Raises:
        RateLimitError: so it is.
    """
    limit = settings.artifacts_per_minute
    if not limit:
        return
    # What was made while the clock was ahead is not of this minute.
    count = tx.artifacts_created(now_us - _MINUTE_US, now_us)
    if count >= limit:
        raise RateLimitError(
            f"{count} artifacts were created within a minute and {limit} are allowed; wait, or raise SPILLSTORE_ARTIFACTS_PER_MINUTE"
        )


def refuse_quota(tx: Transaction, settings: Settings, session_id: str, new_bytes: int) -> None:
    """Refuse bytes that do not fit into the session's quota, counted in pages that are really taken.

    Raises:
        SessionQuotaError: they do not.
    """
    used, quota = tx.used(), settings.session_quota
    if used + new_bytes > quota:
        evicting = settings.session_policy == "evict"
        way_out = "nothing is left to evict; " if evicting else "set SPILLSTORE_SESSION_POLICY=evict, "
        raise SessionQuotaError(
            f"session {session_id!r} takes {used} bytes, may take {quota}, and {new_bytes} more "
            f"are wanted; {way_out}delete artifacts with `spillstore rm`, or raise SPILLSTORE_SESSION_QUOTA"
        )
