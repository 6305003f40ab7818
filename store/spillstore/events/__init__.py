"""What happens, as it is told to observers and to the log."""
