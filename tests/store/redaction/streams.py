"""Streams that are redacted: texts cut into pieces, and what comes out of them."""

from __future__ import annotations

import itertools

from spillstore.redaction import Redactor


def cut(data, places):
    """The pieces of a text that is cut at these places."""
    places = [0, *sorted(places), len(data)]
    return [data[first:last] for first, last in itertools.pairwise(places)]


def in_bytes(data):
    """Each byte alone."""
    return [data[at : at + 1] for at in range(len(data))]


def fed(pieces, rules=None):
    """What a stream of these pieces becomes, and how many secrets of each kind it had."""
    redactor = Redactor(rules)
    return b"".join([*map(redactor.feed, pieces), redactor.finish()]), redactor.counts
