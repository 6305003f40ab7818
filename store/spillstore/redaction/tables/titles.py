r"""Lines of titles, whose columns in the next lines hold what the titles say: CSV, TSV, tables with bars, with blanks, of Markdown.

Expressions are those of ``re``, for bytes; examples are templates, as in ``names.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """A notation of tables; the first whose sign stands in a line, and whose titles are all of it.

    Attributes:
        sign: what stands between columns.
        titles: expression for the whole line.
        goes: a table that loses a secret.
        stays: one like it that stays.
    """

    sign: str
    titles: str
    goes: str
    stays: str


_TITLE = r"[A-Za-z#(*_][\w().#/*-]{0,31}+(?>(?: [\w().#/*-]{1,31}+){0,3})"
_QUOTED = rf"(?:{_TITLE}|\"{_TITLE}\")"


def _separated(sign: str) -> str:
    return rf"{_QUOTED}(?:{sign}{_QUOTED}){{1,31}}"


def _barred(bar: str) -> str:
    cell = rf"[ \t]*+(?:{_TITLE})?[ \t]*+"
    return rf"(?>{cell})(?:{bar}(?>{cell})){{1,31}}"


TABLES = (
    *(
        Table(
            bar,
            _barred("\\|" if bar == "|" else bar),
            f" me  {bar}  api_token   {bar} PIN {bar} mail\n-----+---+---+--\n me  {bar} %h{{32}} {bar} 4%d{{3}} {bar} x",
            f" me  {bar}  api_token   {bar} mail\n me  {bar} %h{{32}} is one",
        )
        for bar in ("|", "│", "┃", "║")
    ),
    Table("\t", _separated(r"\t"), "id\tapi_key\tplan\n1\t%h{32}\tx", "id\tapi_key\tplan\n1\t%d{9}\tx"),
    Table(";", _separated(";"), "id;clientSecret;plan\n1;%a{32};x", "f(id);clientSecret;plan\n1;refresh"),
    Table(
        ",",
        _separated(","),
        '"name","api_key","plan"\n"me, x","%a{32}","x"\n\nid,login,passwd\n1,me,kittens',
        "    id,api_token\n1,%h{32}\nname,token_count\nme,%h{32}",
    ),
    Table(
        "  ",
        rf"[ ]{{0,8}}+{_TITLE}(?:[ ]{{2,64}}+{_TITLE}){{1,31}}[ ]{{0,64}}",
        "NAME   API TOKEN    AGE\nci     %a{32}  3d\nbot    %h{32}  4d\n\nUSER  PASSWORD\n----  --------\nme    7%a{11}",
        "NAME   API TOKEN    AGE\nci   %a{32}  3d",
    ),
)
