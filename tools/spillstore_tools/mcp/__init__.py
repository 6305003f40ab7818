"""The Model Context Protocol. Only the transport over HTTP imports the package ``mcp``, which takes a second."""
