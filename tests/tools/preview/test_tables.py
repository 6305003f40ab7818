"""Tables as programs print them: names of columns are told as they are, and rows unlike the others are shown."""

from __future__ import annotations

import pytest
from test_kinds import data_of, first_line, parts_of, shown

ROWS = 300
NAMES = ("north", "east", "southwest", "west", "midlands")


def padded(names, rows, by="  "):
    """As a program writes it that fills up each column with blanks."""
    cells = [names, *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(names))]
    return [
        by.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(" ")
        for row in cells
    ]


def right(names, rows, left=()):
    """As a program writes it that aligns columns on the right, but for some."""
    cells = [names, *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(names))]
    return [
        " ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def releases(states=("live",)):
    return [
        [
            f"{NAMES[n % 5]}-{n}",
            str(n % 30),
            f"2026-11-{n % 28 + 1:02} 10:11:12 +0000 UTC",
            states[n % len(states)],
            f"{n % 7}.{n % 9}.0",
        ]
        for n in range(ROWS)
    ]


RELEASES = ("NAME", "REVISION", "LAST CHANGE", "STATE", "APP VERSION")


def containers():
    return [
        [
            f"{n * 7919 + 0xABC0000:x}",
            f'"/{NAMES[n % 5]}.sh…"',
            f"{n % 11 + 2} weeks ago",
            f"Up {n % 11 + 2} weeks",
            f"80{n % 90 + 10}/tcp" if n % 3 else "",
            f"{NAMES[n % 5]}_{n}",
        ]
        for n in range(ROWS)
    ]


CONTAINERS = ("PART ID", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES")


def told(lines):
    return first_line(data_of(lines))


def odd(lines, *numbers):
    """Whether these rows are shown with their numbers."""
    text = shown(data_of(lines))
    return all(f"\n{number + 1}: {lines[number]}\n" in text for number in numbers)


@pytest.mark.parametrize("by", ["\t", " \t"])
def test_cells_of_a_tsv_that_blanks_fill_up(by):
    """A status that no other row has is odd, blanks or not, and names are told without them."""
    rows = releases()
    rows[150][3], rows[200][3] = "failed", "pending-upgrade"
    lines = padded(RELEASES, rows, by)
    assert told(lines) == (
        "[TSV: 300 rows of 5 columns: NAME, REVISION (number), LAST CHANGE, STATE (live), APP VERSION; 2 rows unlike the others]"
    )
    assert odd(lines, 151, 201)


def test_names_and_cells_of_several_words():
    """A name with a blank in it is one name, and so are its cells; a row is odd for its state."""
    rows = releases()
    rows[150][3], rows[200][3] = "failed", "pending-upgrade"
    lines = padded(RELEASES, rows)
    assert told(lines) == (
        "[a table: 300 rows of 5 columns: NAME, REVISION (number), LAST CHANGE, STATE (live), APP VERSION; 2 rows unlike the others]"
    )
    assert odd(lines, 151, 201)


def test_a_name_of_two_words_above_short_cells():
    """Where nothing stands below the second word of a name, it is no column."""
    rows = [[f"{n % 50 + 1}m", ("Normal", "Usual")[n % 2], f"part/{n}", f"Made {n} x"] for n in range(ROWS)]
    rows[123][1] = "Warning"
    lines = padded(("LAST SEEN", "TYPE", "OBJECT", "MESSAGE"), rows)
    assert told(lines) == (
        "[a table: 300 rows of 4 columns: LAST SEEN, TYPE (Normal|Usual), OBJECT, MESSAGE; 1 row unlike the others]"
    )
    assert odd(lines, 124)


def test_phrases_that_differ_in_their_digits():
    """``Up 3 weeks`` is as ``Up 10 weeks``, and no phrase that goes on is; cells may be empty, and hold characters of several bytes."""
    rows = containers()
    rows[100][3], rows[200][3] = "Up 3 weeks (unhealthy)", "Restarting (1) 4 seconds ago"
    lines = padded(CONTAINERS, rows)
    assert told(lines).endswith("STATUS, PORTS, NAMES; 2 rows unlike the others]")
    assert told(lines).startswith("[a table: 300 rows of 6 columns: PART ID, COMMAND (")
    assert odd(lines, 101, 201)
    assert parts_of(data_of(lines * 40)) == parts_of(data_of(lines * 40), feed=997)


def processes():
    return [
        [str(n + 100), NAMES[n % 3], str(n * 7 % 9000 + 900), "S", f"{n % 10}.{n % 7}", f"run{n % 9}d"]
        for n in range(ROWS)
    ]


PROCESSES = ("PID", "USER", "VIRT", "S", "%CPU", "COMMAND")


def test_a_header_that_begins_with_blanks():
    """As in tables aligned on the right; a state that no other row has is odd, and so is a number of more digits than all others."""
    rows = processes()
    rows[150][3], rows[220][4] = "Z", "399.7"
    lines = [f"    {line}" for line in right(PROCESSES, rows, left=(1, 5))]
    assert told(lines) == (
        "[a table: 300 rows of 6 columns: PID (number), USER (north|east|southwest), VIRT (number), S (S), %CPU (number), COMMAND;"
        " 1 row unlike the others; 1 row with a number of more or fewer digits than in others]"
    )
    assert odd(lines, 151, 221)


def test_a_header_that_is_not_in_capitals():
    """A name of two words in the last column, and the one disk that is full."""
    rows = [
        [f"/dev/disk{n}", f"{n % 80 + 10}G", f"{n % 60 + 20}%", f"/mnt/{NAMES[n % 5]}{n}"]
        for n in range(ROWS)
    ]
    rows[140][2] = "100%"
    lines = right(("Filesystem", "Used", "Use%", "Mounted on"), rows, left=(0, 3))
    assert told(lines) == (
        "[a table: 300 rows of 4 columns: Filesystem, Used (number), Use% (number), Mounted on;"
        " 1 row with a number of more or fewer digits than in others]"
    )
    assert odd(lines, 141)


def test_lines_above_a_header():
    """They are shown, and count for no rows."""
    lines = ["Active parts (all of them)", *right(PROCESSES, processes(), left=(1, 5))]
    lines[200] = lines[200].replace(" S ", " D ")
    assert told(lines).startswith("[a table: 300 rows of 6 columns: PID")
    assert odd(lines, 200)


def test_a_ruler_of_one_piece():
    """Columns are told from names and rows, whose last cells may be empty; the part that nothing covers is shown."""
    rows = [
        [f"src/part{n}.py", str(n % 80 + 20), f"{90 + n % 10}%", "" if n % 3 else f"{n}-{n + 3}"]
        for n in range(ROWS)
    ]
    rows[222] = ["src/part222.py", "40", "0%", "1-160"]
    table = padded(("Name", "Lines", "Cover", "Missing"), rows)
    lines = [table[0], "-" * 50, *table[1:]]
    assert told(lines) == (
        "[a table: 300 rows of 4 columns: Name, Lines (number), Cover (number), Missing;"
        " 1 row with a number of more or fewer digits than in others]"
    )
    assert odd(lines, 224)


def test_bars_without_one_at_the_end_of_rows():
    """Names between two rulers; a last cell that is empty is one all the same."""
    rows = [
        f" part{n:<4} | {90 + n % 10:>5} | {70 + n % 30:>5} | {'' if n % 2 else f'{n}-{n + 3}':<9} "
        for n in range(ROWS)
    ]
    rows[150] = " part150  |     0 |     0 | 1-30      "
    ruler = "-----------|-------|-------|-----------"
    lines = [ruler, "File       | % One | % Two | Not there ", ruler, *rows, ruler]
    assert told(lines) == (
        "[a table: 300 rows of 4 columns: File, % One (number), % Two (number), Not there;"
        " 1 row with a number of more or fewer digits than in others]"
    )
    assert odd(lines, 153)


def test_bars_in_a_name_alone():
    """They divide no rows, which blanks align."""
    rows = [["ii" if n != 170 else "iU", f"lib{n}", NAMES[n % 5] * (n % 4)] for n in range(ROWS)]
    table = padded(("||/", "Name", "What it is for"), rows)
    lines = ["| Status: all of it", table[0], "+++-======-=============", *table[1:]]
    assert told(lines).startswith("[a table: 300 rows of 3 columns: ||/ (ii), Name, What it is for; 1 row")
    assert odd(lines, 173)


def test_a_title_with_a_line_below_it():
    """It is neither a header nor a ruler; the table below it is one, and its only bad row is shown."""
    box = ["┌──────┬────────┐", "│ Part │ Danger │", "├──────┼────────┤"]
    rows = [f"│ p{n:<4}│ {('LOW', 'MEDIUM')[n % 2]:<7}│" for n in range(900)]
    rows[211] = "│ p211 │ GRAVE  │"
    lines = [
        "Summary",
        "",
        "app (os 12.5)",
        "=============",
        "Total: 300",
        "",
        *box,
        *rows,
        "└──────┴────────┘",
    ]
    assert told(lines) == (
        "[a table: 900 rows of 2 columns: Part, Danger (LOW|MEDIUM); 1 row unlike the others]"
    )
    assert odd(lines, 220)


def test_a_ruler_of_several_pieces_above_any_text():
    """Where no column tells anything, the places of the ruler do; a line that is not aligned is odd."""
    rows = [
        [f"{NAMES[n % 5]}{n * 7919 % 9973}", f"{'what it does ' * (n % 3)}{n * 31:x}"] for n in range(ROWS)
    ]
    table = padded(("Name", "Description"), rows)
    width = table[0].index("Description")
    lines = [table[0], "-" * (width - 2) + "  " + "-" * 30, *table[1:]]
    lines[150] = "this line is no row of the table"
    assert told(lines) == "[a table: 300 rows of 2 columns: Name, Description; 1 row unlike the others]"
    assert odd(lines, 150)


def test_numbers_that_grow_and_numbers_of_all_sizes():
    """Neither makes a row unlike the others."""
    rows = [[str(n), str(3 ** (n % 14)), f"{n % 7}.{n % 30}.1"] for n in range(3000)]
    lines = right(("ID", "BYTES", "VERSION"), rows)
    assert told(lines) == "[a table: 3000 rows of 3 columns: ID (number), BYTES (number), VERSION]"


def test_a_column_without_a_name():
    """Numbers of rows stand below no name, and the other names keep their columns."""
    rows = [[str(n), str(n * 13 % 89 + 10), str(n * 7919 % 90000000 + 10**8)] for n in range(900)]
    rows[200][1] = "NaN"
    lines = right(("", "price", "mass"), rows, left=(0,))
    assert told(lines) == (
        "[a table: 900 rows of 3 columns: ? (number), price (number), mass (number); 1 row unlike the others]"
    )
    assert odd(lines, 201)


def test_rows_that_a_wide_cell_has_pushed_aside():
    """They are read by their words, and are not odd for that."""
    lines = right(PROCESSES, processes(), left=(1, 5))
    lines = [line + " --all of it" * (at % 5 == 2) for at, line in enumerate(lines)]
    for at in range(10, 290, 40):  # not so many that they say where columns are
        lines[at] = lines[at].replace(" S ", "   S ")
    lines[150] = lines[150].replace(" S ", "    Z ")
    assert told(lines).endswith("COMMAND; 1 row unlike the others]")
    assert odd(lines, 150)


def test_a_column_that_does_not_keep_its_promise():
    """Where words become any text, rows are odd for other columns still."""
    rows = [[f"p{n}", "same" if n < 150 else f"x{n}", ("on", "off")[n % 2], str(n % 9)] for n in range(900)]
    rows[700][2] = "broken"
    lines = padded(("NAME", "GROUP", "STATE", "COUNT"), rows)
    assert "GROUP, STATE (on|off), COUNT (number); 1 row unlike the others]" in told(lines)
    assert odd(lines, 701)


@pytest.mark.parametrize(
    "lines",
    [
        ["Starting  the  service", *(f"worker {n} is at step {n * 3} of many" for n in range(ROWS))],
        ["Results", "=======", *(f"The words of line {n}, which are many" for n in range(ROWS))],
        ["What there is  and where", *(f"{n} " + "la " * (n % 9) for n in range(ROWS))],
    ],
)
def test_prose_below_a_line_that_looks_like_a_header(lines):
    """It is no table."""
    assert not told(lines).startswith("[a table")


@pytest.mark.parametrize("cells", ['{0},"one\ntwo",{1}', '{0},{1},"one\ntwo"', '"one\ntwo",{0},{1}'])
def test_cells_that_go_over_lines(cells):
    """Lines are told as lines then, since a row may be several of them."""
    rows = [cells if n % 100 == 7 else cells.replace("\ntwo", " two") for n in range(10 * ROWS)]
    header = cells.replace('"one\ntwo"', "text").format("id", "n")
    text = [header, *(row.format(n, n * 2) for n, row in enumerate(rows))]
    told = first_line(data_of("\n".join(text).split("\n")))
    assert "; cells go over several lines" in told
    assert " rows" not in told
    assert "cells go over" not in first_line(data_of([row.replace("\n", " ") for row in text]))


@pytest.mark.parametrize(
    ("header", "row", "words"),
    [
        (
            "id;name;price",
            "{0};n{0};{0},5",
            "CSV with semicolons: 900 rows of 3 columns: id (number), name, price (number)",
        ),
        (
            "id;name;price",
            "{0};n, no. {0};{0},5",
            "CSV with semicolons: 900 rows of 3 columns: id (number), ",
        ),
        ("0;n;0,5", "{0};n{0};{0},5", "CSV with semicolons: 901 rows of 3 columns]"),
        ("id,tags,n", "{0},a;b,{0}", "CSV: 900 rows of 3 columns: id (number), tags (a;b), n (number)"),
        ("id\tprice", "{0}\t{0},5", "TSV: 900 rows of 2 columns: id (number), price (number)"),
    ],
)
def test_which_sign_divides_cells(header, row, words):
    """The one that stands in the header as often as in rows; a comma only where some of them are in no numbers."""
    assert f"[{words}" in told([header, *(row.format(number) for number in range(900))])
