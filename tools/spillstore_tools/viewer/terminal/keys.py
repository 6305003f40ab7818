"""The keys of the log, in one table: what the screen binds, what help lists, and what the manual is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from textual.binding import BindingType


class Key(NamedTuple):
    """A key, the action that it calls, and what that does.

    Attributes:
        names: as Textual calls it; several with commas.
        action: the name of the screen's action.
        shown: as people write it.
        text: what it does.
    """

    names: str
    action: str
    shown: str
    text: str


LOG_KEYS = (
    Key("down,j", "move(1)", "j ↓", "next line"),
    Key("up,k", "move(-1)", "k ↑", "line before"),
    Key("pagedown,space", "page(1)", "Space PgDn", "next page"),
    Key("pageup,b", "page(-1)", "b PgUp", "page before"),
    Key("left", "across(-16)", "←", "to the left"),
    Key("right", "across(16)", "→", "to the right"),
    Key("g,home", "first", "g Home", "first line"),
    Key("G,end", "last", "G End", "last line"),
    Key("colon", "go", ":", "go to a line (500), per cent (50%) or time (90s, 1m30s)"),
    Key("percent_sign", "go_percent", "%", "go to per cent"),
    Key("at", "go_time", "@", "go to a time since the beginning"),
    Key("slash", "search(False)", "/", "search on for a regular expression (RE2)"),
    Key("question_mark", "search(True)", "?", "search back"),
    Key("n", "hit(False)", "n", "next hit"),
    Key("N", "hit(True)", "N", "hit before"),
    Key("i", "toggle_case", "i", "letters of either case are the same, or not"),
    Key("e", "telling(False)", "e", "next place that matters: an error, a failure, a cause"),
    Key("E", "telling(True)", "E", "place that matters before"),
    Key("m", "marks", "m", "what the model saw, and what was read later"),
    Key("r", "read_later(False)", "r", "next place that was read later"),
    Key("R", "read_later(True)", "R", "place that was read later before"),
    Key("t", "times", "t", "times, and gaps of a second or more"),
    Key("1", "stream('stdout')", "1", "stdout alone"),
    Key("2", "stream('stderr')", "2", "stderr alone"),
    Key("0", "stream('combined')", "0", "both streams"),
    Key("a", "colours", "a", "ANSI colours, or the sequences themselves"),
    Key("f", "follow", "f", "follow an artifact that is still being written"),
    Key("d", "changes", "d", "what has changed since the run before"),
    Key("enter", "line", "Enter", "the whole of a long line; in changes, go there"),
    Key("v", "select", "v", "select lines from here on"),
    Key("y", "copy", "y", "copy the call that shows this place"),
    Key("x", "export", "x", "export the selected lines, or all, to a file"),
    Key("f1,h", "help", "F1 h", "this list"),
    Key("escape", "end", "Esc", "end the search or the selection; else leave"),
    Key("q", "leave", "q", "leave"),
)
LIST_KEYS = (
    Key("slash", "filter", "/", "choose: the options of `spillstore list`, such as --failed --since 2h"),
    Key("enter", "open", "Enter", "open"),
    Key("r", "reload", "r", "look again"),
    Key("s", "sessions", "s", "the sessions of the store"),
    Key("f1,h", "help", "F1 h", "this list"),
    Key("escape,q", "leave", "Esc q", "leave"),
)


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """The keys as Textual takes them."""
    return [(key.names, key.action, key.text) for key in keys]
