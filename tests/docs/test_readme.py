"""The README: short, its links lead somewhere from wherever it is read, and it begins with what a newcomer needs."""

from __future__ import annotations

import re
import tomllib

from support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
PAGES = f"{URLS['Source']}/blob/main/"
PICTURES = PAGES.replace("//github.com/", "//raw.githubusercontent.com/").replace("/blob/main/", "/main/")


def links():
    """All targets of links and pictures, outside of code."""
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)|<a [^>]*href=\"([^\"]+)", prose)


def test_it_is_short():
    """At most 200 lines."""
    assert len(README.splitlines()) <= 200


def test_every_link_is_absolute_and_leads_to_a_file_of_the_project():
    """So it works on a package index, too; the place of the project stands in pyproject.toml alone."""
    targets = [first or second for first, second in links()]
    assert len(targets) > 20
    wrong = []
    for target in targets:
        base = PICTURES if target.startswith(PICTURES) else PAGES
        path, _, anchor = target.removeprefix(base).partition("#")
        file = ROOT / path
        if (
            not target.startswith(base)
            or not file.is_file()
            or (anchor and anchor not in anchors(file.read_text(encoding="utf-8")))
        ):
            wrong.append(target)
    assert wrong == []


def anchors(page):
    """Those of the headings of a page, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_all_places_of_the_project_are_one():
    """The metadata, the registry's file and the pages name the same owner."""
    owner = URLS["Source"].removeprefix("https://github.com/")
    assert {
        URLS[name].startswith(URLS["Source"]) for name in ("Homepage", "Documentation", "Changelog", "Issues")
    } == {True}
    assert f"mcp-name: io.github.{owner} " in README
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.y*ml")]
    named = {
        (page.name, found)
        for page in pages
        for found in re.findall(
            r"github(?:usercontent)?\.com/([\w.-]+/spillstore)", page.read_text(encoding="utf-8")
        )
    }
    assert {found for _, found in named} <= {owner}


def test_it_says_first_what_it_is_then_what_it_did_then_how_to_have_it():
    """A sentence, the measured table, the recording, three lines to install; then when not to use it."""
    order = [
        "Spillstore keeps",
        "| agent |",
        "docs/cast.svg",
        "spillstore install claude-code",
        "## When not to use it",
    ]
    places = [README.index(each) for each in order]
    assert places == sorted(places)
    [block] = re.findall(r"## Install\n\n```sh\n(.*?)```", README, re.DOTALL)
    assert len(block.splitlines()) == 3


def test_both_commands_of_a_fresh_machine_are_in_it():
    """As lines to copy."""
    assert re.search(r"^make demo ", README, re.MULTILINE)
    assert re.search(r"^make test ", README, re.MULTILINE)
