"""Fuzzes parts of the product: ``python tests/torture/fuzz_parts.py NAME --seed N --seconds S`` (``make fuzz-parts NAME=... SECONDS=...``).

With atheris (the dependency group ``fuzz``) texts are preferred that make something new run; what they were is kept in a
folder while it goes on, or for the next run with ``--corpus``. Without it (``--plain``), texts are drawn and changed with a seed alone,
which the tests do for a moment. Each part gets a process of its own. What fails is written beside the corpus and told;
``--replay FILE`` plays it again.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "tools")]

MEMORY = 4 * 1024**3  # address space
LONGEST = 4096  # bytes of a text


def changed(dice: random.Random, pool: list[bytes]) -> bytes:
    """A text of the pool with a few changes: bits, bytes, numbers, pieces doubled, cut, or put in from another."""
    text = bytearray(dice.choice(pool))
    for _ in range(dice.choice((0, 1, 1, 2, 4, 16))):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((1, 1, 2, 8, 64)))
        kind = dice.randrange(6)
        if kind == 0 and at < len(text):
            text[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            text[at:at] = dice.randbytes(dice.choice((1, 2, 4)))
        elif kind == 2:
            del text[at:end]
        elif kind == 3:
            text[at:at] = text[at:end] * dice.choice((1, 2, 50))
        elif kind == 4:
            other = dice.choice(pool)
            cut = dice.randrange(len(other) + 1)
            text[at:end] = other[cut : cut + 32]
        else:
            text[at:end] = dice.choice(
                (b"\xff", b"\0", b"\x7f", b'"', b"[", b"\x1b", b"9" * 30, "\u202e".encode())
            )
    return bytes(text[:LONGEST])


def plain(name: str, seed: int, count: int) -> int:
    """Play a target with drawn texts; how many. Raises what it raises, with the text."""
    import fuzz_targets

    function, dice = fuzz_targets.TARGETS[name], random.Random(f"{seed} {name}")
    pool = list(fuzz_targets.SEEDS[name])
    for _ in range(count):
        text = changed(dice, pool)
        try:
            function(text)
        except BaseException as error:
            error.add_note(f"{name} of {text!r}")
            raise
        if dice.random() < 0.05:
            pool[dice.randrange(len(fuzz_targets.SEEDS[name]), len(pool) + 1) :] = [text]
    return count


def _guided(name: str, arguments: list[str]) -> None:
    """Be the process that is guided; does not return."""
    import atheris

    with atheris.instrument_imports(
        include=["spillstore", "spillstore_tools"]
    ):  # also of what is imported late
        import fuzz_targets

        function = fuzz_targets.TARGETS[name]
        function(fuzz_targets.SEEDS[name][0])  # so that late imports take none of a text's time
        atheris.Setup([sys.argv[0], *arguments], function)
        atheris.Fuzz()


def run(name: str, wanted: argparse.Namespace, folder: Path) -> bool:
    """Fuzz one part, and tell a row of figures; whether nothing was found."""
    import fuzz_targets

    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    for text in fuzz_targets.SEEDS[name]:
        (corpus / hashlib.sha256(text).hexdigest()[:16]).write_bytes(text)
    options = [f"-seed={wanted.seed or 1}", f"-max_total_time={wanted.seconds:.0f}", f"-max_len={LONGEST}", "-print_final_stats=1",
               "-timeout=60", "-rss_limit_mb=2048", f"-artifact_prefix={folder}/found-{name}-"]  # fmt: skip
    if wanted.executions:
        options.append(f"-runs={wanted.executions}")
    if fuzz_targets.WORDS[name]:
        words = folder / f"{name}.words"
        words.write_text(
            "".join(
                '"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in fuzz_targets.WORDS[name]
            )
        )
        options.append(f"-dict={words}")
    began = time.monotonic()
    command = [sys.executable, __file__, name, "--be-guided", *options, str(corpus)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    said = done.stdout + done.stderr
    executions = re.findall(r"stat::number_of_executed_units:\s+(\d+)", said)
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said)
    memory = re.findall(r"stat::peak_rss_mb:\s+(\d+)", said)
    edges, features, kept = covered[-1] if covered else ("?", "?", "?")
    print(f"| {name}, seed {wanted.seed} | {time.monotonic() - began:.0f} s | {int((executions or ['0'])[-1]):,} executions |"
          f" {edges} edges, {features} features, {kept} texts kept | {(memory or ['?'])[-1]} MB | {'nothing' if not done.returncode else 'FOUND'} |",
          flush=True)  # fmt: skip
    if done.returncode:
        print(said[-4000:], flush=True)
    return not done.returncode


def main() -> int:
    """Play what is wanted; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python tests/torture/fuzz_parts.py", description=__doc__)
    parser.add_argument("name", nargs="*", help="of the parts; all without one")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    parser.add_argument("--seconds", type=float, default=60, help="for each part")
    parser.add_argument("--executions", type=int, default=0, help="for each part, if that is sooner")
    parser.add_argument("--corpus", help="a folder that keeps the texts; a run goes on with what is in it")
    parser.add_argument("--plain", action="store_true", help="without a guide")
    parser.add_argument("--replay", help="a file with a text that was found")
    parser.add_argument("--be-guided", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.be_guided is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        _guided(wanted.name[0], wanted.be_guided)
    import fuzz_targets

    names = wanted.name or list(fuzz_targets.TARGETS)
    if wanted.list:
        for name in names:
            print(f"{name:16} {fuzz_targets.TARGETS[name].__doc__.splitlines()[0]}")
        return 0
    if wanted.replay:
        fuzz_targets.TARGETS[names[0]](Path(wanted.replay).read_bytes())
        return 0
    print(f"fuzz-parts: --seed {wanted.seed} --seconds {wanted.seconds:g}", flush=True)
    if wanted.plain:
        for name in names:
            print(
                f"| {name}, seed {wanted.seed} | {plain(name, wanted.seed, wanted.executions or 1000)} executions | nothing |",
                flush=True,
            )
        return 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        found = [name for name in names if not run(name, wanted, Path(wanted.corpus or temporary))]
        if found and not wanted.corpus:
            print("with --corpus FOLDER the texts that were found are kept")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
