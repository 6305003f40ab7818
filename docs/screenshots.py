"""Takes the pictures of ``spillstore ui`` in ``docs/viewing-in-the-browser/``: ``python docs/screenshots.py`` (``make screenshots``).

A store is made with something of everything; the pages about it are opened in Chromium by Playwright, as the tests do.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillstore import Store
from spillstore_tools import get_artifact, search_artifact
from spillstore_tools.output.rendering import render
from spillstore_tools.profiles import profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Session

FOLDER = Path(__file__).parent / "viewing-in-the-browser"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-lcd-text",
]
_PLACE = "session=chat-42&project=compiler"

_MODULES = (
    "parser",
    "lexer",
    "scanner",
    "index",
    "writer",
    "reader",
    "codec",
    "server",
    "client",
    "queue",
    "retry",
    "schema",
)
_SEED = 7
_FAILURE = (
    "\x1b[1;31mFAILED\x1b[0m tests/test_queue.py::test_items_come_back_in_order - AssertionError: assert [3, 1, 2] == [1, 2, 3]\n"
    '  File "src/queue.py", line 81, in drain\n    items = sorted(self._items, key=self._rank)\n'
    "\x1b[31mE   AssertionError: assert [3, 1, 2] == [1, 2, 3]\x1b[0m\n"
)


def _build(session: Session, lines: int, seed: int, *, fails: bool) -> str:
    """The output of a build and its tests, with colours, both streams, and an error in its middle."""
    draw = random.Random(seed)  # noqa: S311  # a picture needs no secrets
    command = "make test"
    with session.create(source="bash", command=command, tool_call_id=f"call_{seed}") as writer:
        for number in range(1, lines + 1):
            name = draw.choice(_MODULES)
            if number % 97 == 0:
                writer.write(
                    f"\x1b[33mwarning\x1b[0m: src/{name}.c:{draw.randrange(900)}: unused variable 'left'\n".encode(),
                    "stderr",
                )
            elif number % 3:
                writer.write(
                    f"[{number:6}] \x1b[32mCC\x1b[0m   build/{name}_{number}.o  {draw.random():.3f}s\n".encode()
                )
            else:
                writer.write(
                    f"tests/test_{name}.py::test_{draw.choice(_MODULES)}_{number} \x1b[32mPASSED\x1b[0m\n".encode()
                )
            if number == lines // 2:
                time.sleep(1.2)
                if fails:
                    writer.write(_FAILURE.encode(), "stderr")
        writer.exit_code = 2 if fails else 0
    return writer.id


def sample(root: Path) -> dict[str, str]:
    """Fill a store; returns the ids of some artifacts by name."""
    with Store(root, free_disk_floor=0).session("chat-42", "compiler") as session:
        ids = {"before": _build(session, 6000, 1, fails=False)}
        session.put(
            "".join(f"src/{name}.c\n" for name in _MODULES) * 40,
            source="bash",
            command="git ls-files",
            exit_code=0,
        )
        session.put(bytes(range(256)) * 40, source="cat", command="cat build/a.out", exit_code=0)
        session.put(
            "0123456789abcdef\n" * 20_000,
            source="bash",
            command="cat /var/log/syslog",
            limit=65_536,
            policy="roll",
            exit_code=0,
        )
        ids["binary"] = next(info.id for info in session.infos() if info.source == "cat")
        ids["rolled"] = next(info.id for info in session.infos() if info.hole is not None)
        ids["build"] = _build(session, 6000, 2, fails=True)
        with session.acting("model", "call_2"):
            for artifact in session.artifacts():
                render(artifact, profile("default"))
        with session.acting("model", "call_3"):
            search_artifact(session, id=ids["build"], pattern="FAILED")
        with session.acting("model", "call_4"):
            get_artifact(session, id=ids["build"], start_line=2990, end_line=3060)
        with session.acting("model", "call_5"):
            get_artifact(session, id="../../etc/passwd")
        session.note(
            "redaction", {"tool": "bash", "counts": {"password": 2, "aws-key": 1}}, artifact_id=ids["build"]
        )
        session.count_passed("bash", 18_000, calls=31)
    with Store(root, free_disk_floor=0).session("chat-41", "compiler") as session:
        session.put("one\n" * 5000, source="grep", command="grep -rn TODO", exit_code=0)
    with Store(root, free_disk_floor=0).session("nightly") as session:
        _build(session, 2000, 3, fails=False)
    return ids


@contextlib.contextmanager
def served(root: Path) -> Iterator[str]:
    """A server as its URL."""
    command = [sys.executable, "-m", "spillstore_tools.cli", "ui", "--json", "--root", root.name]
    with subprocess.Popen(command, cwd=root.parent, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None  # it is a pipe
        yield json.loads(process.stderr.readline())["url"]
        process.terminate()


def take(page: Any, url: str, ids: dict[str, str]) -> None:
    """All pictures."""
    base = url.partition("/?")[0]
    log = f"/log?{_PLACE}&id={ids['build']}"
    page.goto(url)

    def picture(
        name: str, path: str, *keys: str, wide: int = 1200, tall: int = 720, theme: str = "light"
    ) -> None:
        page.set_viewport_size({"width": wide, "height": tall})
        page.emulate_media(color_scheme=theme)
        page.goto(base + path)
        page.wait_for_function("() => !document.body.textContent.includes('looks again by itself')")
        if path.startswith("/log"):
            page.wait_for_selector("html[data-ready]")
            page.fill("#pattern", "FAILED|warning")
            page.press("#pattern", "Enter")
            page.wait_for_function(
                "() => document.querySelector('.row.found') && !document.getElementById('found').textContent.includes('%')"
            )
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(300)
        if path == "/":  # where a store is without being told, instead of the folder of this run
            page.evaluate(
                "() => { document.querySelector('.about code').textContent = '~/.local/state/spillstore'; }"
            )
        page.screenshot(path=FOLDER / f"{name}.png")

    picture("sessions", "/", tall=400)
    picture("artifacts", f"/artifacts?{_PLACE}", tall=480)
    picture("log", log, "e", "t", "k", "k", "k", "k")
    picture("log-dark", log, "e", "t", "k", "k", "k", "k", theme="dark")
    picture("log-phone", log, "e", wide=390, tall=780)
    picture("changes", f"/changes?{_PLACE}&id={ids['build']}", tall=560)
    picture("audit", f"/audit?{_PLACE}")
    picture("charts", f"/charts?{_PLACE}", tall=800)
    picture("charts-dark", f"/charts?{_PLACE}", tall=800, theme="dark")
    picture("keys", log, "?", tall=800)
    page.locator("#keys").screenshot(path=FOLDER / "keys.png")


def main() -> None:
    """Make the store, serve it, take the pictures."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # of the test tools

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        ids = sample(Path(folder, "store"))
        with served(Path(folder, "store")) as url, sync_playwright() as play:
            context = play.chromium.launch_persistent_context(
                str(Path(folder, "profile")),
                executable_path=CHROMIUM,
                headless=True,
                chromium_sandbox=False,
                args=FLAGS,
            )
            take(context.pages[0], url, ids)
            context.close()


if __name__ == "__main__":
    main()
