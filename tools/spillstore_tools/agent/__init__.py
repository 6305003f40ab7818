"""What a model calls: the tools, what it sends them, and how they are described to it."""
