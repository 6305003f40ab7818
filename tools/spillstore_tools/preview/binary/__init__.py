"""Binary content: whether it is binary, of which type, and what is shown in its place."""
