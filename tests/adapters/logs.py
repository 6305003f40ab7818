"""A log with an error in its middle."""

_PART = "".join(f"test {number} ok\n" for number in range(30_000))
BOOM = "src/a.c:3: error: boom\n"
BIG = _PART + BOOM + _PART  # 818 KB
LINE = 30_001  # of the error
