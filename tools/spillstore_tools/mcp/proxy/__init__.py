"""A proxy in front of another server of the Model Context Protocol, which stores oversized results of its tools."""
