"""The audit log: who acts, which events wait to be written, and their lines in the log."""
