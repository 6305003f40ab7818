"""PostgreSQL servers of the campaigns."""

from __future__ import annotations

import importlib.util

import campaigns


class Machine:
    """A server that can be killed and started again, and its databases.

    Raises:
        NotHereError: there is no server on this machine, or nothing that speaks to one.
    """

    def __init__(self):
        if importlib.util.find_spec("psycopg") is None:
            raise campaigns.NotHereError("psycopg is not installed")
        from postgres import NoServerError, Servers

        try:
            self._servers = Servers()
        except NoServerError as error:
            raise campaigns.NotHereError(str(error)) from error
        self.server = self._servers.new(shared_buffers="32MB")

    def close(self):
        """End it."""
        self._servers.close()

    def outlive(self, *names):
        """The leases of all who have died are over, in these databases."""
        for name in names:
            self.server.execute("UPDATE spillstore.claim SET beat = beat - interval '1 hour'", name)

    def left(self, name):
        """Of each table how many rows there are, if there are some."""
        tables = ("name", "place", "claim", "session", "artifact", "chunk", "event", "doomed")
        counts = {
            each: self.server.execute(f"SELECT count(*) FROM spillstore.{each}", name)[0][0]
            for each in tables
        }
        return {each: count for each, count in counts.items() if count}
