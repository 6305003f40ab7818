"""What people use instead: each stores a text, reads lines from its middle and searches it, as Spillstore does."""
