"""Diffs and source code cut between whole units."""

from __future__ import annotations

import ast
import difflib
import random
import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import each_of, examples, not_for_ever

from spillstore_tools.preview.code.cut_units import cut_units
from spillstore_tools.preview.code.diff import read_diff
from spillstore_tools.preview.code.omissions import TextLines
from spillstore_tools.preview.code.source import read_code
from spillstore_tools.preview.structured.cuts import apply_cuts

MARKER = re.compile(r"^[ \t]*\.\.\. \[.*; lines (\d+)-(\d+)\] \.\.\.$", re.MULTILINE)
VERBS = [
    "load",
    "save",
    "merge",
    "split",
    "check",
    "parse",
    "format",
    "render",
    "count",
    "sort",
    "find",
    "drop",
]
NOUNS = ["User", "Order", "Token", "Invoice", "Session", "Cache", "Packet", "Report", "Index", "Queue"]


def language_of(text, hint=None):
    """The language of a text that is source code, or None."""
    code = read_code(TextLines(text), hint)
    return code[0] if code else None


def looks_like_diff(text):
    """Whether a text is a unified diff."""
    return read_diff(TextLines(text)) is not None


def names(number):
    """Names of functions, each of them once."""
    return [f"{VERBS[i % len(VERBS)]}{NOUNS[i // len(VERBS) % len(NOUNS)]}{i}" for i in range(number)]


def verified(text, limit, hint=None):
    """The result, after all has been checked that holds for every one."""
    cuts = cut_units(text, limit, source_hint=hint)
    assert cuts is not None
    result = apply_cuts(text, cuts)
    assert len(result) <= limit or len(text) <= limit
    end = 0
    for cut in cuts:
        assert end <= cut.start < cut.end <= len(text)
        assert cut.start == 0 or text[cut.start - 1] == "\n"
        assert cut.end == len(text) or text[cut.end - 1] == "\n"
        assert len(cut.text) <= 200 and (MARKER.fullmatch(cut.text.rstrip("\n")))
        first, last = map(int, MARKER.search(cut.text).groups())
        assert text.count("\n", 0, cut.start) + 1 == first
        assert text[cut.start : cut.end].removesuffix("\n").count("\n") == last - first
        end = cut.end
    back, at = "", 0
    for cut in cuts:
        back += text[at : cut.start] + text[cut.start : cut.end]
        at = cut.end
    assert back + text[at:] == text
    return result


def body(count, line):
    return "".join(line.replace("%d", str(number)) for number in range(count))


PYTHON = (
    '"""Generated."""\n\nimport os\nfrom typing import Any\n\nLIMIT = 7\n\n\n',
    lambda name, n: (
        f'def {name}(value: Any, *, key: str = "}}") -> int:\n    """Does {name}: {n}."""\n'
        + body(3 + n % 9, "    value = value + len(key) * %d  # {\n")
        + "    return value\n\n\n"
    ),
    "",
)
C = (
    '/* Generated. */\n#include <stdio.h>\n#include "a.h"\n\n#define OPEN {\n\nstatic int total;\n\n',
    lambda name, n: (
        f"/* {name} does it {n} times; }}. */\nstatic int\n{name}(const char *text, int key)\n{{\n"
        + body(3 + n % 9, '\tif (text[0] == \'{\' && key > %d)\n\t\ttotal += puts("} \\" {");\n')
        + "\treturn total;\n}\n\n"
    ),
    "",
)
CPP = (
    "#include <string>\n#include <vector>\n\nusing namespace std;\n\nnamespace app {\n\n",
    lambda name, n: (
        f"template <typename T>\nstd::string Store::{name}(const std::vector<T> &items) const {{\n"
        + body(3 + n % 9, "  for (auto &item : items) {\n    count_ += item.size() + %d;\n  }\n")
        + '  return R"(})";\n}\n\n'
    ),
    "}  // namespace app\n",
)
JAVA = (
    "package com.example.app;\n\nimport java.util.List;\nimport java.util.Map;\n\npublic class Service {\n    private int total;\n\n",
    lambda name, n: (
        f"    /** Does {name}. {{ */\n    @Override\n    public List<String> {name}(Map<String, String> input, int key) throws Exception {{\n"
        + body(3 + n % 9, "        if (key == '}') {\n            total += %d;\n        }\n")
        + '        return List.of("{");\n    }\n\n'
    ),
    "}\n",
)
JAVASCRIPT = (
    "'use strict';\n\nconst fs = require('fs');\nconst path = require('path');\n\n",
    lambda name, n: (
        (
            f"async function {name}(req, res) {{\n"
            if n % 3
            else f"const {name} = async (req, {{ key }} = {{}}) => {{\n"
        )
        + body(
            3 + n % 9,
            '  if (/[{"]/.test(req.url)) {\n    res.send(`{ ${req.map((x) => `${x}{`)} %d`);\n  }\n',
        )
        + ("  return 'it';\n}\n\n" if n % 3 else "  return 'it';\n};\n\n")
    ),
    "module.exports = { run };\n",
)
TYPESCRIPT = (
    "import { Request, Response } from 'express';\nimport { validateToken } from './token';\n\nexport interface Options {\n  limit?: number;\n}\n\n",
    lambda name, n: (
        f"export async function {name}(req: Request, res: Response): Promise<void> {{\n"
        + body(3 + n % 9, "  const part%d: string = req.headers['x'] ?? `}`;\n")
        + "  await validateToken(res);\n}\n\n"
    ),
    "",
)
GO = (
    'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\ntype Store struct {\n\ttotal int\n}\n\n',
    lambda name, n: (
        f"// {name} does it.\nfunc (s *Store) {name}(key string) (int, error) {{\n"
        + body(
            3 + n % 9, "\tif err := s.check(key, '{'); err != nil {\n\t\treturn %d, fmt.Errorf(`}`)\n\t}\n"
        )
        + "\treturn s.total, nil\n}\n\n"
    ),
    "",
)
RUST = (
    "use std::collections::HashMap;\nuse std::fmt;\n\n#[derive(Debug)]\npub struct Store {\n    total: u64,\n}\n\n",
    lambda name, n: (
        f"/// Does {name}.\n#[inline]\npub fn {name}<'a>(input: &'a str, key: char) -> Result<&'a str, Error> {{\n"
        + body(3 + n % 9, "    if key == '{' {\n        log(r#\"}\"#, %d);\n    }\n")
        + "    Ok(input)\n}\n\n"
    ),
    "",
)
CSHARP = (
    "using System;\nusing System.Collections.Generic;\n\nnamespace App.Core\n{\n    public class Service\n    {\n        private int _total;\n\n",
    lambda name, n: (
        f'        [Obsolete("{{")]\n        public async Task<string> {name}(string key, int value)\n        {{\n'
        + body(
            3 + n % 9,
            '            if (key == @"}\\")\n            {\n                _total += %d;\n            }\n',
        )
        + '            return $"{key}";\n        }\n\n'
    ),
    "    }\n}\n",
)
KOTLIN = (
    "package com.example.app\n\nimport kotlin.math.max\nimport java.util.UUID\n\ndata class Item(val id: String)\n\n",
    lambda name, n: (
        f"fun {name}(items: List<Item>, key: Char = '{{'): Int {{\n"
        + body(3 + n % 9, '    val part%d = items.filter { it.id != "}" }\n')
        + "    return items.size\n}\n\n"
    ),
    "",
)
SWIFT = (
    "import Foundation\n\nprotocol Named {\n    var name: String { get }\n}\n\n",
    lambda name, n: (
        f"func {name}(_ items: [String], key: Int) -> Int {{\n"
        + body(3 + n % 9, '    guard let part%d = items.first(where: { $0 != "}" }) else { return 0 }\n')
        + "    return items.count\n}\n\n"
    ),
    "",
)
PHP = (
    "<?php\n\nnamespace App\\Core;\n\nuse App\\Models\\User;\n\nclass Service\n{\n    private $total = 0;\n\n",
    lambda name, n: (
        f"    // {name} doesn't {{\n    public function {name}(array $input, $key)\n    {{\n"
        + body(3 + n % 9, "        if ($key === '{') {\n            $this->total += %d;\n        }\n")
        + "        return <<<EOT\n}\nEOT;\n    }\n\n"
    ),
    "}\n",
)
SOURCES = {
    "python": (PYTHON, "a.py"),
    "c": (C, "a.c"),
    "cpp": (CPP, "a.cc"),
    "java": (JAVA, "A.java"),
    "javascript": (JAVASCRIPT, "a.js"),
    "typescript": (TYPESCRIPT, "a.ts"),
    "go": (GO, "a.go"),
    "rust": (RUST, "a.rs"),
    "csharp": (CSHARP, "a.cs"),
    "kotlin": (KOTLIN, "a.kt"),
    "swift": (SWIFT, "a.swift"),
    "php": (PHP, "a.php"),
}


def source(language, number=40):
    """Source code and its functions by name."""
    (head, function, tail), _ = SOURCES[language]
    functions = {name: function(name, index) for index, name in enumerate(names(number))}
    return head + "".join(functions.values()) + tail, functions


@pytest.mark.parametrize("language", SOURCES)
class TestLanguages:
    def test_is_recognized(self, language):
        """Source code is told by its content alone, and with its file's name."""
        text, _ = source(language)
        assert [language_of(text), language_of(text, SOURCES[language][1])] == [language, language]

    @pytest.mark.parametrize("limit", [1500, 4000, 9000])
    def test_functions_stay_whole(self, language, limit):
        """Each function is shown as a whole, named as left out, or one of those a marker only counts."""
        text, functions = source(language)
        result = verified(text, limit)
        shown = [name for name, code in functions.items() if code.rstrip() in result]
        code_only = MARKER.sub("", result)
        assert shown
        mentioned = [name for name in functions if re.search(rf"{name}\b", code_only)]
        inside = [name for name in mentioned if name not in shown]
        assert [name for name in inside if f" of {name} omitted; " not in result] == []
        assert len(functions) - len(mentioned) == sum(cut.elements for cut in cut_units(text, limit))
        assert len(result) >= 0.8 * limit

    def test_keeps_head_and_both_ends(self, language):
        """The imports, the first function and the last one are shown."""
        text, functions = source(language)
        result = verified(text, 6000)
        (head, _, tail), _ = SOURCES[language]
        first, *_, last = functions.values()
        assert result.startswith(head.rstrip())
        assert first.rstrip() in result and last.rstrip() in result and result.endswith(tail)

    def test_fits_already(self, language):
        """Text within the limit is not cut."""
        text, _ = source(language)
        assert cut_units(text, len(text)) == []

    def test_one_large_function(self, language):
        """Where not one unit fits, the first lines of one are shown, and what closes it."""
        (head, function, tail), hint = SOURCES[language]
        lines = function("loadUser", 0).splitlines(keepends=True)
        middle = len(lines) // 2 if language != "python" else 3
        step = lines[middle - 1 : middle] if language == "python" else ["    call(1);\n"]
        large = "".join([*lines[:middle], *step * 400, *lines[middle:]])
        text = head + large + function("saveUser", 1) + tail
        result = verified(text, 1200, hint)
        assert "loadUser" in result and "omitted" in result

    @examples(30)
    @given(data=st.data())
    def test_any_mixture(self, language, data):
        """Whatever the order and number of functions, the limit holds and whole lines go."""
        number = data.draw(st.integers(8, 60))
        limit = data.draw(st.integers(300, 8000))
        (head, function, tail), hint = SOURCES[language]
        chosen = data.draw(st.lists(st.integers(0, 400), min_size=number, max_size=number))
        text = head + "".join(function(f"work{size}", size) for size in chosen) + tail
        assert language_of(text, hint) == language
        if cut_units(text, limit, source_hint=hint) is not None:
            verified(text, limit, hint)


@pytest.mark.parametrize("language", [name for name in SOURCES if name != "python"])
def test_kept_braces_balance(language):
    """What a cut of whole units leaves has as many opening braces as closing ones, as the whole has."""
    text, functions = source(language)
    for limit in (2000, 5000, 8000):
        for cut in cut_units(text, limit):
            gone = text[cut.start : cut.end]
            parts = [code for code in functions.values() if code.rstrip() in gone]
            assert cut.elements == len(parts)
            if parts:
                assert "".join(parts).split() == gone.split()


class TestPython:
    def test_what_is_left_still_parses(self):
        """A module whose cuts are replaced by statements is a module, and its functions are the original ones."""
        path = ast.__file__
        with open(path, encoding="utf-8") as file:
            text = file.read()
        cuts = cut_units(text, 9000)
        kept = [cut for cut in cuts if cut.elements]
        replaced = apply_cuts(
            text,
            [
                type(cut)(cut.start, cut.end, re.match(r"\s*", cut.text)[0] + "pass\n", 0)
                if cut.elements
                else type(cut)(cut.start, cut.start, "", 0)
                for cut in cuts
            ],
        )
        whole = {ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
        left = [node for node in ast.walk(ast.parse(replaced)) if isinstance(node, ast.FunctionDef)]
        assert kept and left
        assert [node.name for node in left if ast.unparse(node) not in whole] == []

    def test_methods(self):
        """A class too large is cut between its methods, which are named, and its first line stays."""
        methods = "".join(f"    def step{n}(self):\n        return {n}\n\n" for n in range(200))
        text = f'"""Head."""\n\nimport os\n\n\nclass Machine(Base):\n    """Works."""\n\n{methods}'
        result = verified(text, 1200)
        assert 'class Machine(Base):\n    """Works."""\n\n    def step0(self):' in result
        assert re.search(r"^    \.\.\. \[\d+ functions omitted: step\d+, ", result, re.MULTILINE)
        assert result.endswith("def step199(self):\n        return 199\n\n")

    def test_decorators_and_comments(self):
        """Decorators and comments right above a function go and stay with it."""
        unit = "# About {n}.\n@cache\n@wraps(\n    f,\n)\ndef work{n}(\n    a,\n):\n    return a\n\n"
        text = "import os\n\n" + "".join(unit.replace("{n}", str(n)) for n in range(100))
        result = verified(text, 900)
        assert result.count("# About") == result.count("@wraps") == result.count("def work")

    def test_code_in_a_string(self):
        """A function in a string is none."""
        text = "import a\n\nTEXT = '''\ndef inner(a):\n    pass\n'''\n\n" + source("python")[0]
        assert "inner" not in "".join(cut.text for cut in cut_units(text, 1500))
        assert "def inner(a):\n    pass\n'''" in verified(text, 4000)


class TestMarkers:
    def test_names_and_lines(self):
        """A marker has the number, the names as far as there is room, and the lines, indented like what it replaces."""
        text, _ = source("java")
        result = verified(text, 3000)
        assert re.search(
            r"^    \.\.\. \[\d+ functions omitted: \w+, [\w, ]+, \.\.\. and \d+ more; lines \d+-\d+\] \.\.\.$",
            result,
            re.MULTILINE,
        )

    def test_classes(self):
        """Functions, classes and other types are counted apart."""
        text = "".join(f"class A{n}:\n    x = {n}\n\ndef f{n}(a):\n    return a\n\n" for n in range(90))
        assert re.search(r"\[\d+ functions, \d+ classes omitted: ", verified(text, 800))

    def test_long_names(self):
        """Names that are long leave the marker short."""
        text = "import a\n\n" + "".join(f"def {'x' * 120}{n}(a):\n    return a\n\n" for n in range(60))
        assert "..." + "x" * 20 in verified(text, 3000)

    def test_no_last_line_end(self):
        """A marker that ends the text has a line end only if the text has one."""
        text = source("python")[0].rstrip()
        assert verified(text, 3000)[-1] != "\n"


def git(*arguments, cwd):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.pager=cat", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=120).stdout


def unified(files=200, hunks=4, lines=300, seed=1):
    """A diff of files, made with difflib."""
    dice = random.Random(seed)
    text = ""
    for index in range(files):
        before = [f"line {number} of {index}\n" for number in range(lines)]
        after = list(before)
        for hunk in range(hunks):
            at = hunk * lines // hunks + 10
            after[at] = f"changed {dice.random()}\n"
            before[at] = f"-- removed, {dice.random()}\n"
        name = f"src/part{index}/file{index}.c"
        text += f"diff --git a/{name} b/{name}\nindex 1111111..2222222 100644\n"
        text += "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))
    return text


class TestDiffs:
    def test_many_files(self):
        """Of 200 files at least the first ten and the last five are shown, the rest is counted (S1, scenario 2)."""
        text = unified()
        result = verified(text, 8000)
        shown = re.findall(r"^diff --git a/src/part(\d+)/", result, re.MULTILINE)
        assert [*map(str, range(10))] == shown[:10] and [*map(str, range(195, 200))] == shown[-5:]
        files, hunks = map(int, re.search(r"\[(\d+) files omitted, (\d+) hunks: src/part", result).groups())
        assert files == 200 - len(shown)
        assert sum(cut.elements for cut in cut_units(text, 8000)) == 800 - result.count("\n@@ ")
        assert hunks >= 4 * files and len(result) >= 0.8 * 8000

    def test_few_files(self):
        """Where they fit, all headers stay, and what is missing of each file is said."""
        text = unified(files=12, hunks=9)
        result = verified(text, 8000)
        assert len(re.findall(r"^diff --git", result, re.MULTILINE)) == 12
        assert re.search(
            r"^\.\.\. \[\d hunks of src/part5/file5.c omitted; lines \d+-\d+\] \.\.\.$", result, re.MULTILINE
        )

    def test_hunks_stay_whole(self):
        """Each hunk that is shown is shown as a whole."""
        text = unified(files=30, hunks=6)
        result = verified(text, 12000)
        whole = set(re.split(r"^(?=@@ |diff |\.\.\. )", text, flags=re.MULTILINE))
        pieces = re.split(r"^(?=@@ |diff |\.\.\. )", result, flags=re.MULTILINE)
        assert [piece for piece in pieces if piece.startswith("@@") and piece not in whole] == []

    def test_one_huge_hunk(self):
        """A hunk too large is cut inside: its header and first lines stay."""
        text = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,5000 @@\n" + "+a new line\n" * 5000
        result = verified(text, 2000)
        assert (
            result.startswith(text[:200]) and "[1 hunk of new.txt omitted, one of them in part;" not in result
        )
        assert "new.txt" in result.splitlines()[-1] and len(result) > 1600

    def test_git(self, tmp_path):
        """What git prints is a diff: with renames, binary files, modes, messages, merges."""
        git("init", "-q", cwd=tmp_path)
        for number in range(30):
            (tmp_path / f"file {number}.txt").write_text("".join(f"{n} {number}\n" for n in range(300)))
        (tmp_path / "data.bin").write_bytes(bytes(range(256)) * 40)
        git("add", ".", cwd=tmp_path)
        git("commit", "-qm", "One\n\nMore about it.", cwd=tmp_path)
        for number in range(30):
            path = tmp_path / f"file {number}.txt"
            path.write_text(path.read_text().replace("7 ", "-- seven "))
        (tmp_path / "data.bin").write_bytes(bytes(range(256)) * 41)
        git("mv", "file 3.txt", "renamed.txt", cwd=tmp_path)
        git("add", ".", cwd=tmp_path)
        git("commit", "-qm", "Two", cwd=tmp_path)
        for arguments in (
            ("diff", "HEAD~1"),
            ("diff", "--binary", "HEAD~1"),
            ("show",),
            ("log", "-p"),
            ("format-patch", "--stdout", "--root", "HEAD"),
            ("diff", "-U0", "HEAD~1"),
        ):
            text = git(*arguments, cwd=tmp_path)
            assert looks_like_diff(text), arguments
            for limit in (1500, 6000, 20000):
                result = verified(text, limit, "git_diff")
                assert "file 0.txt" in result

    @examples(40)
    @given(files=st.integers(1, 60), hunks=st.integers(1, 9), limit=st.integers(200, 20000))
    def test_any_limit(self, files, hunks, limit):
        """Whatever the sizes, the limit holds; where one header fits, there is a result."""
        text = unified(files, hunks, 200)
        if cut_units(text, limit) is None:
            assert limit < 1000
        else:
            verified(text, limit)

    def test_crooked(self):
        """A diff that ends in a hunk is one, counts that do not fit the lines end it."""
        text = unified(3)
        assert looks_like_diff(text[: len(text) // 2])
        assert not looks_like_diff("@@ -1,999999999 +1,9 @@\n" + "words\n" * 900)


PROSE = "The quick brown fox jumps over the lazy dog; it doesn't matter (much). Use class or function as you like.\n"
SNIPPET = "".join(
    f"def helper{n}(a):\n    if a:\n        return a + {n}\n    return None\n\n" for n in range(6)
)
LOG = "".join(
    f"2024-05-0{n % 9} 12:00:0{n % 10} INFO worker-{n}: request {{id: {n}}} done in {n} ms\n"
    for n in range(400)
)
NEGATIVES = {
    "empty": "",
    "blank": "\n" * 9000,
    "prose": PROSE * 200,
    "log": LOG,
    "log with code": LOG + SNIPPET + LOG,
    "log with C": LOG + "int main(void)\n{\n  return f({1});\n}\n\nvoid g(int a)\n{\n  f(a);\n}\n" * 4 + LOG,
    "log with a diff": LOG + unified(2) + LOG,
    "log behind a diff": unified(1, 1) + LOG,
    "log that mentions a commit": "commit " + "a" * 40 + "\n" + LOG + unified(1),
    "json": '{\n  "function": "def f(a):",\n  "items": [\n'
    + '    {"name": "class A {", "n": 1},\n' * 300
    + "    {}\n  ]\n}\n",
    "json lines": '{"a": {"b": 1}, "c": "function f() {"}\n' * 300,
    "markdown": ("# Title\n\n" + PROSE + "\n```python\n" + SNIPPET + "```\n\n- item\n- other\n\n") * 20,
    "markdown, indented": ("# Title\n\n" + PROSE + "\n    def f(a):\n        return a\n\n") * 60,
    "yaml": "services:\n  web:\n    image: nginx\n    ports:\n      - 80:80\n    if: always()\n" * 100,
    "css": "".join(
        f".a{n} {{\n  color: red;\n  margin: 0 {n}px;\n}}\n\n@media (max-width: {n}px) {{\n  a {{ top: 0; }}\n}}\n"
        for n in range(90)
    ),
    "html": '<div class="a">\n  <p>It doesn\'t</p>\n  <script>f({a: 1});</script>\n</div>\n' * 200,
    "sql": "INSERT INTO users (id, name) VALUES (1, 'a');\nCREATE TABLE t (\n  id INT,\n  name TEXT\n);\n"
    * 100,
    "csv": "id,name,value\n1,def f(a):,2\n" * 300,
    "shell": "#!/bin/sh\nset -e\nfor f in *.c; do\n  gcc -c $f\ndone\nbuild() {\n  make all\n}\nif [ -f a ]; then\n  echo b\nfi\n"
    * 40,
    "makefile": "all: a.o b.o\n\tgcc -o all a.o b.o\n\n%.o: %.c\n\tgcc -c $<\n\n" * 100,
    "terraform": 'resource "aws_instance" "a" {\n  ami = "b"\n  tags = {\n    Name = "c"\n  }\n}\n\n' * 90,
    "nginx": "server {\n  listen 80;\n  location / {\n    proxy_pass http://a;\n  }\n}\n" * 90,
    "gcc": (
        "gcc -c -O2 foo.c -o foo.o\nfoo.c: In function 'main':\nfoo.c:12:3: error: expected ';' before '}' token\n"
        "   12 | int main(void) {\n      |   ^~~~\n   13 | }\nmake: *** [Makefile:3: foo.o] Error 1\n"
    )
    * 80,
    "cargo": (
        "   Compiling a v0.1.0 (/tmp/a)\nwarning: unused variable: `x`\n --> src/main.rs:4:9\n  |\n4 |     let mut x = 1;\n"
        "  |         ^ help: if this is intentional, prefix it\n\n"
    )
    * 80,
    "pytest": (
        "=================== FAILURES ===================\n______________ test_a ______________\n\n"
        "    def test_a():\n        a = 1\n>       assert a == 2\nE       assert 1 == 2\n\n"
        "tests/test_a.py:4: AssertionError\n--------- Captured stdout call ---------\nsome words that were printed\n"
    )
    * 60,
    "jest": "PASS src/a.test.js\n  the thing\n    ✓ renders the page (12 ms)\n    ✓ it doesn't fail (3 ms)\n\n"
    * 90,
    "go test": "=== RUN   TestA\n    a_test.go:12: got {1 2}, want {1 3}\n--- FAIL: TestA (0.00s)\nFAIL\n"
    * 90,
    "go panic": "goroutine 1 [running]:\nmain.f(0x1, {0x2, 0x3})\n\t/tmp/a.go:12 +0x1d\nmain.main()\n\t/tmp/a.go:5 +0x20\n"
    * 90,
    "python traceback": (
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f(1)\n  File "a.py", line 9, in f\n'
        "    def g(a):\n    return a[1]\nValueError: it is not in the list\n"
    )
    * 80,
    "java traceback": (
        'Exception in thread "main" java.lang.IllegalStateException: no\n\tat com.example.App.run(App.java:12)\n'
        "\tat com.example.App.main(App.java:5)\nCaused by: java.io.IOException: closed\n\t... 3 more\n"
    )
    * 80,
    "node traceback": "TypeError: a is not a function\n    at Object.<anonymous> (/tmp/a.js:3:5)\n    at f (node:internal:12:3)\n\n"
    * 80,
    "python session": ">>> def f(a):\n...     return a\n...\n>>> f(1)\n1\n>>> import os\n" * 90,
    "grep": "src/a.py:12:def load(a):\nsrc/a.py:13:    return a\nsrc/b.c:4:int main(void) {\n" * 120,
    "numbered": "".join(f"{n:6}\tdef f{n}(a):\n" for n in range(500)),
    "ls": "-rw-r--r-- 1 root root  4096 May  1 12:00 a.py\ndrwxr-xr-x 2 root root 4096 May  1 12:00 src\n"
    * 120,
    "git log": (
        "commit " + "b" * 40 + "\nAuthor: A <a@b>\nDate:   Mon May 1\n\n    Add a function f() { }\n\n"
    )
    * 90,
    "git stat": " src/a.c | 12 ++++----\n src/b.c |  3 +--\n 2 files changed, 7 insertions(+), 8 deletions(-)\n"
    * 120,
    "context diff": "*** a.c\n--- b.c\n***************\n*** 1,3 ****\n  a\n! b\n--- 1,3 ----\n  a\n! c\n"
    * 80,
    "ini": "[section]\nkey = value\npath = /tmp/a\n\n" * 150,
    "assertion diff": "E         - expected\nE         + got\nE         ?  ^\n@@ -1 +1 @@\n" * 150,
    "listing of functions": "".join(f"def f{n}(a):\n" for n in range(300)),
    "cut off": "const a = 1;\nlet b = 2;\nfunction f() {\n" + LOG,
    "minified": "!function(){" + "var a=function(b){return{c:b}};" * 3000 + "}();",
    "constants": "#ifndef A_H\n#define A_H\n" + "#define NAME 12\nint f(int a);\n" * 200 + "#endif\n",
}


@pytest.mark.parametrize("hint", [None, "run_command", "output.log"])
@each_of("name", NEGATIVES)
def test_negatives(name, hint):
    """What is neither a diff nor source code is left to others."""
    text = NEGATIVES[name]
    assert language_of(text, hint) is None
    assert not looks_like_diff(text)
    assert cut_units(text, 2000, source_hint=hint) is None


@pytest.mark.parametrize("hint", ["a.py", "a.c", "a.js", "a.php"])
@each_of("name", ["log", "prose", "json", "gcc", "yaml", "markdown", "csv", "html"])
def test_a_name_proves_nothing(name, hint):
    """A file's name alone makes no code of what is none."""
    assert cut_units(NEGATIVES[name], 2000, source_hint=hint) is None


def test_too_small_a_limit():
    """Where not even one unit's first lines fit, there is no result."""
    assert cut_units(source("java")[0], 150) is None
    assert cut_units(unified(3), 60) is None


HOSTILE = [
    *[
        "{",
        "}",
        "{}",
        '"',
        "'",
        "`",
        "`${",
        "/*",
        "/",
        "= /a[",
        "#if\n",
        "{\n",
        "}\n",
        '"""',
        "(",
        "<<<A\n",
        'R"x(',
        'r#"',
    ],
    *[
        "def f(:\n",
        "class A {\n",
        "if (x) {\n",
        "@@ -1 +1 @@\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n",
        "diff --git a/x b/x\n",
    ],
    *[
        "a.",
        "a = (",
        "function (",
        "template <",
        "public ",
        "x",
        " ",
        "\x01\n",
        "\\",
        "diff --git a/" + "a b/" * 20,
    ],
]


@pytest.mark.parametrize(
    "language",
    [
        *(None, "python", "c"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("javascript", "php", "csharp")),
    ],
)
@each_of("piece", HOSTILE)
def test_hostile(piece, language):
    """100 KB of anything take linear time and raise nothing."""
    repeated = (piece * (100_000 // len(piece) + 1))[:100_000]
    before = source(language, 4)[0] if language else ""
    hint = SOURCES[language][1] if language else None
    for text in (before + repeated, before + repeated + "\n" + before):
        with not_for_ever():
            cuts = cut_units(text, 5000, source_hint=hint)
        assert cuts is None or len(apply_cuts(text, cuts)) <= 5000


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (None, "diff --git a/" + "x b/" * 25_000),
        ("c", "template<> " * 40 + "\nx {\n}"),
        ("python", "x" + "[1]" * 40 + " y z"),
        ("python", "x" + "[]: a" * 20_000 + " z"),
        ("javascript", "[=/b]" * 20_000),
        ("javascript", ("[" + "a" * 96 + "=/b]") * 1000),
        ("javascript", "a:" * 490 + " => {\n}"),
        ("javascript", "a:()" * 490 + " => {\n}"),
    ],
)
def test_hostile_line(language, line):
    """A line that can be read in very many ways is read in one of them."""
    before = source(language, 4)[0] if language else ""
    text = f"{before}{line}\n" * (1 if len(line) > 5000 else 9)
    with not_for_ever():
        cuts = cut_units(text, 500)
    assert cuts is None or len(apply_cuts(text, cuts)) <= 500


def test_templates_are_types():
    """A template's parameters, nested ones too, do not hide what it is a template of."""
    body = " {\n" + "".join(f"  int value{n};\n" for n in range(30)) + "};\n\n"
    headers = (
        "template <typename T> class Plain : public Base<T>",
        "template <typename T, typename U = std::vector<std::pair<T, int>>>\nstruct Nested",
        "template <template <typename> class C>\nclass Outer",
    )
    text = "#include <map>\nusing namespace std;\n\n" + "".join(header + body for header in headers)
    text += "".join(f"int f{n}(int a)\n{{\n  return a + {n};\n}}\n\n" for n in range(9))
    result = apply_cuts(text, cut_units(text, 600, source_hint="a.cpp"))
    assert "2 classes, 1 type omitted: Plain, Nested, Outer" in result


def test_one_long_line():
    """A line of a megabyte is no unit of anything."""
    assert cut_units("x = {" * 200_000, 5000, source_hint="a.js") is None


BITS = [
    *"{}()'\"`/*#@\n\n\n ",
    *[
        "def f(a):\n",
        "    return 1\n",
        "class A {\n",
        "function f() {\n",
        "}\n",
        "#if A\n",
        "#else\n",
        "#endif\n",
    ],
    *["import a\n", "int f(int a) {\n", "const a = 1;\n", "func f() {\n", "'''", "//", "/*", "*/"],
]


@examples(150)
@given(
    st.lists(st.sampled_from(BITS), max_size=120).map("".join),
    st.integers(0, 400),
    st.sampled_from([None, "a.py", "a.c", "a.js", "a.go", "a.rs", "a.php", "a.cs"]),
)
def test_anything(text, limit, hint):
    """Whatever the text, there is no result or one that holds."""
    if cut_units(text, limit, source_hint=hint) is not None:
        verified(text, limit, hint)


def test_a_megabyte_of_code():
    """It ends, and what is left fits."""
    for language in ("python", "c", "typescript"):
        text, _ = source(language, 2500)
        text = text[: 1 << 20]
        text = text[: text.rindex("\n\n") + 2]
        with not_for_ever():
            cuts = cut_units(text, 16000, source_hint=SOURCES[language][1])
        assert len(apply_cuts(text, cuts)) <= 16000
