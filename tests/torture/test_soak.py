"""Soaks: each part for a moment, what a series is called, and that a run goes on in its folder."""

from __future__ import annotations

import argparse
import math

import pytest
import soak
from support import SEED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not soak.Path("/proc/self/status").exists(), reason="it looks at /proc"),
]
SIZES = {"session": 400, "sessions": 12, "stream": 70, "server": 40}


def wanted(name, **more):
    given = {
        "seed": SEED,
        "size": SIZES[name],
        "scale": 1.0,
        "cap": 16 * soak.MIB,
        "seconds": 1e9,
        "folder": None,
    }
    return argparse.Namespace(**{**given, **more})


@pytest.mark.parametrize("name", soak.PARTS)
def test_a_short_part(name, tmp_path, capfd):
    """It comes to its size, and tells a row for each thing that was sampled; what grows in a moment is not judged."""
    soak.play(name, wanted(name), tmp_path / name)
    said = capfd.readouterr().out
    assert f"{SIZES[name]} of {SIZES[name]}" in said
    rows = [line.split("|")[2].strip() for line in said.splitlines() if line.startswith("|")]
    assert {"memory", "descriptors", "threads", "disk"} < set(rows)


def test_it_goes_on_in_its_folder(tmp_path, capfd):
    """With what is there; the rows say from where."""
    soak.play("sessions", wanted("sessions"), tmp_path / "it")
    capfd.readouterr()
    soak.play("sessions", wanted("sessions", size=20), tmp_path / "it")
    assert "12 to 20 sessions" in capfd.readouterr().out


GROWING = [100 * 1.1**number for number in range(97)]  # to a million


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (lambda size: 5.0, "flat"),
        (lambda size: 5.0 + size % 300 / 300, "flat"),
        (lambda size: 5.0 * math.log(size), "logarithmic"),
        (lambda size: 5.0 * math.sqrt(size), "grows (size to the power of 0.50)"),
        (lambda size: 5.0 * size, "grows (size to the power of 1.00)"),
        (lambda size: math.nan, "too few"),
    ],
)
def test_how_a_series_grows(of, expected):
    """By its shape, not by its numbers."""
    assert expected == soak.verdict(GROWING, [of(size) for size in GROWING], noise=0.1)


def test_what_is_within_the_noise_is_flat():
    """A small thing that doubles is no finding."""
    assert "flat" == soak.verdict(GROWING, [size / 1e7 for size in GROWING], noise=0.1)
