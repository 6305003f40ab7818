"""Alembic's environment and the versions of a session file's schema; shipped in the wheel.

Nothing here is imported unless an older file is upgraded. Revisions are frozen: they import nothing of Spillstore.
"""
