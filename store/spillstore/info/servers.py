"""What was done to a server."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Upgrade:
    """What ``spillstore.server.upgrade`` did, or would do.

    Attributes:
        store: the store, as messages name it.
        before: the revision that its schema had; None where there was none, and for a folder.
        after: the revision that it has now; None for a folder, whose files are upgraded when they are opened for writing.
        spread: the tables that were spread over the servers of Citus.
        dry_run: whether nothing was done.
    """

    store: str
    before: str | None
    after: str | None
    spread: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        """Whether there was something to do."""
        return self.before != self.after or bool(self.spread)
