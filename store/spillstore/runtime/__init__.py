"""What runs the rest: threads, and imports that wait until they are needed."""
