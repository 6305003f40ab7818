"""Alembic's environment and the versions of a server's schema; ``spillstore upgrade URL`` runs them."""
