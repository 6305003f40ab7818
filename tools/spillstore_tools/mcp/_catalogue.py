"""Which tools the fronted server has, as far as anybody has asked, and so what ours are called."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from spillstore_tools.mcp._listing import Names, Page
from spillstore_tools.mcp._messages import METHOD_NOT_FOUND, error_code, members_of
from spillstore_tools.mcp._pieces import PieceError, dumped, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.mcp._pieces import Data

_ANSWER = 5.0  # seconds for the server to tell us the names of its tools


class Catalogue:
    """Learns the names from pages that pass by, or asks for them where a name is needed before.

    Args:
        ask: asks the server for a page, given parameters and a deadline; None if it does not answer in time.
        structured: results of our tools have structured content.
    """

    def __init__(
        self, ask: Callable[[dict[str, Data], float], dict[str, Data] | None], *, structured: bool = False
    ) -> None:
        self._structured = structured
        self._ask = ask
        self._asking = threading.Lock()  # held while the server is asked
        self._lock = threading.Lock()  # protects what is below
        self._names: Names | None = None
        self._seen: set[str] = set()
        self._has_tools: bool | None = None  # None as long as nobody knows
        self._metadata: bytes | None = None
        self._changes = 0

    @property
    def known(self) -> Names | None:
        """What our tools are called; None as long as nobody knows."""
        return self._names

    @property
    def is_empty(self) -> bool:
        """Whether the server is known to have no tools at all."""
        return self._has_tools is False

    def announced(self, *, has_tools: bool) -> None:
        """The server has said whether it has tools."""
        self._has_tools = has_tools

    def heard(self, metadata: Data) -> None:
        """Metadata of a request without which the server would not understand one, in versions without a handshake."""
        self._metadata = bytes(metadata)

    def changed(self) -> None:
        """The server has said that its tools are others now."""
        with self._lock:
            self._changes += 1
            self._names = None

    def none(self) -> Names:
        """The server has none."""
        with self._lock:
            self._has_tools = False
            self._names = Names((), structured=self._structured)
            return self._names

    def passed(self, page: Page, *, continued: bool) -> Names | None:
        """A page has passed; after the last one, what ours are called.

        Args:
            page: what the server has answered.
            continued: it is not the first page.
        """
        with self._lock:
            self._seen = self._seen | set(page.names) if continued else set(page.names)
            if page.cursor is None:
                self._names = Names(self._seen, structured=self._structured)
                return self._names
            return None

    def names(self) -> Names:
        """What our tools are called. The server is asked if need be; where it does not say, it is not asked again."""
        with self._asking:
            names = self._names
            if names is None:
                before = self._changes
                names = Names(() if self.is_empty else self._walked(), structured=self._structured)
                with self._lock:
                    if self._changes == before:
                        self._names = names
            return names

    def _walked(self) -> set[str]:
        """The names on all pages, or on those that came in time."""
        meta = {name: each for name, each in members_of(self._metadata).items() if name != "progressToken"}
        deadline = time.monotonic() + _ANSWER
        params: dict[str, Data] = {"_meta": joined(meta)} if meta else {}
        seen: set[str] = set()
        while (answer := self._ask(params, deadline)) is not None:
            try:
                page = Page(answer["result"])
            except (PieceError, KeyError):
                if error_code(answer) == METHOD_NOT_FOUND:
                    self._has_tools = False
                break
            seen |= set(page.names)
            if page.cursor is None:
                break
            params["cursor"] = dumped(page.cursor)
        return seen
