"""Runs revisions on the connection that the caller hands over, inside the caller's transaction."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=context.config.attributes.get("target_metadata"))
context.run_migrations()
