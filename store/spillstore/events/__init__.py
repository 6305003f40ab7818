"""Events: the catalogue of all kinds, their form for observers, and their lines in the log."""
