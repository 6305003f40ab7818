"""Which lines of two outputs differ."""
