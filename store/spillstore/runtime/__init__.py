"""What runs the rest: threads, and imports and expressions that wait until they are needed."""
