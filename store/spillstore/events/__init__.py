"""What happens: the catalogue of all kinds, and how it is told to observers and to the log."""
