"""The command line: ``spillstore COMMAND``.

One command, one file, which is imported when the command is called. Nothing here imports the store at the top of a
module: ``run`` starts its command before the store is loaded, and ``--help`` never needs it.

Exit codes: 0; the command's own for ``run``; 1 for output that ``put`` shows as refused or could not keep whole; 2 for a call that cannot be
understood; 125 for every other failure of ours, wrong settings and names among them; death by SIGINT after Ctrl-C, which a shell reads as 130 and which ends its loops. Results go to
stdout, everything else to stderr as ``spillstore: ...``, with ``--json`` as JSON objects, one a line.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import io
import itertools
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

import click

from spillstore_tools.cli.support.garbage import look_rarely
from spillstore_tools.cli.support.output import fail, messages
from spillstore_tools.cli.support.signals import CommandInterruptedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import ReadableBuffer

FAILED = 125
MISUSED = 2
INTERRUPTED = 130

_MODULES = {
    "run": "run",
    "put": "put",
    "list": "list_",
    "sessions": "sessions",
    "info": "info",
    "show": "show",
    "view": "view",
    "cat": "cat",
    "tail": "tail",
    "search": "search",
    "query": "query",
    "diff": "diff",
    "replay": "replay",
    "verify": "verify",
    "export": "export",
    "copy": "copy",
    "salvage": "salvage",
    "audit": "audit",
    "stats": "stats",
    "rm": "rm",
    "clean": "clean",
    "gc": "gc",
    "upgrade": "upgrade",
    "grant": "grant",
    "completion": "completion",
    "ui": "ui",
    "mcp": "mcp",
    "mcp-proxy": "mcp_proxy",
    "install": "install",
    "uninstall": "uninstall",
    "doctor": "doctor",
    "hook": "hook",
}


_WRAPPERS = ("run", "mcp-proxy")  # commands before another command


# Names that other programs have for our commands.
_SYNONYMS = {
    **dict.fromkeys(("ls", "ll", "dir", "history", "log"), "list"),
    **dict.fromkeys(("grep", "rg", "find"), "search"),
    **dict.fromkeys(("less", "more", "head", "get"), "show"),
    **dict.fromkeys(("delete", "remove", "del"), "rm"),
    **dict.fromkeys(("add", "save", "store", "tee"), "put"),
    **dict.fromkeys(("exec", "start"), "run"),
    **dict.fromkeys(("tui", "browse"), "view"),
    **dict.fromkeys(("watch", "follow"), "tail -f"),
    **dict.fromkeys(("check", "fsck"), "verify"),
    **dict.fromkeys(("prune", "collect"), "gc"),
    "init": "upgrade",
    **dict.fromkeys(("cp", "sync", "migrate", "backup"), "copy"),
    **dict.fromkeys(("recover", "repair", "rescue"), "salvage"),
    "compare": "diff",
    "jq": "query",
    "purge": "clean",
    "status": "stats",
    **dict.fromkeys(("web", "browse", "browser", "gui"), "ui"),
}


class LazyGroup(click.Group):
    """Commands that are imported when they are called; listed in the order of their use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # likewise
        """Import one."""
        if cmd_name not in _MODULES:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.commands.{_MODULES[cmd_name]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; an error for an unknown one suggests another."""
        name = args[0] if args else ""
        if not name or name in _MODULES or ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.UsageError(self._unknown(name), ctx)

    @staticmethod
    def _unknown(name: str) -> str:
        import difflib  # noqa: PLC0415  # only for errors

        close = _SYNONYMS.get(name) or next(iter(difflib.get_close_matches(name, _MODULES, 1)), None)
        hint = f"Did you mean '{close}'?" if close else "`spillstore --help` lists the commands."
        return f"No such command '{name}'. {hint}"


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  # click's signature
    if not wanted:
        return
    from spillstore import __version__  # noqa: PLC0415

    click.echo(f"spillstore {__version__}")
    if ctx.params.get("verbose"):
        import platform  # noqa: PLC0415  # of a command that only prints

        from spillstore import _native  # noqa: PLC0415

        path = _native.path()
        loaded = path is not None and _native.library() is not None
        why = "it was not built, or SPILLSTORE_NATIVE is 0" if path is None else f"{path} cannot be loaded"
        click.echo(f"redaction: {f'native scanner, {path}' if loaded else f'Python, since {why}'}")
        click.echo(f"Python {platform.python_version()}, {platform.platform()}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-v", "--verbose", is_flag=True, is_eager=True, help="With --version: what runs here, too.")
@click.option(
    "--version", is_flag=True, expose_value=False, callback=_print_version, help="Print the version."
)
def group(verbose: bool) -> None:  # noqa: FBT001  # for the option beside it
    """Keep what a tool printed when it printed too much, and read any part of it.

    \b
    Example:
      spillstore run -- make test
      spillstore show @last --lines 100-200

    An ID may be left out for the newest artifact, @last; @last~1 is the one before it, @2 the second of the session. Of an
    id its beginning or its end will do, as long as that is unique. The session is that of the git repository around the
    folder, outside of any `default`.
    """  # noqa: D301  # click's mark for text that is not to be wrapped


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit.

    Args:
        arguments: those of the command line; None for the process's own, which ends at once then.
    """
    look_rarely()
    # Python turns SIGPIPE into an exception; a program in a pipe shall end as quietly as cat does.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _prepare_streams()
    code = _invoke(arguments)
    _drop_what_cannot_be_written()
    if isinstance(code, _Interrupted):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    if arguments is None:
        _end_process(code)
    sys.exit(code)


def _end_process(code: int) -> NoReturn:
    """End the process as the interpreter does, but do not free all its objects one by one, which takes 8 ms."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    atexit._run_exitfuncs()  # noqa: SLF001  # there is no other way to call them before ``os._exit``
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


class _Interrupted(int):
    """The exit code after an interrupt; a shell must see the signal itself, or its loop continues."""


class _Stdout(io.BufferedWriter):
    """stdout, whose errors say that it is stdout that could not be written: a full disk there is not the store's.

    The file below it writes without a line of Python, behind which an interrupt could come: what was written would be written again.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """As BufferedWriter does."""
        with _named():
            return super().write(data)

    def flush(self) -> None:
        """Likewise."""
        with _named():
            super().flush()


@contextlib.contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = "stdout"
        raise


def _prepare_streams() -> None:
    """Make printing safe: for streams that the caller has closed, and for terminals without UTF-8.

    The number of a closed stream must not become that of a file of ours, so something else takes it: lowest first, since
    a file gets the lowest number that is free. stdin stays closed for who asks, writing to stdout fails, and what goes to
    stderr is lost, as the caller wanted.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stdout is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = os.fdopen(
            os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", errors="backslashreplace"
        )
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        old = sys.stdout
        raw = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            _Stdout(raw),
            encoding="utf-8" if old is None else old.encoding,
            errors="replace",
            line_buffering=raw.isatty(),
        )


def _drop_what_cannot_be_written() -> None:
    """After a failed write the rest stays buffered: Python would try it again at exit, and fail with code 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _invoke(arguments: Sequence[str] | None) -> int:  # noqa: PLR0911  # one for each kind of end
    messages.as_json = False
    try:
        code = group.main(arguments, prog_name="spillstore", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return MISUSED
    except click.UsageError as error:
        if isinstance(error, click.NoSuchOption):
            error = _suggesting(error)
        messages.as_json = messages.as_json or _has_json_option(
            sys.argv[1:] if arguments is None else arguments
        )
        if error.ctx is not None and not messages.as_json:
            click.echo(error.ctx.get_usage(), err=True)
        return fail(error.format_message(), MISUSED)
    except click.ClickException as error:
        return fail(error.format_message(), FAILED)
    except (KeyboardInterrupt, CommandInterruptedError):
        return _Interrupted(INTERRUPTED)
    except click.Abort as error:
        return _aborted(error)
    except Exception as error:  # noqa: BLE001  # it raises again what it cannot explain
        return _explain(error)
    return code if isinstance(code, int) else 0


def _has_json_option(arguments: Sequence[str]) -> bool:
    """Whether a call that cannot be parsed has ``--json``; the words of another command behind ours do not count."""
    words = list(itertools.takewhile(lambda word: word != "--", arguments))
    if words and words[0] in _WRAPPERS:
        words = list(itertools.takewhile(lambda word: word.startswith("-"), words[1:]))
    return "--json" in words


def _aborted(error: click.Abort) -> int:
    """Click's word for a KeyboardInterrupt, and for the end of input at a question."""
    return _Interrupted(INTERRUPTED) if isinstance(error.__cause__, KeyboardInterrupt) else FAILED


_SIMILAR = 0.75  # of two words, by difflib; less is another word


def _suggesting(error: click.NoSuchOption) -> click.NoSuchOption:
    """The error with only those suggestions that are similar enough."""
    import difflib  # noqa: PLC0415  # only for errors

    name = error.option_name.lstrip("-")
    similar = [
        each
        for each in error.possibilities or ()
        if difflib.SequenceMatcher(None, name, each.lstrip("-")).ratio() >= _SIMILAR
    ]
    message = error.message
    if error.ctx is not None and error.ctx.parent is None:
        message += f" Options stand behind the command: spillstore COMMAND {error.option_name}"
    return click.NoSuchOption(error.option_name, message, similar, error.ctx)


def _explain(error: Exception) -> int:
    """Report what went wrong; an error that is neither the store's nor the system's is a defect and is raised again."""
    from spillstore.exceptions import (  # noqa: PLC0415
        DroppedRangeError,
        InvalidIdError,
        RangeError,
        SpillstoreError,
    )

    if isinstance(error, DroppedRangeError):
        return fail(str(error).replace('(holes="skip")', "with --skip-holes"), FAILED)
    if isinstance(error, (RangeError, InvalidIdError)):
        return fail(str(error), MISUSED)
    if isinstance(error, SpillstoreError):
        return fail(str(error), FAILED)
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{error.filename}: "
        return fail(f"{where}{error.strerror or error}", FAILED)
    raise error
