"""The engine of folders: one SQLite file for each session."""
