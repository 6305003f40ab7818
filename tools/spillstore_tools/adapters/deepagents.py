"""deepagents: a backend for the files to which it moves large tool results. Extra ``deepagents``.

.. code-block:: python

    from deepagents import create_deep_agent
    from spillstore_tools.adapters.deepagents import large_tool_results

    agent = create_deep_agent(model="openai:gpt-5", tools=[run_tests], backend=large_tool_results())

deepagents shows the first and last lines of a large result, and its model reads the rest with ``read_file`` and ``grep``; these
are answered from the store, in flat memory. For previews that show the lines that matter, give the agent the middleware of
``spillstore_tools.adapters.langchain`` instead, or as well.
"""

from __future__ import annotations

import base64
import datetime as dt
from typing import TYPE_CHECKING, Any

from deepagents.backends import CompositeBackend, StateBackend
from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import (
    InvalidGlobPatternError,
    compile_grep_include_glob,
    normalize_read_bounds,
    perform_string_replacement,
)

from spillstore.exceptions import SpillstoreError
from spillstore_tools.adapters.closing import Closing
from spillstore_tools.adapters.keyed_artifacts import KeyedArtifacts, slices
from spillstore_tools.adapters.opened_session import OpenedSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore import Artifact, ArtifactInfo, Session, aio

PREFIX = "/large_tool_results/"  # where deepagents puts what is too large
_WINDOW = 4 * 1024 * 1024  # bytes of one read
_MATCHES = 10_000  # of a search that names no number
_SECONDS = 15.0  # of a search
_BINARY = "application/octet-stream"


def large_tool_results(
    session: Session | aio.Session | Callable[[], Session] | str | None = None,
    *,
    default: BackendProtocol | None = None,
) -> CompositeBackend:
    """A backend for ``create_deep_agent`` that stores large tool results here, and all else in ``default``.

    Args:
        session: see ``Adapter``.
        default: the backend for other files; None for the state of the agent.
    """
    return CompositeBackend(default=default or StateBackend(), routes={PREFIX: SpillBackend(session)})


class SpillBackend(Closing, BackendProtocol):
    """Files as artifacts of a session. Safe for parallel calls; the asynchronous methods run on threads.

    A file's path, without its first slash, is the id of the tool call of its artifact; deepagents names files after tool calls,
    so ``Session.find`` finds them. No method raises: a failure is the ``error`` of the result, and deepagents keeps a tool
    result that could not be written. Leaving the context closes a session that was opened here.

    Args:
        session: see ``Adapter``.
        redact: whether secrets are taken out; None for what the store says.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        *,
        redact: bool | None = None,
    ) -> None:
        self._opened = OpenedSession(session)
        self._files = KeyedArtifacts(self._opened.get, "deepagents", redact=redact)

    @property
    def session(self) -> Session:
        """The session; opened if it is not.

        Raises:
            SpillstoreError: it cannot be opened, or was closed.
        """
        return self._opened.get()

    def close(self) -> None:
        """Close the session, if it was opened here."""
        self._opened.close()

    # --- reading ----------------------------------------------------------------------------------------

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Lines of a file, at most 4 MiB of them; ``next_offset`` goes on behind those."""
        try:
            artifact = self._files.find(_key(file_path))
            if artifact is None:
                return ReadResult(error=f"File '{file_path}' not found")
            with self.session.acting(otherwise="model"):
                return _read(artifact, offset, limit)
        except SpillstoreError as error:
            return ReadResult(error=_words(error))

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Lines that hold a text, with their numbers; 10,000 at most, and of 15 seconds."""
        matches: list[GrepMatch] = []
        most = _MATCHES if max_count is None else max_count
        try:
            with self.session.acting(otherwise="model"):
                for name, info in sorted(self._under(path, glob)):
                    if info.content_type == _BINARY:
                        continue
                    found = self.session.artifact(info.id).search(
                        pattern, literal=True, limit=most - len(matches) + 1, seconds=_SECONDS
                    )
                    matches += [
                        {"path": name, "line": each.line, "text": each.text} for each in found.matches
                    ]
                    if len(matches) > most or not found.complete:
                        return GrepResult(matches=matches[:most], truncated=True)
        except (InvalidGlobPatternError, SpillstoreError) as error:
            return GrepResult(error=_words(error))
        return GrepResult(matches=matches)

    def ls(self, path: str) -> LsResult:
        """The files and folders in a folder."""
        folder = "/" + _key(path)
        folder = folder if folder.endswith("/") else folder + "/"
        entries: dict[str, FileInfo] = {}
        try:
            for name, info in self._under(path, None):
                head, slash, _ = name.removeprefix(folder).partition("/")
                if not name.startswith(folder):
                    continue
                below: FileInfo = {"path": f"{folder}{head}/", "is_dir": True, "size": 0, "modified_at": ""}
                entries.setdefault(folder + head + slash, below if slash else _info(name, info))
        except SpillstoreError as error:
            return LsResult(error=_words(error))
        return LsResult(entries=[entries[name] for name in sorted(entries)])

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files that match, the newest first."""
        try:
            return GlobResult(matches=[_info(name, info) for name, info in self._under(path, pattern)])
        except (InvalidGlobPatternError, SpillstoreError) as error:
            return GlobResult(error=_words(error))

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Files as bytes."""
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            artifact = self._files.find(_key(path))
            if artifact is None:
                return FileDownloadResponse(path=path, error="file_not_found")
            return FileDownloadResponse(path=path, content=b"".join(artifact.chunks()))
        except SpillstoreError as error:
            return FileDownloadResponse(path=path, error=_words(error))

    def _under(self, path: str | None, glob: str | None) -> Iterator[tuple[str, ArtifactInfo]]:
        """The files below a folder, or the one of that path; the newest first."""
        root = _key(path or "").rstrip("/")
        matches = None if not glob else compile_grep_include_glob(glob)
        for key, info in self._files.infos(root):
            if key == root:
                relative = key.rpartition("/")[2]
            elif not root or key[len(root)] == "/":
                relative = key[len(root) :].lstrip("/")
            else:
                continue
            if matches is None or matches(relative):
                yield f"/{key}", info

    # --- writing ----------------------------------------------------------------------------------------

    def write(self, file_path: str, content: str) -> WriteResult:
        """Store a file, in the place of the one before; the content is fed in slices."""
        try:
            self._files.put(_key(file_path), slices(content), "text/plain")
        except SpillstoreError as error:
            return WriteResult(error=_words(error))
        return WriteResult(path=file_path)

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # as in the protocol
    ) -> EditResult:
        """Replace a text in a file of at most 64 MiB, and store it anew."""
        try:
            artifact = self._files.find(_key(file_path))
            if artifact is None:
                return EditResult(error=f"Error: File '{file_path}' not found")
            if artifact.info.content_type == _BINARY:
                return EditResult(error="Error: Cannot edit binary files with text replacements.")
            replaced = perform_string_replacement(artifact.read_text(), old_string, new_string, replace_all)
            if isinstance(replaced, str):
                return EditResult(error=replaced)
            self._files.put(_key(file_path), slices(replaced[0]), "text/plain")
        except SpillstoreError as error:
            return EditResult(error=_words(error))
        return EditResult(path=file_path, occurrences=int(replaced[1]))

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or all files below a folder."""
        try:
            names = [name for name, _ in list(self._under(file_path, None))]
            for name in names:
                self._files.delete(_key(name))
        except SpillstoreError as error:
            return DeleteResult(error=_words(error))
        if not names:
            return DeleteResult(error=f"Error: File '{file_path}' not found")
        return DeleteResult(path=file_path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Store files; what is no UTF-8 counts as binary."""
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            content.decode()
            kind = "text/plain"
        except UnicodeDecodeError:
            kind = _BINARY
        try:
            self._files.put(_key(path), slices(content), kind)
        except SpillstoreError as error:
            return FileUploadResponse(path=path, error=_words(error))
        return FileUploadResponse(path=path)


def _read(artifact: Artifact, offset: int, limit: int) -> ReadResult:
    info = artifact.info
    if info.content_type == _BINARY:
        encoded = base64.b64encode(artifact.read()).decode("ascii")
        return ReadResult(file_data={"content": encoded, "encoding": "base64"})
    offset, limit = normalize_read_bounds(offset, limit)
    if info.size == 0:
        return ReadResult(file_data=_text(b""))
    if limit == 0:
        return ReadResult(file_data=_text(b""), no_lines_requested=True)
    if offset >= info.lines:
        return ReadResult(error=f"Line offset {offset} exceeds file length ({info.lines} lines)")
    start = artifact.locate(line=offset + 1).byte
    last = min(offset + limit, info.lines)
    end = info.size if last == info.lines else artifact.locate(line=last + 1).byte
    data = artifact.read_bytes(start, min(end, start + _WINDOW))
    if end > start + _WINDOW:  # as many whole lines as there are, or the beginning of one
        whole = data.rfind(info.terminator) + 1
        data = data[:whole] if whole else data
        last = offset + max(1, data.count(info.terminator))
    if not (offset or data.strip()) and last == info.lines:
        return ReadResult(file_data=_text(data))  # blank throughout
    return ReadResult(
        file_data=_text(data),
        total_lines=info.lines,
        start_line=offset + 1,
        end_line=last,
        next_offset=last if last < info.lines else None,
    )


def _text(data: bytes) -> Any:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return {"content": text, "encoding": "utf-8"}


def _info(name: str, info: ArtifactInfo) -> FileInfo:
    at = dt.datetime.fromtimestamp(info.created, dt.UTC).isoformat()
    return {"path": name, "is_dir": False, "size": info.size, "modified_at": at}


def _key(path: str) -> str:
    return path.lstrip("/")


def _words(error: Exception) -> str:
    return f"Error: {type(error).__name__}: {error}"
