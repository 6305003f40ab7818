"""The tools of a session for clients of the Model Context Protocol; imported by what serves it alone, for ``mcp`` costs a second."""
