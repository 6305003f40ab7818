"""Bounded, exact views of output of any size: cleaning, counting, cutting, and saying what was cut."""
