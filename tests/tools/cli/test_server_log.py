"""What a server logs: notes on stderr, as text or as JSON, for as long as it runs."""

from __future__ import annotations

import json
import logging

import pytest

from spillstore.exceptions import IntegrityError
from spillstore_tools.cli.support.output import messages
from spillstore_tools.cli.support.server_log import warnings_as_notes


@pytest.fixture
def said(monkeypatch, capsys):
    """What is on stderr after a record of a logger, and of an error that goes with it."""

    def said(name, message, error=None, *, as_json=False):
        monkeypatch.setattr(messages, "as_json", as_json)
        with warnings_as_notes():
            logging.getLogger(name).error(message, exc_info=error)
        return capsys.readouterr().err.splitlines()

    return said


def test_other_loggers_are_named(said):
    """Ours are not: a note begins with the program's name anyway."""
    assert ["spillstore: too much"] == said("spillstore", "too much")
    assert ["spillstore: uvicorn.error: no HTTP"] == said("uvicorn.error", "no HTTP\n")
    assert [{"note": "too much"}] == list(map(json.loads, said("spillstore", "too much", as_json=True)))


def test_an_error_of_the_store_is_its_message(said):
    """As a command says it; a traceback helps nobody."""
    assert ["spillstore: chunk 3 is damaged"] == said(
        "uvicorn.error", "Exception", IntegrityError("chunk 3 is damaged")
    )


def test_damage_is_left_to_its_error(capsys):
    """The event names neither chunk nor artifact, and would be a second line about the same."""
    with warnings_as_notes():
        logging.getLogger("spillstore").error("stored data is damaged", extra={"event": "integrity"})
    assert capsys.readouterr().err == ""


def test_another_error_is_told_with_its_traceback(said):
    """As lines for people, and as one object for programs."""
    first, *_, last = said("uvicorn.error", "Exception", ValueError("of ours"))
    assert ("spillstore: uvicorn.error: Exception", "spillstore: ValueError: of ours") == (first, last)
    (line,) = said("uvicorn.error", "Exception", ValueError("of ours"), as_json=True)
    assert "uvicorn.error: Exception\nValueError: of ours\n" == json.loads(line)["note"]


def test_what_a_client_sends_stays_on_one_line(said):
    """A line end in a message begins no line of another."""
    assert 1 == len(said("spillstore", "a request for\nspillstore: all is well"))


def test_it_ends_with_its_context(said, capsys):
    """What is logged later is not written."""
    said("spillstore", "first")
    logging.getLogger("spillstore").error("second")
    assert "second" not in capsys.readouterr().err
