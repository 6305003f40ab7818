"""Installing and uninstalling, for configurations as they may be."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from pathlib import Path

import pytest
from agents.drawn import JSON_FILES, TOML_FILES, WORDS
from agents.homes import make_place, tree
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spillstore_tools.agents import files, installation, jsonc, record
from spillstore_tools.agents.edit import ConfigurationError, canonical
from spillstore_tools.agents.registry import AGENTS

JSON_AGENTS = ("claude-code", "gemini", "cursor", "opencode", "pi")


class Lab:
    """One drawn configuration in a folder of its own."""

    def __init__(self, name, data, folder, **changed):
        self.agent = AGENTS[name]
        home = Path(folder) / "home"
        home.mkdir()
        self.home = home
        self.place = make_place(home, Path(folder), **changed)
        self.path = self.agent.targets(self.place)[0].path
        if data is not None:
            self.path.parent.mkdir(parents=True)
            self.path.write_bytes(data)

    def install(self, **options):
        changes = installation.install(self.agent, self.place, **options)
        installation.carry_out(changes)
        return changes

    def uninstall(self):
        installation.carry_out(installation.uninstall(self.agent, self.place))

    def parsed(self):
        text = files.read(self.path).text
        return tomllib.loads(text) if self.path.suffix == ".toml" else jsonc.parse(text)


CONFIGURATIONS = st.one_of(
    st.tuples(st.sampled_from(JSON_AGENTS), JSON_FILES), st.tuples(st.just("codex"), TOML_FILES)
)


@pytest.mark.long
@given(CONFIGURATIONS)
@example(("codex", None))
@example(("claude-code", None))
@example(("claude-code", b"{}"))
@example(("claude-code", b'{"env": {"A": "1"}}'))
@example(("codex", b"[sandbox_workspace_write]"))
def test_uninstalling_restores_every_byte_and_a_second_installation_changes_nothing(drawn):
    """Modes and folders, too; and what was there is there in between."""
    name, data = drawn
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab(name, data, folder)
        before = tree(lab.home)
        foreign = lab.parsed() if data is not None else {}
        try:
            lab.install()
        except ConfigurationError:
            assert before == tree(lab.home)
            assume(False)
        between = tree(lab.home)
        assert before != between
        assert contains(lab.parsed(), foreign)
        assert ["none"] * len(lab.agent.targets(lab.place)) == [change.action for change in lab.install()]
        assert between == tree(lab.home)
        lab.uninstall()
        assert before == tree(lab.home)
        lab.uninstall()
        assert before == tree(lab.home)


def contains(after, before):
    """Whether everything is still there: members with their values, elements of arrays in their order."""
    if isinstance(before, dict):
        return isinstance(after, dict) and all(
            key in after and contains(after[key], before[key]) for key in before
        )
    if isinstance(before, list) and isinstance(after, list) and len(after) > len(before):
        return canonical(after[len(after) - len(before) :]) == canonical(before)
    return canonical(after) == canonical(before)


@pytest.mark.long
@given(CONFIGURATIONS, WORDS, st.sampled_from(["front", "back"]))
@example(("claude-code", None), "x", "front")
@example(("codex", None), "x", "back")
@example(("codex", b"\xef\xbb\xbf"), "x", "back")
def test_what_the_user_has_changed_meanwhile_stays_to_the_byte(drawn, word, where):
    """The same change before the installation gives the same file."""
    name, data = drawn

    def changed(content):
        if name == "codex":
            comment = ("# " + word.replace("\r", "") + "\n").encode()
            has_text = content not in {b"", b"\xef\xbb\xbf"}
            return content + (b"\n" if has_text and not content.endswith(b"\n") else b"") + comment
        comment = b"// " + word.encode() + b"\n"
        mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
        return mark + comment + content[len(mark) :] if where == "front" else content + b"\n" + comment

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab(name, data, folder)
        try:
            lab.install()
        except ConfigurationError:
            assume(False)
        lab.path.write_bytes(changed(lab.path.read_bytes()))
        lab.uninstall()
        missing = b"" if name == "codex" else b"{}\n"
        expected = changed(missing if data is None else data)
        if name == "codex":  # a line end that we have added and the user has built on stays
            assert expected.split() == lab.path.read_bytes().split()
        else:
            assert expected == lab.path.read_bytes()


@pytest.mark.long
@given(CONFIGURATIONS)
def test_without_notes_our_entries_are_found_by_their_values(drawn):
    """And nothing else goes, but what is empty around them."""
    name, data = drawn
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab(name, data, folder)
        foreign = lab.parsed()
        assume(b"spillstore show" not in data)
        try:
            lab.install()
        except ConfigurationError:
            assume(False)
        record.forget(lab.path)
        lab.place = make_place(lab.home, Path(folder), program="/new/spillstore", shell="/new/spillstore-sh")
        lab.uninstall()
        assert canonical(pruned(foreign)) == canonical(pruned(lab.parsed()))


def pruned(value):
    """Without members that are empty."""
    if not isinstance(value, dict):
        return value
    inner = {key: pruned(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each not in ({}, [])}


@pytest.mark.long
@given(CONFIGURATIONS)
def test_programs_that_have_moved_are_named_anew_and_still_taken_out_to_the_byte(drawn):
    """An update of Spillstore changes paths."""
    name, data = drawn
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab(name, data, folder)
        before = tree(lab.home)
        try:
            lab.install()
        except ConfigurationError:
            assume(False)
        lab.place = make_place(lab.home, Path(folder), program="/new/spillstore", shell="/new/spillstore-sh")
        lab.install()
        text = lab.path.read_text()
        assert "/new/spillstore" in text
        assert "/opt/spill store" not in text
        lab.uninstall()
        assert before == tree(lab.home)


@given(CONFIGURATIONS, st.integers(0, 10**6), st.sampled_from([b"\xff", b"{", b"]", b'"', b"=", b"\x00"]))
def test_what_cannot_be_parsed_is_refused_with_its_place(drawn, at, broken):
    """And left as it is."""
    name, data = drawn
    at %= len(data) + 1
    data = data[:at] + broken + data[at:]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab(name, data, folder)
        before = tree(folder)
        try:
            lab.parsed()
        except (ConfigurationError, tomllib.TOMLDecodeError):
            pass
        else:
            assume(False)
        with pytest.raises(ConfigurationError, match=r":\d+:\d+: ") as caught:
            lab.install()
        assert caught.value.line <= data.count(b"\n") + 1
        assert before == tree(folder)


@pytest.mark.long
@given(JSON_FILES)
def test_another_value_is_replaced_only_by_force_and_comes_back(data):
    """Here that of `shell`."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        text = data.decode("utf-8-sig")
        begin = text.index("{", 0) if text.lstrip().startswith("{") else None
        assume(begin is not None)
        empty = not jsonc.parse(text)
        text = text[: begin + 1] + '"shell": "/bin/zsh"' + ("" if empty else ",") + text[begin + 1 :]
        lab = Lab("opencode", text.encode(), folder)
        before = tree(lab.home)
        with pytest.raises(ConfigurationError, match="--force"):
            lab.install()
        assert before == tree(lab.home)
        lab.install(force=True)
        assert lab.place.shell == lab.parsed()["shell"]
        lab.uninstall()
        assert before == tree(lab.home)


@given(st.sampled_from(sorted(AGENTS)), st.sampled_from(["user", "project"]))
def test_where_nothing_was_there_nothing_is_left(name, scope):
    """No file and no folder."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        (Path(folder) / "project").mkdir()
        lab = Lab(name, None, folder, scope=scope)
        before = {path: each for path, each in tree(folder).items() if "notes" not in path}
        lab.install()
        assert os.path.exists(lab.path)
        lab.uninstall()
        assert before == {path: each for path, each in tree(folder).items() if "notes" not in path}


def test_numbers_stay_as_they_are_written():
    """Also those that no program can hold."""
    number = "9" * 5000
    assert {"n": number} == jsonc.parse(f'{{"n": {number}}}')
    assert json.loads("1e400") == jsonc.parse("1e400")


def test_what_cannot_be_written_turns_everything_back():
    """Here somebody changes the second of two files between the plan and the writing; then again with notes of before."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab("codex", b"a = 1\n", folder)
        for _ in range(2):
            plan = installation.install(lab.agent, lab.place)
            second = lab.path.with_name("hooks.json")
            second.write_text("{}")
            before = tree(lab.home)
            notes = record.load(lab.path)
            with pytest.raises(ConfigurationError, match="just now"):
                installation.carry_out(plan)
            assert before == tree(lab.home)
            assert notes == record.load(lab.path)
            second.unlink()
            lab.place = make_place(lab.home, Path(folder), rewrites=False)
            lab.install()
            lab.place = make_place(lab.home, Path(folder), program="/new/spillstore")
        lab.uninstall()
        assert lab.path.read_bytes() == b"a = 1\n"


@pytest.mark.long
@given(JSON_FILES, WORDS)
def test_what_the_user_adds_among_our_entries_stays(data, word):
    """A member beside the prefix, and an element beside our permissions."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(record, "_folder", lambda: Path(folder) / "notes")
        lab = Lab("claude-code", data, folder)
        foreign = lab.parsed()
        try:
            lab.install()
        except ConfigurationError:
            assume(False)
        text = lab.path.read_bytes().decode()
        key = json.dumps(f"MINE {word}")
        prefix = text.index('"CLAUDE_CODE_SHELL_PREFIX"')
        text = text[:prefix] + f'{key}: "1", // {"why"}\n' + text[prefix:]
        allowed = text.index('"Bash(spillstore info:*)"')
        text = text[:allowed] + '"Mine", ' + text[allowed:]
        lab.path.write_bytes(text.encode())
        lab.uninstall()
        after = lab.parsed()
        assert after["env"].pop(f"MINE {word}") == "1"
        after["permissions"]["allow"].remove("Mine")
        assert canonical(pruned(foreign)) == canonical(pruned(after))
        assert "// why" in lab.path.read_text()
