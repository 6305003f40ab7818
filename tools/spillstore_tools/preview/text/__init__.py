"""Bytes as text that is safe to show, and the lines that it consists of."""
