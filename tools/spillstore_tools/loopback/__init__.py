"""Servers for this machine alone: their addresses, which requests they admit, and how many connections they have."""
