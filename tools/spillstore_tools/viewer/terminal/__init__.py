"""A viewer in a terminal, by Textual: sessions, artifacts, and the log of one, of which it holds a screenful."""
