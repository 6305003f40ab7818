"""Citus: the tables of a store spread over several servers. Whether a database has it is found out at run time.

All rows of a session are in the shard of its ``session_key``, so that each statement on a session goes to one server. Names
are spread by themselves, and the one row of ``store`` is on every server.

https://docs.citusdata.com/en/stable/develop/api_udf.html, https://docs.citusdata.com/en/stable/develop/api_guc.html
"""

from __future__ import annotations

import re
from typing import Final

OLDEST: Final = (12, 1)
BY_SESSION: Final = ("session", "artifact", "chunk", "event", "place", "claim", "doomed", "kept_event")
BY_NAME: Final = ("name", "kept_session")
ON_ALL: Final = ("store",)
VERSION: Final = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
SPREAD: Final = (
    "SELECT relname::text FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid"
    " WHERE relnamespace = to_regnamespace('spillstore')"
)


def spreading(there: set[str]) -> dict[str, str]:
    """The tables that are not spread yet, each with the statement that spreads it; ``there`` names those that are."""
    found: dict[str, str] = {}
    for tables, column in ((BY_SESSION, "session_key"), (BY_NAME, "name")):
        first, *others = tables
        groups = [(first, "none"), *((table, f"spillstore.{first}") for table in others)]
        found |= {
            table: f"SELECT create_distributed_table('spillstore.{table}', '{column}', colocate_with => '{beside}')"
            for table, beside in groups
        }
    found |= {table: f"SELECT create_reference_table('spillstore.{table}')" for table in ON_ALL}
    return {table: statement for table, statement in found.items() if table not in there}


def before_spreading(shards: int) -> list[str]:
    """What is set for the transaction that spreads tables, over so many shards if the first of a group is among them."""
    # One connection to each server, since a transaction that has used several in parallel makes no reference table.
    return [
        "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
        f"SET LOCAL citus.shard_count = {shards}",
    ]


def is_old(version: str) -> bool:
    """Whether a version of the extension, such as ``12.1-1``, is one that was not tried."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST


def limits(lock_timeout: str, durable: str) -> list[str]:
    """A transaction's settings for the servers that hold its rows.

    Citus passes on what ``SET LOCAL`` sets, if it is told so, and nothing that ``set_config`` does.

    Args:
        lock_timeout: such as ``30000ms``.
        durable: ``on`` or ``off``.
    """
    return [
        "SET LOCAL citus.propagate_set_commands = 'local'",
        f"SET LOCAL lock_timeout = '{lock_timeout}'",
        f"SET LOCAL synchronous_commit = '{durable}'",
    ]
