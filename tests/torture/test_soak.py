"""Soaks: each part for a moment, what a series is called, and that a run goes on in its folder."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys

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
    """It comes to its size, and tells a row for each thing that was sampled; what grows in a moment is not judged.

    Then it goes on in its folder with what is there; what both runs have sampled is judged, the sizes of the second behind
    those of the first.
    """
    soak.play(name, wanted(name), tmp_path / "it")
    said = capfd.readouterr().out
    assert f"{SIZES[name]} of {SIZES[name]}" in said
    rows = [line.split("|")[2].strip() for line in said.splitlines() if line.startswith("|")]
    assert {"memory", "descriptors", "threads", "disk"} < set(rows)
    before = soak.Samples(tmp_path / "it" / "samples.jsonl")
    more = SIZES[name] + 20
    soak.play(name, wanted(name, size=more), tmp_path / "it")
    after = soak.Samples(tmp_path / "it" / "samples.jsonl")
    assert before.rows == after.rows[: len(before.rows)]
    assert (SIZES[name], more) == (before.there, after.there)
    assert [1, 2] == sorted({row["run"] for row in after.rows})
    assert f"{more} {soak.PARTS[name][0].unit}, 2 runs" in capfd.readouterr().out


def test_a_run_that_is_told_to_end_notes_where(tmp_path):
    """It closes what it has open, and its last sample is where it was."""
    command = [sys.executable, soak.__file__, "session", "--seed", str(SEED), "--folder", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with running:
        while "memory" not in (said := running.stdout.readline()):
            assert said
        running.terminate()
        rest = running.stdout.read()
    assert running.returncode in {0, 1}
    there = soak.Samples(tmp_path / "session" / "samples.jsonl").there
    assert f"{there:,} of 1,000,000 calls are done" in rest


def test_a_line_that_was_half_written_is_left_out(tmp_path):
    """A run that was killed while it wrote a sample has the ones before it."""
    file = tmp_path / "samples.jsonl"
    file.write_text('{"size": 10, "run": 1, "judged": true, "values": {"memory": 5}}\n{"size": 2')
    assert 10 == soak.Samples(file).there


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


def test_times_are_told_by_the_reference(tmp_path):
    """A call that takes longer while the reference does, too, is flat; memory is what it is, and a run without references is, too."""
    file = tmp_path / "samples.jsonl"
    rows = [(1, {"put": 1.0, "reference": 2.0, "memory": 5}), (2, {"put": 2.0, "reference": 4.0, "memory": 6}), (3, {"put": 3.0, "memory": 7})]  # fmt: skip
    file.write_text(
        "".join(
            json.dumps({"size": size, "run": 1, "judged": True, "values": values}) + "\n"
            for size, values in rows
        )
    )
    assert {"put": ([1, 2, 3], [1.5, 1.5, 3.0]), "memory": ([1, 2, 3], [5, 6, 7])} == soak.Samples(
        file
    ).series()
