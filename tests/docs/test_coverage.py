"""``tests/coverage.md`` is complete and true: every requirement has a row, every proof names a test that exists."""

from __future__ import annotations

import ast
import collections
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "coverage.md"
STATES = {"done", "open", "deviation"}
HEADER = ["id", "what", "state", "proof"]

# How many rows each family has; the keys of the sample configuration and the commands have names instead of numbers.
FAMILIES = {
    "T": 6, "T1": 6, "T2": 6, "T3": 7, "T4": 6, "T5": 6, "T6": 6,
    "AUD": 8, "SAN": 9, "MAN": 10, "VS": 6, "S1-TEST": 14, "S1-PERF": 2,
    "S0-SC": 7, "S0-DD": 8, "S0-FMT": 7, "S0-EC": 5, "S0-OQ": 4, "S0-TEST": 5,
    "S2-EX": 7, "S2-SAN": 5, "S2-TR": 6, "S2-OFF": 5, "S2-BG": 7, "S2-RF": 5, "S2-SC": 5,
    "S3-B": 9, "S3-AC": 4,
    "S4-FMT": 11, "S4-PROC": 4, "S4-PROJ": 4, "S4-SESS": 6, "S4-CALL": 9, "S4-INT": 4, "S4-BASH": 11,
    "DEC": 20,
    "ACC-S0": 10, "ACC-S1": 11, "ACC-S2": 12, "ACC-S3": 4, "ACC-S4": 8, "ACC-X": 13,
}  # fmt: skip
COMMANDS = {"list", "info", "show-lines", "show-bytes", "export", "clean", "clean-force"}
CONFIGURATION = [
    "inline_limit",
    "artifact_threshold",
    "max_artifact_size",
    "default_strategy",
    "head_ratio",
    "line_truncation.tail_lines",
    "line_truncation.head_lines",
    "line_truncation.max_line_length",
    "element_truncation.first_elements",
    "element_truncation.last_elements",
    "element_truncation.max_depth",
    "element_truncation.preserve_json",
    "smart_truncation.enabled",
    "smart_truncation.preserve_functions",
    "smart_truncation.prioritize_errors",
    "artifacts.storage_path",
    "artifacts.cleanup_on_exit",
    "artifacts.compress_large",
    "artifacts.enable_partial_retrieval",
    "metadata.include_original_size",
    "metadata.include_token_estimate",
    "metadata.include_strategy",
    "metadata.include_retrieval_instructions",
    "overrides.execute_command.strategy",
    "overrides.execute_command.inline_limit",
    "overrides.execute_command.line_truncation.tail_lines",
    "overrides.read_file.strategy",
    "overrides.read_file.inline_limit",
    "overrides.read_file.head_ratio",
    "overrides.list_directory.strategy",
    "overrides.list_directory.inline_limit",
    "overrides.list_directory.element_truncation.first_elements",
    "overrides.list_directory.element_truncation.last_elements",
    "overrides.search_files.strategy",
    "overrides.search_files.inline_limit",
    "overrides.search_files.element_truncation.first_elements",
    "overrides.search_files.element_truncation.last_elements",
    "overrides.git_diff.strategy",
    "overrides.git_diff.inline_limit",
    "overrides.git_diff.smart_truncation.preserve_functions",
    "overrides.http_request.strategy",
    "overrides.http_request.inline_limit",
    "overrides.http_request.element_truncation.preserve_json",
    "overrides.http_request.element_truncation.max_depth",
]


def expected_ids() -> set[str]:
    """Every id that must have a row."""
    ids = {
        f"{prefix}-{number:03}"
        for prefix, last in (("FR", 75), ("NFR", 19), ("AC", 116))
        for number in range(1, last + 1)
    }
    for family, count in FAMILIES.items():
        separator = "" if family == "T" else "-"
        ids |= {f"{family}{separator}{number}" for number in range(1, count + 1)}
    return ids | {f"CLI-{name}" for name in COMMANDS} | set(CONFIGURATION)


def rows() -> list[list[str]]:
    """The cells of every row of every table, headers left out."""
    out = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells != HEADER:
                out.append(cells)
    return out


def proofs(cell: str) -> list[str]:
    """The tests that a proof names."""
    return [name.strip(" `") for name in cell.split(",")]


@functools.cache
def names_of(path: Path) -> frozenset[str]:
    """What a test file defines: ``test_x``, ``TestY``, ``TestY::test_z``."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)
            }
        if isinstance(node, ast.Assign):  # Hypothesis: TestX = Machine.TestCase
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def is_test(name: str) -> bool:
    """Whether ``tests/path.py::name`` exists and pytest would collect it."""
    path, _, inside = name.partition("::")
    file = ROOT / path
    return (
        path.startswith("tests/")
        and bool(re.fullmatch(r"(Test\w+|test_\w+)(::test_\w+)?", inside))
        and file.is_file()
        and inside in names_of(file)
    )


def test_every_requirement_has_a_row():
    """No id of the documents is missing, and none is made up."""
    found = {cells[0].strip("`") for cells in rows()}
    assert (sorted(expected_ids() - found), sorted(found - expected_ids())) == ([], [])


def test_no_row_stands_twice():
    """An id has one state."""
    counts = collections.Counter(cells[0].strip("`") for cells in rows())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_row_is_full():
    """Each row has an id, a description, a state and a proof, and none of them is empty."""
    assert [cells for cells in rows() if len(cells) != len(HEADER) or not all(cells)] == []


def test_every_state_is_known():
    """A state is done, open or deviation."""
    assert {cells[2] for cells in rows()} - STATES == set()


def test_nothing_is_open():
    """Every requirement is met, or deliberately met otherwise."""
    assert [cells[0] for cells in rows() if cells[2] == "open"] == []


def test_every_proof_names_a_test_that_exists():
    """What is done is done because a named test says so."""
    wrong = {
        cells[0]: name
        for cells in rows()
        if cells[2] == "done"
        for name in proofs(cells[3])
        if not is_test(name)
    }
    assert wrong == {}


def test_what_is_not_done_names_no_test():
    """An open row names a part of the system in a few words; a deviation gives a reason."""
    wrong = [
        cells
        for cells in rows()
        if cells[2] != "done"
        and ("tests/" in cells[3] or (cells[2] == "open" and not 2 <= len(cells[3].split()) <= 6))
    ]
    assert wrong == []


def test_the_check_sees_a_wrong_proof():
    """A test that does not exist, a helper and a file outside the tests are no proofs."""
    assert is_test("tests/docs/test_coverage.py::test_every_state_is_known")
    assert not is_test("tests/docs/test_coverage.py::test_that_was_never_written")
    assert not is_test("tests/docs/test_coverage.py::expected_ids")
    assert not is_test("tests/docs/test_none.py::test_x")
    assert not is_test("store/spillstore/store.py::Store")
