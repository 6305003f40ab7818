"""Detects a text's programming language, and masks its strings and comments.

Language is told by lines that only one language has (``func (r *T) Name(``, ``from x import y``), counted in a sample;
a file's name only lowers how many it takes. That is a guess, and what the caller finds in the masked text must bear it
out. Masking goes by one regular expression a family, so that it is one linear pass: every alternative begins with a
literal character (which is what the engine can skip to), none gives back what it took, and what is not ended ends
with the line or the text.

Masked text has the lines of the original. A string becomes ``""``, a comment nothing; a line inside one that goes on
is ``INSIDE`` alone, so that it is neither blank nor code, and the last one of a string begins with ``INSIDE``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from spillstore.runtime import lazy_patterns as re

INSIDE: Final = "\x01"
_SAMPLE = 240  # lines that vote
_WIDEST = 300  # characters of one that are looked at
_OPENING = 1000  # characters within which PHP begins
_VOTES = 3  # that it takes, or one if a file name says the same
_HINTED = 1

_LINE = r"//[^\n]*+"
_BLOCK = r"/\*[^*]*+(?>\*(?!/)[^*]*+)*+(?:\*/)?"
_HASH = r"#[^\n]*+"
_STRING = r'"(?>[^"\\\n]++|\\(?s:.))*+"?'
_LONG_STRING = r'"""[^"\\]*+(?>(?:\\(?s:.)|"(?!""))[^"\\]*+)*+(?:""")?'
_SINGLE = r"'(?<![A-Za-z]')(?>[^'\\\n]++|\\(?s:.))*+'?"  # no string begins after a letter: don't
_CHAR = r"'(?:\\[^\n]{1,9}?|[^'\\\n])'"
_DIRECTIVE = r'#(?>[^\n\\/"]++|\\(?s:.)|/(?![/*])|"[^"\n]*+"?)*+'
_REGEX = (
    r"/(?:(?<=[=(,:\[!&|?;{}+\n]/)|(?<=[=(,:\[!&|?;{}+>] /)|(?<=return /))(?![/*])"
    r"(?>[^/\\\[\n]{1,20}+|\\[^\n]|\[(?>[^\]\\\n]{1,99}+|\\[^\n]){0,60}+\]){1,150}+/"
)
_EXPRESSION = r"\$\{(?>[^{}`]|\{[^{}`]*+\})*+\}"
_INNER = rf"`(?>[^`\\$]|\\(?s:.)|\$(?!\{{)|{_EXPRESSION})*+`"
_TEMPLATE = (
    rf"`(?>[^`\\$]++|\\(?s:.)|\$(?!\{{)|\$\{{(?>[^{{}}`]|\{{(?>[^{{}}`]|{_INNER})*+\}}|{_INNER})*+\}}|\$)*+`?"
)
_PYTHON = _LONG_STRING, _LONG_STRING.replace('"', "'"), _STRING, _STRING.replace('"', "'"), _HASH
_CPP = r'"(?<=R")(?P<raw>\w{0,16})\((?s:.*?)(?:\)(?P=raw)"|\Z)'
_RUST = r'"(?<=r#")(?s:.*?)(?:"#|\Z)', r'"(?<=r##")(?s:.*?)(?:"##|\Z)', r'"(?>[^"\\]++|\\(?s:.))*+"?'
_PHP = (
    r"\?>(?s:.*?)(?:<\?(?:php|=)|\Z)",
    r"<<<[ \t]*[\"']?(?P<here>\w+)[\"']?\n(?s:.*?)(?:\n[ \t]*(?P=here)\b|\Z)",
    r'"(?>[^"\\]++|\\(?s:.))*+"?',
    r"'(?>[^'\\]++|\\(?s:.))*+'?",
    r"#(?!\[)[^\n]*+",
)
_MASKS: dict[str, tuple[str, ...]] = {
    "python": _PYTHON,
    "c": (_LINE, _BLOCK, _CPP, _STRING, _CHAR, _DIRECTIVE),
    "csharp": (_LINE, _BLOCK, _LONG_STRING, r'"(?<=@")(?>[^"]|"")*+"?', _STRING, _CHAR, _DIRECTIVE),
    "java": (_LINE, _BLOCK, _LONG_STRING, _STRING, _CHAR),
    "javascript": (_LINE, _BLOCK, _STRING, _SINGLE, _TEMPLATE, _REGEX),
    "go": (_LINE, _BLOCK, r"`[^`]*+`?", _STRING, _CHAR),
    "rust": (_LINE, _BLOCK, *_RUST, _CHAR),
    "swift": (_LINE, _BLOCK, _LONG_STRING, _STRING),
    "php": (_LINE, _BLOCK, *_PHP),
}
_HASH_COMMENTS = ("python", "php")
_FAMILY = {"cpp": "c", "typescript": "javascript", "kotlin": "java"}
_ACCESS = r"(?:(?:public|private|protected|internal|static|final|abstract|override|async|virtual|open|sealed|readonly|suspend|inline|data) )"
_TELLING = {
    "php": r"<\?php|\$\w+ = |(?:\w+ )*function \w+\([^)]*\$\w|namespace [\w\\]+;|use \w+\\[\w\\]+;|\$this->",
    "python": (
        r"(?:async )?def \w+\((?:.*[:(,](?:\s*#.*)?)?$|class \w+(?:\([^)]*\))?:$|from [\w.]+ import |elif .*:$|@(?:property|staticmethod|classmethod|dataclass|pytest\.|functools\.)"
        r"|except\b.*:$|self\.\w+ = .*[^;]$|if __name__ ==|with .* as \w+:$|for .* in .*:$|if .*[^;{]:$"
    ),
    "rust": (
        r"(?:pub(?:\([^)]*\))? )?(?:async |unsafe |const |extern )*fn \w+|use [\w:]+::[\w:{*]|impl\b[^;]*\{$|#!?\[\w+"
        r"|let mut |pub(?:\([^)]*\))? (?:struct|enum|trait|mod|use|const|type) |(?:if|while) let "
    ),
    "swift": (
        rf"(?:@\w+ )*{_ACCESS}*func \w+(?:<[^>]*>)?\((?:\)(?: async| throws)* ->|[^)]*: [^)]*\)[^:]*\{{$)"
        rf"|import (?:Foundation|UIKit|SwiftUI|Combine|XCTest)$|guard (?:let )?|{_ACCESS}*(?:extension|protocol) \w+"
        r"|@(?:objc|IBOutlet|Published|State|main)\b|(?:if|while) let \w+ = .*\{$|(?:convenience |required )?init\(.*\{$"
    ),
    "go": r"func (?:\([^)]*\) \w+|\w+(?:\[[^\]]*\])?\((?!\) \{))|package \w+$|type \w+ (?:struct|interface) ?\{|\w+(?:, \w+)* := |import \($|if err != nil",
    "kotlin": (
        rf"{_ACCESS}*(?:operator |tailrec |infix )*fun (?:<.*> ?)?(?:[\w<>?]+\.)?\w+\(|{_ACCESS}*val \w+|data class"
        r"|package [\w.]+$|companion object|import [\w.]+(?:\.\*)?$|when ?\(.*\{$"
    ),
    "csharp": (
        rf"using (?:static )?[A-Z][\w.]*;|namespace [A-Z][\w.]*[;{{]?$|.*\{{ get; |{_ACCESS}*string \w+[ ;]"
        r"|\[(?:Fact|Test|Serializable|Http\w+|Required|JsonProperty)\b|foreach \(|var \w+ = .*;$"
    ),
    "java": rf"import (?:static )?[\w.]+(?:\.\*)?;|package [\w.]+;|@Override|{_ACCESS}+(?:class|interface|enum|record|[\w<>\[\], ?]+ \w+\().*[{{,(]$",
    "typescript": (
        r"import type |export (?:interface|type|enum|abstract class|declare) |(?:declare |export )?interface \w+.*\{$"
        r"|(?:private|public|readonly|protected) (?:readonly |async )?\w+[?!]?(?:: |\()"
        r"|(?:export |async |const |function )+\w+.*\w\??: (?:string|number|boolean|void|any|unknown|Promise<)"
    ),
    "javascript": (
        r"import .* from [\"']|(?:const|let|var) .* = |export (?:default |const |async |function|class|\{)"
        r"|(?:async )?function\b ?\*? ?\w*\(|module\.exports|.*=> \{$|.*\bfunction ?\([^)]*\) ?\{$|\}\);$"
    ),
    "cpp": r"using namespace \w|template ?<|namespace\b.*\{?$|.*\bstd::|class \w+[^;]*\{?$|[\w<>*&: ]+ ~?\w+::~?\w+\(|public:$|private:$",
    "c": (
        r"#[ \t]*(?:include [<\"]|define \w|ifn?def \w)|typedef (?:struct|enum|union|unsigned|int|void)\b|struct \w+ \{$"
        r"|(?:static |inline |const |unsigned |extern |struct )*(?:void|int|char|long|bool|size_t|u?int\d+_t|double|float) \*{0,2}\w+\("
    ),
}
_EXTENSIONS = {
    "python": "py pyi pyw",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx ino",
    "csharp": "cs",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "kotlin": "kt kts",
    "swift": "swift",
    "php": "php phtml",
}
_BY_EXTENSION = {ending: language for language, endings in _EXTENSIONS.items() for ending in endings.split()}
_ALIKE = (
    {"c", "cpp"},
    {"javascript", "typescript"},
    {"java", "csharp"},
    {"java", "kotlin"},
)  # votes of one serve the other
_VOTE = re.compile(
    r"\s*+(?:" + "|".join(f"(?P<{name}>{telling})" for name, telling in _TELLING.items()) + ")"
)
_FENCE = re.compile(r"^```[\w+#-]*$", re.MULTILINE)


def hinted(hint: str | None) -> str | None:
    """The language that a file's name stands for.

    Example:
        >>> hinted("src/a.py"), hinted("read_file"), hinted(None)
        ('python', None, None)
    """
    if not hint:
        return None
    name, dot, ending = hint.strip().rpartition(".")
    return _BY_EXTENSION.get(ending.lower()) if name and dot else None


def guessed(text: str, raw: list[str], hint: str | None) -> str | None:
    """The language most lines speak for, if that is enough of them."""
    if len(_FENCE.findall(text[:100_000])) > 1:
        return None  # Markdown, whatever it quotes
    if "<?php" in text[:_OPENING]:
        return "php"
    votes = dict.fromkeys(_TELLING, 0)
    for line in raw[: _SAMPLE // 2] + raw[_SAMPLE // 2 :][:: max(1, 2 * len(raw) // _SAMPLE)]:
        match = _VOTE.match(line[:_WIDEST])
        if match and match.lastgroup:
            votes[match.lastgroup] += 1
    named = hinted(hint)
    if named and sum(votes[each] for each in _relatives(named)) >= _HINTED:
        return named
    best = max(votes, key=lambda each: votes[each])
    total = sum(votes[each] for each in _relatives(best))
    return _relative(best, votes, total) if total >= _VOTES else None


def _relative(best: str, votes: dict[str, int], total: int) -> str:
    """The language itself, or the one like it that shares its lines and has lines of its own."""
    if best == "javascript" and votes["typescript"] * 8 >= total:
        return "typescript"
    if best == "java" and votes["csharp"] >= _VOTES:
        return "csharp"
    return "cpp" if best == "c" and votes["cpp"] >= _VOTES else best


def _relatives(language: str) -> set[str]:
    return {language}.union(*(group for group in _ALIKE if language in group))


@cache
def _mask(family: str) -> re.Pattern[str]:
    return re.compile("|".join(_MASKS[family]))


def masked(text: str, language: str) -> list[str]:
    r"""The lines of a text without what its strings and comments say.

    Example:
        >>> masked("f('}') /* {\n{\n*/ + 1", "javascript")
        ['f("") ', '\x01', ' + 1']
    """
    family = _FAMILY.get(language, language)
    blank = _blank_with_hash if family in _HASH_COMMENTS else _blank
    return _mask(family).sub(blank, text).split("\n")


def _blank(match: re.Match[str]) -> str:
    token = match[0]
    first = token[0]
    lines = token.count("\n")
    if first == "/" and token[1:2] in ("/", "*"):
        return ("\n" + INSIDE) * (lines - 1) + "\n" if lines else ""
    if first == "#":
        word = token[1:].lstrip(" \t")[:8]
        return ("#" + word.split(None, 1)[0] if word.split() else "#") + ("\n" + INSIDE) * lines
    return '""' + ("\n" + INSIDE) * lines


def _blank_with_hash(match: re.Match[str]) -> str:
    return "" if match[0][0] == "#" else _blank(match)
