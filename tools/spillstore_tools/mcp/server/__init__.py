"""A server of the Model Context Protocol that has the tools of a session, over stdio and over HTTP."""
