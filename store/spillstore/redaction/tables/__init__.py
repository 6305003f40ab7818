"""What is a secret, as data: rows that a reader can check one by one, each with an example that goes and one that stays."""
