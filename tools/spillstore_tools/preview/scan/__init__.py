"""One pass over a view of output: its size, its beginning and its end, whatever its length."""
