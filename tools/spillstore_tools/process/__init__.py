"""Commands: how they are started, read, watched and ended."""
