"""A connection for who runs the server: to upgrade it, and to grant rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import psycopg

from spillstore.engine.postgres.errors import message_of
from spillstore.engine.postgres.schema import check_server
from spillstore.exceptions import StorageError

if TYPE_CHECKING:
    from typing import Any

    from spillstore.engine.postgres.address import Address

_PATIENCE: Final = "30"  # seconds, for a connection, where the URL does not say


def connect(address: Address, *, autocommit: bool = False) -> psycopg.Connection[Any]:
    """A connection for what an operator does, which is checked.

    Raises:
        StorageError: the server cannot be reached.
        UnsupportedError: it is too old, or its encoding is not UTF8.
    """
    try:
        raw = psycopg.connect(
            address.conninfo,
            autocommit=autocommit,
            prepare_threshold=None,
            connect_timeout=address.parameters.get("connect_timeout", _PATIENCE),
        )
    except psycopg.Error as error:
        raise StorageError(f"{address.shown} cannot be reached: {message_of(error)}") from None
    try:
        check_server(raw)
    except BaseException:
        raw.close()
        raise
    return raw
