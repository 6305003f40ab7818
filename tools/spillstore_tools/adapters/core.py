r"""What all adapters share: a tool's result in, what the model is shown out; and the tools that bring the rest.

    >>> import tempfile
    >>> from spillstore import Store
    >>> log = "".join(f"test {n} ok\n" for n in range(30_000)) + "src/a.c:3: error: boom\n" + "ok\n" * 30_000
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     adapter = Adapter(session)
    ...     shown = adapter.shown("run_tests", log, call_id="call_1")
    ...     search = next(spec for spec in adapter.specs() if spec.name == "search_artifact")
    ...     print(shown.changed, "error: boom" in shown.content, session.find("call_1").id == shown.artifact_id)
    ...     print("30001" in search.call({"id": shown.artifact_id, "pattern": "boom"}))
    True True True
    True

A framework's module wraps this: it gives each result to ``shown`` or ``ashown`` and offers ``specs`` to the model. It adds no rule
of its own about what is stored.

- **Nothing is in the way.** A result that is small is the same object afterwards. Whatever fails (a full disk, a session that was
  closed), the framework gets the result as it was, and the logger ``spillstore.adapters`` a line. Cancellation and
  ``KeyboardInterrupt`` pass.
- **Secrets** are taken out of what is stored and of what is shown, small results included, as by ``TruncationProcessor``. A result
  that is passed on because storing it failed is as it was. A function that opens a session gets the built-in rules; rules of a
  store's own hold where an open session is given.
- **Audit.** Stored, passed and read results are events of the session, with the id of the tool call.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import logging
from typing import TYPE_CHECKING, Any, TypedDict, cast

from spillstore_tools.adapters.closing import Closing
from spillstore_tools.adapters.json_pieces import is_small, json_pieces
from spillstore_tools.adapters.opened_session import OpenedSession
from spillstore_tools.adapters.tool_spec import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from spillstore import Session, aio
    from spillstore_tools.adapters.commands import Commands
    from spillstore_tools.agent.toolbox import Toolbox
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile

__all__ = ["RETRIEVAL", "Adapter", "AdapterOptions", "Shown", "ToolSpec"]

_log = logging.getLogger("spillstore.adapters")
_off: contextvars.ContextVar[bool] = contextvars.ContextVar("spillstore_adapters_off", default=False)
_AT_ONCE = 4000  # characters of a result that is looked at without a thread
_COMMAND = 1000  # characters of a call's arguments that are stored with its result
_NAME = 200

RETRIEVAL = ("get_artifact", "search_artifact", "compare_artifacts", "list_artifacts", "artifact_info")


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """What a model is shown of a result.

    Attributes:
        content: of the same shape as the result where that is text or blocks; text for bytes and JSON that are cut. The
            result itself, the same object, where nothing is changed.
        artifact_ids: the artifacts that hold what is cut, one for each text that is.
        changed: whether ``content`` is another object than the result.
        is_error: whether the profile has refused the result as too large.
    """

    content: Any
    artifact_ids: tuple[str, ...] = ()
    changed: bool = False
    is_error: bool = False

    @property
    def artifact_id(self) -> str | None:
        """The artifact that holds all of it, the first if there are several; None if there is none."""
        return self.artifact_ids[0] if self.artifact_ids else None


class AdapterOptions(TypedDict, total=False):
    """What an ``Adapter`` takes besides its session, as the modules of the frameworks take it.

    Attributes:
        profile: what is shown: the name of a profile, or a profile; ``default`` by default.
        configuration: limits and strategies, for the profiles ``default`` and ``acode``.
        skip: tools whose results are not touched, since code consumes them.
        only: the tools whose results are; None for all.
        tools: the tools that ``specs`` offers; ``bash`` is one that can be added.
        redact: False to take no secrets out.
    """

    profile: ProfileName | Profile
    configuration: TruncationConfiguration | None
    skip: Collection[str]
    only: Collection[str] | None
    tools: Collection[str]
    redact: bool


class Adapter(Closing):
    """Between a framework's tools and its model. Safe from any thread; a context manager, also of ``async with``.

    Args:
        session: where results are stored: an open session, also one of ``spillstore.aio``, which stays open; a function that
            opens one, called with the first large result, and anew in a forked child; the name of one in the default store;
            None for the name in ``SPILLSTORE_SESSION``, or a new name. What is opened here is closed by ``close``, with the
            process at the latest.
        profile, configuration, skip, only, tools, redact: see ``AdapterOptions``.

    Raises:
        InvalidSettingError: ``session`` is none, or there is no such profile or tool.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        *,
        profile: ProfileName | Profile = "default",
        configuration: TruncationConfiguration | None = None,
        skip: Collection[str] = (),
        only: Collection[str] | None = None,
        tools: Collection[str] = RETRIEVAL,
        redact: bool = True,
    ) -> None:
        from spillstore.settings import check_names  # noqa: PLC0415  # with the session's module, which it imports

        check_names("tool", tools, ("bash", *RETRIEVAL))
        if isinstance(profile, str):
            from spillstore_tools.profiles import NAMES  # noqa: PLC0415  # likewise

            check_names("profile", [profile], NAMES)
        self._session = OpenedSession(session)
        self._profile = profile
        self._configuration = configuration
        self._skip = frozenset(skip)
        self._only = None if only is None else frozenset(only)
        self._tools = tuple(dict.fromkeys(tools))
        self._own: frozenset[str] = frozenset()
        self._redact = redact
        self._made: dict[str, Any] = {}  # what is made for the session, by kind
        self._made_for: object = None  # what finds that session

    # --- the session ------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The session; opened if it is not.

        Raises:
            SpillstoreError: it cannot be opened, or was closed.
        """
        return self._session.get()

    def close(self) -> None:
        """Close the session, if it was opened here. Results pass as they are from then on."""
        self._session.close()

    # --- results ----------------------------------------------------------------------------------------

    def passes(self, tool: str) -> bool:
        """Whether results of a tool pass untouched: it is skipped, one of our own, or called within ``off``."""
        return (
            _off.get()
            or tool in self._own
            or tool in self._skip
            or (self._only is not None and tool not in self._only)
        )

    @staticmethod
    @contextlib.contextmanager
    def off() -> Iterator[None]:
        """A block in which results pass untouched, in this thread and task and what they start: for a call that code makes.

        >>> adapter = Adapter(lambda: None)
        >>> with adapter.off():
        ...     adapter.shown("fetch", "x" * 100_000).changed
        False
        """
        token = _off.set(True)
        try:
            yield
        finally:
            _off.reset(token)

    def shown(
        self,
        tool: str,
        result: object,
        *,
        call_id: str | None = None,
        arguments: Mapping[str, object] | str | None = None,
        blocks: bool = False,
    ) -> Shown:
        """What the model is shown of a result. Nothing is raised but what is no ``Exception``.

        Args:
            tool: the tool that has returned it.
            result: text, bytes, an open file, which is read to its end, content blocks, a result of MCP, or what JSON can
                hold, pydantic models and dataclasses included. Anything else passes.
            call_id: the tool call, by which ``Session.find`` finds the artifact.
            arguments: of the call. A call with the same arguments and the same result is not stored again: what is shown of it
                names the first artifact.
            blocks: a list is content blocks, whatever is in it.

        Cost: 0.1 ms for a small result; a large one is stored, in flat memory.
        """
        if self.passes(tool):
            return Shown(result)
        try:
            return self._fitted(tool, result, call_id, arguments, blocks)
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent goes on
            _log.warning(
                "the result of the tool %.80r is passed on as it is: %s: %s",
                tool,
                type(error).__name__,
                error,
            )
            return Shown(result)

    async def ashown(
        self,
        tool: str,
        result: object,
        *,
        call_id: str | None = None,
        arguments: Mapping[str, object] | str | None = None,
        blocks: bool = False,
    ) -> Shown:
        """``shown`` for asyncio: the event loop goes on. Cancelling stops the waiting alone; what was begun is finished."""
        if self.passes(tool):
            return Shown(result)
        if self._is_quick(tool, result):
            return self.shown(tool, result, call_id=call_id, arguments=arguments, blocks=blocks)
        import asyncio  # noqa: PLC0415  # only for callers that have it already

        return await asyncio.to_thread(
            self.shown, tool, result, call_id=call_id, arguments=arguments, blocks=blocks
        )

    def _is_quick(self, tool: str, result: object) -> bool:
        """Whether a result is small and nothing of it will be stored."""
        processor = self._made.get("processor")
        if processor is None or self._made_for is not self._session.opened:
            return False
        if isinstance(result, str):
            text = result if len(result) <= _AT_ONCE else None
        else:
            text = "".join(json_pieces(result)) if is_small(result, _AT_ONCE) else None
        return text is not None and bool(processor.shows_whole(text.encode(errors="replace"), tool))

    def _fitted(
        self,
        tool: str,
        result: object,
        call_id: str | None,
        arguments: Mapping[str, object] | str | None,
        blocks: bool,  # noqa: FBT001  # of our own call
    ) -> Shown:
        from spillstore_tools.adapters.result_fitting import ResultFitting  # noqa: PLC0415  # with the first result

        processor = self._processor()
        name = _name(tool)[:_NAME] or "tool"
        command = None if arguments is None else _command(arguments)
        if command is not None and len(command) > _COMMAND:
            command = f"{processor.shortened(command, name, _COMMAND - 3)}..."
        fitting = ResultFitting(
            processor,
            name,
            command,
            None if call_id is None else processor.shortened(_name(call_id), name, _NAME),
        )
        content = fitting.fit(result, as_blocks=blocks)
        return Shown(content, tuple(fitting.artifact_ids), content is not result, fitting.is_refused)

    def _processor(self) -> TruncationProcessor:
        def make() -> TruncationProcessor:
            from spillstore_tools.output.truncation import TruncationProcessor  # noqa: PLC0415  # with the first result

            return TruncationProcessor(
                self._session.opened.given or self._session.get,
                profile=self._profile,
                configuration=self._configuration,
                redact=self._redact,
            )

        return cast("TruncationProcessor", self._make("processor", make))

    def _make(self, kind: str, make: Callable[[], object]) -> object:
        """What is made once for a session; anew in a forked child."""
        opened = self._session.opened
        if self._made_for is opened and (found := self._made.get(kind)) is not None:
            return found
        with self._session.lock:
            if self._made_for is not opened:
                self._made, self._made_for = {}, opened
            if (found := self._made.get(kind)) is None:
                found = self._made[kind] = make()
            return found

    # --- tools ------------------------------------------------------------------------------------------

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools with which the model reads what is stored. Results of tools of these names pass from now on."""
        found = {each["name"]: each for each in self._box().definitions("anthropic")}
        self._own |= frozenset(self._tools)
        return tuple(
            ToolSpec(name, found[name]["description"], found[name]["input_schema"], self._box)
            for name in self._tools
        )

    def commands(self, *, limit: int | None = None) -> Commands:
        """What runs commands over the same session; ``limit`` as for ``Commands``."""
        from spillstore_tools.adapters.commands import Commands  # noqa: PLC0415  # few agents need it

        return Commands(self._session.opened, self._profile, self._configuration, limit)

    def _box(self) -> Toolbox:
        def make() -> Toolbox:
            from spillstore_tools.agent.toolbox import Toolbox  # noqa: PLC0415  # once for each agent

            return Toolbox(self._session.opened, profile=self._profile, configuration=self._configuration)

        return cast("Toolbox", self._make("box", make))


def _name(value: object) -> str:
    """A name that can be stored."""
    return str(value).encode("utf-8", "replace").decode()


def _command(arguments: Mapping[str, object] | str) -> str | None:
    """The arguments of a call as JSON, 64 KiB or a little more if they are long; None where they are no JSON."""
    pieces = iter([arguments]) if isinstance(arguments, str) else json_pieces(arguments)
    try:
        text = next(pieces, "")
    except (TypeError, ValueError, RecursionError):
        return None
    return text.encode("utf-8", "replace").decode()


class WithAdapter(Closing):
    """Which has an adapter, and closes that."""

    adapter: Adapter

    def close(self) -> None:
        """Close the session, if it was opened here."""
        self.adapter.close()
