"""Nodes of JSON that a JSONPath selects."""
