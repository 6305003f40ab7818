"""Tool output on its way: held back, stored, shown, and shown again."""
