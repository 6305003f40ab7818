"""An agent on some machine: what its commands print goes into a session of the store that ``SPILLSTORE_ROOT`` names.

``python writer.py SESSION WHO [OUTPUTS]``: several may write into one session at the same time.
"""

import sys
import time

from spillstore import Store

LINES = 20_000


def main(name: str, who: str, outputs: int = 3) -> None:
    """Store so many outputs, in each of which one line matters."""
    with Store().session(name, project="demo") as session:
        for number in range(1, outputs + 1):
            with session.create(source="bash", command=f"make test-{number}  # {who}") as writer:
                for line in range(1, LINES + 1):
                    if line == LINES // 2 + number:
                        writer.write(f"test {line} FAILED: {who} expected {number}\n")
                    else:
                        writer.write(f"test {line} passed in {line % 97} ms on {who}\n")
                    if line % (LINES // 10) == 0:
                        time.sleep(0.05)  # a command takes its time
            info = session.artifact(writer.id).info
            print(f"{who}: stored {info.lines:,} lines in session {name}: {info.id}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
