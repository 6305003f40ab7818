"""The engine of dictionaries, for tests: nothing outlives the process, and no other process sees it."""
