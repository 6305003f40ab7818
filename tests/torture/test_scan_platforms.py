"""The native scanner on other platforms: it builds for each without a warning, and answers the same under emulators."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import pytest
from scan_driver import ROOT, SOURCE, compiled
from scan_fuzz import play
from support import FACTOR, SEED

from spillstore import _native

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ziglang") is None,
        reason="the compiler for other platforms (ziglang) is not installed; make wheels and make torture do so",
    ),
]
ZIG = [sys.executable, "-m", "ziglang", "cc"]
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
SOURCES = sorted(SOURCE.glob("*.c"))
FUNCTIONS = {
    name
    for file in SOURCES
    for name in re.findall(r"^\w+ (spillstore_\w+)\(", file.read_text(), re.MULTILINE)
}
OF_C = {"memchr", "memcmp", "bcmp", "memcpy", "memset", "strlen", "strchr"}
# Besides those that wheels are built for: Windows, and machines of 32 bits or whose numbers begin with the high byte.
OTHERS = ("x86_64-windows-gnu", "s390x-linux-musl", "arm-linux-musleabihf", "x86-linux-musl")
EMULATED = {"aarch64-linux-musl": "aarch64", "s390x-linux-musl": "s390x", "arm-linux-musleabihf": "arm"}


def _targets():
    return re.findall(r'^    "([\w-]+)": \("', (ROOT / "hatch_build.py").read_text(), re.MULTILINE)


def _kind(file):
    """What stands at the beginning of a library: its format and its machine."""
    begin = file.read_bytes()[:4096]
    if begin[:4] == b"\x7fELF":
        return "linux", struct.unpack_from("<H" if begin[5] == 1 else ">H", begin, 18)[0]
    if begin[:4] == b"\xcf\xfa\xed\xfe":
        return "macos", struct.unpack_from("<I", begin, 4)[0]
    return "windows", struct.unpack_from("<H", begin)[0]  # an object file


KINDS = {
    ("x86_64", "linux"): 62, ("aarch64", "linux"): 183, ("s390x", "linux"): 22, ("arm", "linux"): 40, ("x86", "linux"): 3,
    ("x86_64", "macos"): 0x01000007, ("aarch64", "macos"): 0x0100000C, ("x86_64", "windows"): 0x8664,
}  # fmt: skip


def _symbols(file):
    """The dynamic symbols of an ELF file of 64 bits, low bytes first: those that it has, and those that it needs."""
    data = file.read_bytes()
    start, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * number) for number in range(count)]
    found = ({}, {})
    for _, kind, _, _, at, length, link, *_ in sections:
        if kind == 11:  # SHT_DYNSYM
            names = sections[link][4]
            for place in range(at + 24, at + length, 24):
                name, info, _, section = struct.unpack_from("<IBBH", data, place)
                text = data[names + name : data.index(b"\0", names + name)].decode()
                found[section == 0][text] = info >> 4  # 2: weak
    return found


def _build(target, sources, made, *flags):
    arguments = ["-O3", "-g0", "-std=c11", *WARNINGS, *flags, "-o", str(made), *map(str, sources)]
    done = subprocess.run([*ZIG, "-target", target, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    machine, system = target.split("-")[:2]
    assert _kind(made) == (system, KINDS[machine, system])


@pytest.mark.parametrize("target", _targets())
def test_it_builds_without_a_warning(tmp_path, target):
    """With all warnings as errors; the library is of that machine, has the functions, and needs little of the C library."""
    made = tmp_path / "scan.so"
    _build(target, SOURCES, made, "-shared", "-fPIC")
    assert {name for name in FUNCTIONS if name.encode() in made.read_bytes()} == FUNCTIONS
    if "linux" in target:
        has, needs = _symbols(made)
        assert {name for name in has if name.startswith("spillstore")} == FUNCTIONS
        assert {name for name, binding in needs.items() if binding != 2} <= OF_C


@pytest.mark.parametrize("target", OTHERS)
def test_it_compiles_where_no_wheel_is_for(tmp_path, target):
    """Without a warning, on machines of 32 bits and of the other order of bytes, too. Not linked: that builds a C library."""
    for source in SOURCES:
        _build(target, [source], tmp_path / "one.o", "-c")


@pytest.mark.parametrize("target", EMULATED)
def test_answers_are_the_same_there(tmp_path, target):
    """A part of the campaign, on a machine of 64 bits, of 32 bits, and one whose numbers begin with the high byte."""
    names = (f"qemu-{EMULATED[target]}-static", f"qemu-{EMULATED[target]}")
    emulator = next(filter(None, map(shutil.which, names)), None)
    if emulator is None:
        pytest.skip(f"there is no {names[0]} (Debian: qemu-user-static) to run a program for {target}")
    flags = ("-O2", "-static", "-fsanitize=undefined", "-fsanitize-trap=undefined")
    command = compiled(tmp_path, command=[*ZIG, "-target", target], flags=flags)
    done = play([emulator, str(command)], SEED, 0, share=min(FACTOR, 5) / 10)
    assert [*done.wrong, *done.uneven] == []


@pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed; make wheels does so"
)
def test_a_wheel_for_another_platform(tmp_path):
    """It is tagged for it and holds its library; this machine's own stays as it is."""
    own = SOURCE / _native.LIBRARY
    before = own.read_bytes() if own.exists() else None
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(tmp_path),
    ]

    def wheel(target):
        return subprocess.run(
            [*build, str(ROOT)],
            env={**os.environ, "SPILLSTORE_TARGET": target},
            capture_output=True,
            text=True,
            check=False,
        )

    assert wheel("aarch64-macos").returncode == 0
    (made,) = tmp_path.glob("*.whl")
    assert made.name.endswith("-py3-none-macosx_11_0_arm64.whl")
    with zipfile.ZipFile(made) as archive:
        archive.extract("spillstore/_native/scan.so", tmp_path)
        assert archive.namelist().count("spillstore/_native/scan.so") == 1
    assert _kind(tmp_path / "spillstore/_native/scan.so") == ("macos", KINDS["aarch64", "macos"])
    assert (own.read_bytes() if own.exists() else None) == before
    refused = wheel("vax-ultrix")
    assert refused.returncode != 0
    assert "must be one of x86_64-linux-gnu" in refused.stdout + refused.stderr
