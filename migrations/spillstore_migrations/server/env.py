"""Runs revisions on the connection that the library hands over, inside its transaction. Its own table is ``spillstore.alembic_version``."""

from __future__ import annotations

from alembic import context

if context.is_offline_mode():
    context.configure(url="postgresql+psycopg://", literal_binds=True, version_table_schema="spillstore")
else:
    context.configure(connection=context.config.attributes["connection"], version_table_schema="spillstore")
context.run_migrations()
