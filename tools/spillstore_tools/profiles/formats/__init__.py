"""The five published formats, to the letter."""
