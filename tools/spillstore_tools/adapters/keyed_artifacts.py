"""Artifacts under keys: what a framework's own store protocol needs, where it names what it stores.

A key is the id of the tool call of the artifact, so ``Session.find`` finds it. Of several artifacts of a key the newest that is
complete counts; those before it are deleted once it is.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from spillstore.exceptions import ArtifactNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore import Artifact, ArtifactInfo, Session

SLICE = 256 * 1024


class KeyedArtifacts:
    """What one framework has stored in a session, by key. Safe from any thread.

    Args:
        session: gives the session.
        source: the name of the framework; artifacts of other sources are not seen.
        redact: whether secrets are taken out; None for what the store says.
    """

    def __init__(self, session: Callable[[], Session], source: str, *, redact: bool | None = None) -> None:
        self._session = session
        self._source = source
        self._redact = redact

    def put(self, key: str, data: Iterable[bytes], content_type: str | None = None) -> Artifact:
        """Store content under a key, in the place of what was there.

        Raises:
            SpillstoreError: it could not be stored; what was there is still there.
        """
        session = self._session()
        before = [info.id for info in session.infos(source=self._source, tool_call_id=key)]
        artifact = session.put(
            data, source=self._source, tool_call_id=key, content_type=content_type, redact=self._redact
        )
        for each in before:
            _delete(session, each)
        return artifact

    def find(self, key: str) -> Artifact | None:
        """The artifact of a key, or None."""
        session = self._session()
        for info in session.infos(source=self._source, tool_call_id=key, state="sealed", limit=1):
            return session.artifact(info.id)
        return None

    def delete(self, key: str) -> bool:
        """Delete what a key names; whether there was anything."""
        session = self._session()
        found = [info.id for info in session.infos(source=self._source, tool_call_id=key)]
        for each in found:
            _delete(session, each)
        return bool(found)

    def infos(self, prefix: str = "") -> Iterator[tuple[str, ArtifactInfo]]:
        """All keys that begin with ``prefix``, with what is known of their artifacts, the newest first."""
        seen = set()
        for info in self._session().infos(source=self._source, state="sealed"):
            key = info.tool_call_id
            if key is not None and key.startswith(prefix) and key not in seen:
                seen.add(key)
                yield key, info


def slices(data: bytes | bytearray | memoryview | str) -> Iterator[bytes]:
    """Content as bytes, a piece at a time, so that there is no second copy of it."""
    if isinstance(data, str):
        for at in range(0, len(data), SLICE):
            yield data[at : at + SLICE].encode(errors="surrogatepass")
    else:
        view = memoryview(data).cast("B")
        for at in range(0, len(view), SLICE):
            yield bytes(view[at : at + SLICE])


def _delete(session: Session, artifact_id: str) -> None:
    with contextlib.suppress(ArtifactNotFoundError):  # another thread has
        session.artifact(artifact_id).delete()
