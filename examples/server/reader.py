"""Somebody on another machine, who reads what is written while it is written, from the store that ``SPILLSTORE_ROOT`` names.

``python reader.py SESSION WHO [OUTPUTS]``: ends when so many outputs are complete.
"""

import sys
import time

from spillstore import Session, Store
from spillstore.exceptions import SessionNotFoundError


def wait_for(name: str) -> Session:
    """The session, as soon as somebody has made it."""
    store = Store()
    while True:
        try:
            return store.session(name, project="demo", read_only=True)
        except SessionNotFoundError:
            time.sleep(0.1)


def main(name: str, who: str, outputs: int = 3) -> None:
    """Follow each output to its end, check it, and find the line that matters."""
    seen: set[str] = set()
    with wait_for(name) as session:
        while len(seen) < outputs:
            for artifact in session.artifacts():
                if artifact.id in seen:
                    continue
                was = artifact.info.state
                size = sum(len(block) for block in artifact.follow())
                artifact.verify()
                (match,) = artifact.search("FAILED").matches
                print(
                    f"{who}: read {artifact.id} of session {name}, {was} when found, {size:,} bytes, every digest right; "
                    f"line {match.line:,}: {match.text}",
                    flush=True,
                )
                seen.add(artifact.id)
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
