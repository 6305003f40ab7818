"""A log with an error in its middle."""

_PART = "".join(f"test {number} ok\n" for number in range(28_000))
BOOM = "src/a.c:3: error: boom\n"
BIG = _PART + BOOM + _PART  # 820 KB
LINE = 28_001  # of the error
