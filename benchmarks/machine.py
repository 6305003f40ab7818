"""Where it was measured: what shapes the figures, and nothing that names the machine or its owner."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess

import zstandard

from benchmarks import stream
from spillstore import __version__


def describe() -> dict[str, str | int]:
    """Hardware and versions."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "zstandard": zstandard.__version__,
        "libzstd": ".".join(map(str, zstandard.ZSTD_VERSION)),
        "zstd_peer": stream.version(),
        "spillstore": __version__,
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        answer = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], check=False, capture_output=True, text=True
        )
        if answer.returncode == 0:
            return answer.stdout.strip()
    return platform.processor() or platform.machine()
