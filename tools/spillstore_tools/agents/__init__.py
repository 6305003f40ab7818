"""Agents: what is put into their configurations, what their hooks ask and are answered, and whether that works."""
