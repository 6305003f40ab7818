"""What is a secret, as data: rows that a reader can check one by one, with examples that the tests try."""
