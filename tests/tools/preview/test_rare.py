"""Lines that break a pattern: which are shown, and which are not."""

from __future__ import annotations

import random
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import assert_law
from support import each_of

from spillstore_tools.preview.parts import length_of, text_of
from spillstore_tools.preview.scan import scan as scans
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import candidates as module
from spillstore_tools.preview.strategies.candidate import ranked
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.strategies.rare import RareLines
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.strategies.smart import Smart
from spillstore_tools.preview.text import long_line
from spillstore_tools.preview.text.clean import clean

SEED = 3


def names(count):
    """Words of letters, hardly any twice."""
    rng = random.Random(SEED)
    return ["".join(rng.choices("ghijklmnopqrstuvwxyz", k=9)) for _ in range(count)]


def text_with(form, message, *, count=400, at=0.5):
    """Many lines of a form, each with a name and a number, and one message among them."""
    rows = [form.format(name=name, number=number) for number, name in enumerate(names(count))]
    rows.insert(int(count * at), message)
    return "".join(f"{row}\n" for row in rows).encode()


def scanned(data, *, feed=None, observer=None, **options):
    scan = Scan(head_chars=2000, tail_chars=2000, observer=observer or Smart().observer(), **options)
    feed = feed or len(data)
    for at in range(0, len(data), feed):
        scan.feed(data[at : at + feed])
    return scan.finish()


def preview(data, *, limit=3000, feed=None, exact=True, **request):
    request = Request(
        limit=limit, marker=lambda gap: f"[... {gap.first_line}-{gap.last_line} ...]\n", **request
    )
    parts = Smart().cut(scanned(data, feed=feed, exact=exact), request)
    assert_law(parts, data, clean=clean)
    assert length_of(parts) <= limit
    return text_of(parts)


FORMS = [
    ("Verarbeite Datei kunden/{name}.xml ... fertig", "Verarbeite Datei kunden/meier.xml ... abgebrochen"),
    ("[{number}/400] Übersetze src/{name}.c", "Abbruch: Datei »netz.h« ist nicht vorhanden"),
    (
        "Traitement du fichier {name}.csv : {number} lignes",
        "Traitement du fichier ventes.csv : colonne « total » absente",
    ),
    ("[{number}] データを処理しています: {name}", "[212] ファイルを開くところで止まりました: settings"),
    ("ファイル処理中、{name}.csv", "処理を中断しました、権限がありません"),
    ("파일 처리 중: {name}.csv ({number}행)", "설정을 읽는 도중 멈췄습니다: main.csv"),
    ("Plik {name}.xml zapisany ({number})", "Plik umowy.xml pominięty, brak nagłówka"),
    (
        "Processando pedido {number} do cliente {name}: aprovado",
        "Processando pedido 7 do cliente silva: recusado",
    ),
    ("正在编译 {name}.cpp", "头文件缺失,编译停止"),
    ("Файл {name}.txt обработан за {number} мс", "Файл отчёт.txt пропущен"),
    ("تمت معالجة الملف {name} في {number}", "تعذر فتح الملف"),
    ("step {number} loss 0.{number}", "step 200 loss nan"),
    ("{name}-{number} 1/1 Running {number}d", "web-7 0/1 ImagePullBackOff 3m"),
    ("copy {name} -> /backup ({number} bytes)", "copy x -> /backup (0 bytes, source vanished)"),
    ("module {name}: 0 errors, {number} lines", "module main: symbol table is truncated"),
    ("DEBUG ErrorHandler loaded for {name}", "DEBUG route api shadows another"),
    ("{number}: {number} {number} {number}", "---- ---- ----"),
]


@each_of("form, message", FORMS)
def test_the_line_that_breaks_a_pattern(form, message):
    """It is shown with its number, whatever the language: no word of it has to be known."""
    assert f"201: {message}\n" in preview(text_with(form, message), ended_well=False)


@each_of("form, message", FORMS[:4])
def test_of_a_run_that_ended_well(form, message):
    """One such line is told even where the command ended with exit code 0."""
    assert message in preview(text_with(form, message), ended_well=True)


def test_no_line_is_rare_where_all_are():
    """Where each line is of a kind of its own, none is shown."""
    rng = random.Random(SEED)
    words = names(300)
    data = "".join(" ".join(rng.choices(words, k=rng.randrange(3, 12))) + "\n" for _ in range(800)).encode()
    assert scanned(data).observer.best() == []


def test_many_rare_lines_of_a_good_run():
    """Of a command that ended well, rare lines are not shown where there are many."""
    words = names(60)
    rows = [f"unit {number} is done" for number in range(3000)]
    for place, (one, two) in enumerate(pairwise(words)):
        rows[50 * place] = f"{one} {two} {words[-place]}"
    finder = scanned("\n".join(rows).encode()).observer
    assert finder.best(ended_well=True) == []
    assert len(finder.best(ended_well=False)) > 20


def test_a_rare_line_among_others():
    """In an output of several phases a line counts whose neighbours are all of frequent kinds."""
    rng = random.Random(SEED)
    words = names(200)
    mixed = "".join(" ".join(rng.choices(words, k=rng.randrange(2, 9))) + "\n" for _ in range(60)).encode()
    data = mixed + text_with("CC src/{name}.o", "bridge.c: 型は宣言されていません", count=600)
    assert "bridge.c: 型は宣言されていません" in preview(data)


def test_lines_in_a_row_are_one():
    """Rare lines one behind the other are shown together."""
    data = text_with("unit {name} is done", "Ursache: Platte voll\n  betroffen: Lager\n  Rest: nichts")
    text = preview(data)
    assert "201: Ursache: Platte voll\n202:   betroffen: Lager\n203:   Rest: nichts\n" in text
    assert len([each for each in scanned(data).observer.best() if each.line.number in {201, 202, 203}]) == 1


def test_a_flood_stands_behind():
    """Of hundreds of lines alike that hold a telling word, others come first, however few words they have."""
    data = text_with("error: no icon for '{name}', using another", "FATAL: no connection left", count=900)
    lines = [each.line.text for each in ranked(scanned(data).observer.best())]
    assert lines[0] == "FATAL: no connection left\n"


def test_a_strong_line_behind_a_flood_is_scored():
    """Lines of one kind do not use up what may be scored of a block."""
    data = text_with(
        "warning: {name} is unknown to {number}", "pay.c:3:1: error: no such total", count=1500, at=0.98
    )
    assert any("pay.c:3:1" in each.line.text for each in scanned(data).observer.best())


def test_another_kind_of_lines():
    """Where nothing else stands out, the first line is shown from which on lines are of another kind; of a run that ended well, of one kind alone."""
    rows = [f"step {number} loss 0.{number}" for number in range(300)]
    rows += [f"step {number} loss nan" for number in range(300, 600)]
    data = "".join(f"{row}\n" for row in rows).encode()
    assert "301: step 300 loss nan\n" in preview(data)
    assert [each.line.number for each in scanned(data).observer.best(ended_well=True)] == [301]
    data += "".join(f"linked part {number}\n" for number in range(300)).encode()
    assert scanned(data).observer.best(ended_well=True) == []


def test_warnings_of_a_good_run():
    """Of a command that ended well, words in passing are no matter, and what is certain is."""
    data = text_with("unit {name} is done", "warning: unused total") + text_with(
        "unit {name} is done", "Error: no total"
    )
    assert [
        each.line.number for each in scanned(data).observer.best(ended_well=True) if "total" in each.line.text
    ][-1] == 602
    plain = b"the first failed request was tried again\n"
    finder = CandidateFinder()
    scanned(plain * 30, observer=finder)
    assert finder.candidates
    assert finder.best(ended_well=True) == []


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that little data has many of them."""
    monkeypatch.setattr(scans, "BLOCK", 256)
    monkeypatch.setattr(long_line, "BLOCK", 256)


@given(st.integers(0, 50), st.integers(1, 4000), st.booleans())
def test_rare_lines_are_found_however_they_come(small_blocks, seed, feed, exact):
    """The same lines with the same places, however the bytes came."""
    rng = random.Random(seed)
    rows = [f"unit {name} is done" for name in names(400)]
    for place in rng.sample(range(400), 5):
        rows[place] = rng.choice(
            ["Ursache é unbekannt", "x" * rng.choice([30, 300, 900]), "voll\rleer", "\x1b[31mrot\x1b[0m"]
        )
    data = "\n".join(rows).encode()
    found = []
    for size in (len(data), feed):
        best = scanned(data, feed=size, exact=exact).observer.best()
        found.append(
            [
                (
                    each.line.number,
                    each.line.text,
                    each.score,
                    each.chars_before,
                    [line.number for line in each.around],
                )
                for each in best
            ]
        )
    assert found[0] == found[1]


@given(st.integers(0, 30), st.integers(1, 3000))
def test_the_law_holds(small_blocks, seed, limit):
    """What is shown and what is said to be missing are the whole output, whatever is rare in it."""
    rng = random.Random(seed)
    rows = [f"unit {name} ist fertig" for name in names(300)]
    for place in rng.sample(range(300), 6):
        rows[place] = rng.choice(["Ursache é unbekannt", "データ", "\x1b[31mrot\x1b[0m", "zu\rEnde"])
    preview("\n".join(rows).encode() + b"\n", limit=limit, feed=rng.choice([None, 700]))


def test_behind_a_megabyte():
    """There only some blocks are counted, and words are looked for as ever."""
    rows = [f"unit {name} is done" for name in names(50)] * 2000
    rows[90_000] = "ValueError: no total"
    finder = scanned("\n".join(rows).encode(), exact=False).observer
    assert [each.line.number for each in finder.best()] == [90_001]
    counted = finder._rare._kinds.lines
    assert 100_000 / 16 < counted < 100_000 * 0.75


def test_memory():
    """Of an output without end in which many lines are rare, a few are held."""
    rng = random.Random(SEED)
    words = names(3000)
    finder = CandidateFinder()
    scan = Scan(head_chars=8000, tail_chars=8000, observer=finder, exact=False)
    tracemalloc.start()
    try:
        for _ in range(20):
            rows = [f"unit {number} is done {'y' * 500}" for number in range(3000)]
            for place in rng.sample(range(3000), 100):
                rows[place] = " ".join(rng.choices(words, k=rng.randrange(1, 9)))
            scan.feed("\n".join(rows).encode() + b"\n")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert scan.size > 20_000_000
    assert held < 24_000_000


def test_few_lines_have_no_kinds():
    """Of less than forty lines nothing is said."""
    assert RareLines().found().runs == []
    assert scanned(text_with("unit {name} is done", "Ursache", count=30)).observer.best() == []


def test_scored_of_a_kind():
    """The first lines of a kind are scored, and no more of them."""
    data = text_with("{name} was not found by {number}", "end", count=300)
    assert len(scanned(data).observer.candidates) == module._SCORED_OF_A_KIND


@pytest.mark.parametrize(
    "message",
    [
        "cp: konnte Attribute von '/srv/lost' nicht holen: Datei oder Verzeichnis nicht gefunden",
        "cp: impossible d'évaluer '/srv/lost': Aucun fichier ou dossier de ce type",
        "cp: nie można uzyskać informacji o '/srv/lost': Nie ma takiego pliku ani katalogu",
        "cp: stat ei onnistu kohteelle '/srv/lost': Tiedostoa tai hakemistoa ei ole",
    ],
)
def test_a_message_among_paths_alone(message):
    """Where every line is made of paths that stand nowhere else, the one that is not is shown."""
    data = text_with("'/srv/{name}/part{number}' -> '/mnt/{name}/part{number}'", message, count=4000)
    assert f": {message}\n" in preview(data)
