"""Lines that report an error, far from both ends: counted in a preview's text, recorded with it."""

from __future__ import annotations

from support import dice

from spillstore_tools import TruncationProcessor
from spillstore_tools.output.rescued import rescued_lines
from spillstore_tools.preview.parts import Gap, Note, Shown
from spillstore_tools.profiles.facts import Facts
from spillstore_tools.profiles.rendered import Rendered, Section, compose


def previews(session):
    return [event.detail for event in session.events() if event.kind == "preview"]


def out_of_reach(output, line, length):
    """Whether no text of a length shows any of a line, that is a beginning of the output and an end of it."""
    at = output.index(line)
    return not any(
        at < head or at + len(line) > len(output) - (length - head) for head in range(0, length + 1, 7)
    )


def test_no_line_is_counted_that_beginning_and_end_could_reach(plain_store):
    """However the room is divided between them, wherever errors stand; and those well inside are all counted."""
    draw = dice()
    counted = set()
    with plain_store.session("chat") as session:
        processor = TruncationProcessor(session)
        for number in range(20):
            lines = [f"step {number} {each} of many" for each in range(3000)]
            # Words apart, for of lines that differ in their digits alone only the first one is chosen.
            words = ["alpha", "beta", "gamma", "delta"][: draw.randint(1, 4)]
            for word in words:
                lines[draw.choice([1, 300, 700, 1500, 2300, 2990]) + draw.randint(0, 5)] = (
                    f"{word}.c:3: error: no {word}"
                )
            output = "\n".join(lines) + "\n"
            text = processor.process(output, "make").content
            shown = [line for line in lines if "error" in line and f" {line}\n" in text]
            found = previews(session)[0]["rescued"]
            far = [
                sum(out_of_reach(output, f"{line}\n", size) for line in shown)
                for size in (len(text), 2 * len(text))
            ]
            assert far[1] <= found <= far[0]
            counted.add(found)
    assert max(counted) > 0


def test_each_view_has_ends_of_its_own():
    """What stands between a gap of one view and one of another is an end."""
    error = Shown("error: no such file\n", 900, 920)
    gaps = [Gap(start, start + 900, 1, 9, 9, None, text="[...]\n") for start in (0, 920)]
    facts = Facts(source="make")
    views = [Section("stdout", [gaps[0], error]), Section("stderr", [error, gaps[1]])]
    assert rescued_lines(compose(views, facts, strategy="smart")) == 0
    views = [Section("stdout", gaps[:1]), Section("stderr", [gaps[0], error, gaps[1]])]
    assert rescued_lines(compose(views, facts, strategy="smart")) == 1
    assert rescued_lines(Rendered(text="error: here\n")) == 0


def test_a_line_that_is_cut_in_its_middle_counts_once():
    """Its two ends are one line; words of ours are none."""
    gaps = [
        Gap(0, 900, 1, 9, 9, 900, text="[900]\n"),
        Gap(930, 5000, 10, 10, 0, 4070, inside=True, text="[4070]"),
    ]
    parts = [
        gaps[0],
        Note("10: "),
        Shown("error: it begins ", 900, 930),
        gaps[1],
        Shown(" error: it ends\n", 5000, 5016),
        Gap(5016, 6000, 11, 20, 10, 984, text="[984]\n"),
        Note("error: ours\n"),
    ]
    assert rescued_lines(compose([Section("combined", parts)], Facts(source="make"), strategy="smart")) == 1


def test_previews_of_other_strategies_say_nothing_of_it(plain_store):
    """Only what takes lines from the middle can show one that is there."""
    with plain_store.session("chat") as session:
        TruncationProcessor(session, profile="acode").process("error: x\n" * 30_000, "make")
        (detail,) = previews(session)
    assert "rescued" not in detail
