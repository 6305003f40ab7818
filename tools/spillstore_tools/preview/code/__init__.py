"""Diffs and source code cut between their units: hunks and files, functions and classes."""
