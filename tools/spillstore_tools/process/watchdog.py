"""The watchdog: ends running commands when the agent has died, even by ``kill -9``.

A killed process can end nothing any more, and a command that prints little would never notice. So a small shell runs
beside each agent that runs commands. The agent writes to it which commands begin and end. When the agent dies, the shell
reads the end of its input and ends the commands that still run: SIGTERM, two seconds later SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from typing import TYPE_CHECKING

from spillstore_tools.process.environment import MARK, for_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

# Arguments: the commands that run already. Lines: "+PID:MARK " begins a command, "-PID:MARK " ends it.
_SCRIPT = rf"""
trap '' INT TERM HUP QUIT
running=' '
for name; do running="$running$name "; done
while IFS= read -r line; do
  name=${{line#?}}
  case $line in
    +*) running="$running$name " ;;
    -*) running="${{running%% $name *}} ${{running#* $name }}" ;;
  esac
done
# A process is known to descend from a command only while its parents live: "NUMBER:START ".
descendants=' '
[ "$running" = ' ' ] || while :; do
  known=$descendants
  for file in /proc/[0-9]*/stat; do
    {{ read -r line < "$file"; }} 2>/dev/null || continue
    other=${{line%% *}}
    set -- ${{line##*) }}
    case $descendants in *" $other:"*) continue ;; esac
    case "$running$descendants" in
      *" $other:"* | *" $2:"* | *" $3:"* | *" $4:"*) descendants="$descendants$other:${{20}} " ;;
    esac
  done
  [ "$known" != "$descendants" ] || break
done
for number in TERM KILL; do
  for name in $descendants; do
    {{ read -r line < "/proc/${{name%%:*}}/stat"; }} 2>/dev/null || continue
    set -- ${{line##*) }}
    [ "${{20}}" != "${{name#*:}}" ] || kill -s $number "${{name%%:*}}" 2>/dev/null
  done
  for name in $running; do
    pid=${{name%%:*}} mark=${{name#*:}}
    kill -s $number -- "-$pid" 2>/dev/null
    [ -n "$mark" ] || continue
    for file in $(grep -las "{MARK}=$mark" /proc/[0-9]*/environ 2>/dev/null); do
      other=${{file#/proc/}}
      kill -s $number "${{other%/environ}}" 2>/dev/null
    done
  done
  if [ "$number" = TERM ] && [ "$running" != ' ' ]; then sleep 2; fi
done
"""


class _Watchdog:
    """The shell of this process; started with the first command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects all of the below
        self._shell: subprocess.Popen[bytes] | None = None
        # Both ends of its input: as long as we hold the reading end, we get no SIGPIPE if the shell is killed.
        self._pipe: tuple[int, ...] = ()
        self._running: set[str] = set()

    def begins(self, name: str) -> None:
        """Guard a command; if no shell can be started, it runs unguarded."""
        with self._lock:
            self._running.add(name)
            if self._shell is not None and self._shell.poll() is None:
                self._send(f"+{name}")
                return
            with contextlib.suppress(OSError):
                self._close()
                self._pipe = os.pipe()
                # It is told of them with its start: behind that we may be killed before we could write.
                self._shell = subprocess.Popen(
                    ["sh", "-c", _SCRIPT, "watchdog", *self._running],
                    stdin=self._pipe[0],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    # It outlives an agent that is itself a command, to end what that has started.
                    env=for_commands({name: value for name, value in os.environ.items() if name != MARK}),
                    start_new_session=True,
                )

    def ends(self, name: str) -> None:
        """Leave a command alone."""
        with self._lock:
            self._running.discard(name)
            self._send(f"-{name}")

    def rest(self) -> None:
        """End the shell, unless a command runs."""
        with self._lock:
            if not self._running:
                self._close()

    def _send(self, line: str) -> None:
        if self._shell is not None and self._shell.poll() is None:  # or the next command starts another
            os.write(self._pipe[1], f"{line}\n".encode())

    def _close(self) -> None:
        """Close the input of the shell and wait for its end."""
        pipe, self._pipe = self._pipe, ()
        for number in pipe:
            os.close(number)
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.wait()

    def forget(self) -> None:
        """In a forked child: the shell and the commands are the parent's."""
        for number in self._pipe:
            os.close(number)
        self.__init__()  # type: ignore[misc]  # as if new


_watchdog = _Watchdog()
os.register_at_fork(after_in_child=_watchdog.forget)


def begins(pid: int, mark: str) -> None:
    """Guard a command, so that it does not outlive this process."""
    _watchdog.begins(f"{pid}:{mark}")


def ends(pid: int, mark: str) -> None:
    """Guard a command no longer: it has ended, or may live on."""
    _watchdog.ends(f"{pid}:{mark}")


@contextlib.contextmanager
def guarding(pid: int, mark: str) -> Iterator[None]:
    """A context in which a command is guarded; the shell ends with it if no other command runs."""
    begins(pid, mark)
    try:
        yield
    finally:
        ends(pid, mark)
        _watchdog.rest()
