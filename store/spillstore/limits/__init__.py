"""Which sessions and artifacts go when there is no room, or when they are too old."""
