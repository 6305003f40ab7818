"""The benchmark of redaction's quality: texts are drawn as their marks say, and scores count what they claim to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from benchmarks import redaction_quality as quality

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = f"{'mivo'}-4471-Ruq"  # put together, so that it does not stand here


@pytest.mark.parametrize("collection", ["secrets", "lookalikes"])
def test_every_mark_is_filled(collection: str) -> None:
    """Texts of secrets hold at least one each, look-alikes none, and no mark is left."""
    examples = quality.drawn(collection, 1)
    assert len({example.name for example in examples}) == len(examples) > 80
    for example in examples:
        assert bool(example.secrets) == (collection == "secrets"), example.name
        assert "<<" not in example.text.replace("<<<", "").replace(">>>", "")
        assert all(secret in example.text for secret in example.secrets)


def test_a_seed_decides_what_is_drawn() -> None:
    """The same seed draws the same secrets, another one others."""
    assert quality.drawn("secrets", 3) == quality.drawn("secrets", 3)
    assert quality.drawn("secrets", 3) != quality.drawn("secrets", 4)


@pytest.mark.parametrize(
    ("result", "gone"),
    [
        ("password=[REDACTED: PASSWORD]", True),
        (f"password={PASSWORD}", False),
        (f"password=[REDACTED: PASSWORD]{PASSWORD[-8:]}", False),
        (f"password={PASSWORD[:-2]}", True),  # a known beginning may stay
        ("", True),
    ],
)
def test_what_counts_as_gone(result: str, *, gone: bool) -> None:
    """A secret is not gone while it, or its last eight characters, are to be read."""
    assert quality.is_gone(PASSWORD, result) == gone


def test_scores_count_secrets_and_whole_texts() -> None:
    """What was missed or damaged is named."""
    good = quality.Example("good", f"password={PASSWORD}\n", (PASSWORD,))
    missed = quality.Example("missed", "the fox of 1987 jumps", ("1987 jumps",))
    assert quality.of_secrets([good, missed]) == (1, 2, ("missed: 1987 jumps",))
    score = quality.of_lookalikes([good, missed])
    assert score == (1, 2, ("good: password=[REDACTED: PASSWORD]",))
    assert score.percent == 50


def test_collections_of_others_are_scored_by_source_and_class(tmp_path: Path) -> None:
    """Each line of a file is an example; classes of a source have a row each."""
    rows = [
        {"source": "made", "class": "signed", "text": f"password={PASSWORD}", "secrets": [PASSWORD]},
        {"source": "made", "class": "lookalike", "text": "password=$PASSWORD", "secrets": []},
        {"source": "made", "class": "lookalike", "text": f"password={PASSWORD}", "secrets": []},
    ]
    (tmp_path / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = {name: (score.right, score.of) for name, score in quality.collections_of(tmp_path)}
    assert scores == {"made, signed": (1, 1), "made, lookalike": (1, 2)}


def test_changed_lines_of_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that change are counted and shown; binary files and links are left out."""
    (tmp_path / "a.py").write_text(f"import os\npassword = '{PASSWORD}'\ntoken = None\n")
    (tmp_path / "b.bin").write_bytes(b"\0password=" + PASSWORD.encode())
    (tmp_path / "c.py").symlink_to(tmp_path / "a.py")
    (path, lines, changed), *others = quality.sources([tmp_path])
    assert (path.name, lines, others) == ("a.py", 3, [])
    assert changed == [(2, f"password = '{PASSWORD}'", "password = '[REDACTED: PASSWORD]'")]
    quality.show_sources([tmp_path])
    printed = capsys.readouterr().out
    assert "a.py:2\n- password = '" in printed
    assert printed.endswith("1 of 3 lines in 1 files change: 333333.3 in a million\n")


@pytest.mark.long
def test_the_command_prints_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without options it scores the outputs and the look-alikes."""
    monkeypatch.setattr("sys.argv", ["redaction_quality", "--seed", "2"])
    assert quality.main() == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in printed[1:]] == [
        "secrets in outputs of tools",
        "texts without secrets, whole",
        *(
            f"{name}, half {half}, {sort}"
            for name in ("unseen", "later", "foreign", "wider", "newer", "newest", "latest", "everyday")
            for half in "ab"
            for sort in ("signed", "elsewhere", "all", "beside", "lookalike")
        ),
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("collection", "seeds"),
    [("unseen", [1]), ("later", [1, 2, 3]), ("foreign", [1]), ("wider", [1]), ("newer", [1])],
)
def test_of_the_second_half_only_figures_are_told(collection: str, seeds: list[int]) -> None:
    """What was missed of half ``b`` is not named, and each half has secrets of both sorts, lines and texts without any."""
    scores = dict(quality.halves(collection, seeds))
    assert all(score.of > 20 for score in scores.values())
    assert [name for name, score in scores.items() if ", half b" in name and score.wrong] == []
    for half in "ab":
        signed, elsewhere, both = (
            scores[f"{collection}, half {half}, {sort}"] for sort in ("signed", "elsewhere", "all")
        )
        assert elsewhere.right < elsewhere.of
        assert (both.right, both.of) == (signed.right + elsewhere.right, signed.of + elsewhere.of)


def test_lines_beside_secrets_are_counted() -> None:
    """Those that hold a secret are not, and one that is damaged is named."""
    text = f"user=me\npassword={PASSWORD}\n\nold_password={PASSWORD[::-1]}\n"
    example = quality.Example("made", text, (PASSWORD,))
    assert quality.beside([example]) == (1, 2, ("made: old_password=[REDACTED: PASSWORD]",))
