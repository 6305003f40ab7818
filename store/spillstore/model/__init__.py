"""What is stored, as plain values: rows, views of an artifact, ids, time."""
