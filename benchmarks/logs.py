"""A service's log, line by line: seeded, so that every machine gets the same bytes.

Timestamps rise by fractions of a millisecond, request ids are random, levels and paths are skewed, and one line in
two hundred is a stack trace: what makes a log compress five- to sevenfold, no more.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 4096
_LEVELS = ["INFO"] * 88 + ["DEBUG"] * 8 + ["WARN"] * 3 + ["ERROR"]
_METHODS = ["GET"] * 14 + ["POST"] * 4 + ["PUT", "DELETE"]
_STATUSES = [200] * 80 + [201] * 6 + [204] * 4 + [304] * 4 + [404] * 4 + [500, 503]
_LOGGERS = ("api.access", "api.auth", "billing.worker", "search.index", "cache.redis", "db.pool")
_PATHS = (
    "/v1/users/%d",
    "/v1/users/%d/orders",
    "/v1/orders/%d/items",
    "/v1/search?page=%d",
    "/healthz?probe=%d",
)
_TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/worker.py", line %d, in run\n    result = self.handle(job)\n'
    '  File "/srv/app/handlers.py", line %d, in handle\n    return self.client.fetch(job.url, timeout=5.0)\n'
    "TimeoutError: upstream did not answer within 5.0 s (job %d)\n"
)


def lines(seed: int = 20240501) -> Iterator[str]:
    """Log lines without end."""
    rng = random.Random(seed)
    rand = rng.random
    clock = 8 * 3_600_000_000
    while True:
        clock = (clock + int(rand() * 900) + 1) % 86_400_000_000
        seconds, micros = divmod(clock, 1_000_000)
        level = _LEVELS[int(rand() * len(_LEVELS))]
        path = _PATHS[int(rand() * rand() * len(_PATHS))] % int(rand() * 5000)
        yield (
            f"2024-05-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}Z "
            f"{level:<5} {_LOGGERS[int(rand() * rand() * len(_LOGGERS))]} [worker-{int(rand() * 16)}] "
            f"request_id={rng.getrandbits(48):012x} {_METHODS[int(rand() * len(_METHODS))]} {path} "
            f"status={_STATUSES[int(rand() * len(_STATUSES))]} duration_ms={rand() * rand() * 900:.1f} "
            f"bytes={int(rand() * rand() * 60_000)}\n"
        )
        if rand() < 0.005:
            yield _TRACE % (int(rand() * 900), int(rand() * 900), int(rand() * 1_000_000))


def blocks() -> Iterator[bytes]:
    """The same lines as ASCII, a few thousand at a time."""
    source = lines()
    while True:
        yield "".join(islice(source, _BATCH)).encode("ascii")
