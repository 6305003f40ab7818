"""What several tests share and none owns."""

from __future__ import annotations

# What the machine happens to have free is not what these tests are about.
NO_FLOORS = {"free_disk_floor": 0, "artifacts_per_minute": 0}


class ManualClock:
    """Time that stands still until a test moves it."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
