"""Viewers for people: the whole log, with what the model saw of it, in a terminal or in a browser."""
