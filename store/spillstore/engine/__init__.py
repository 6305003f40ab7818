"""Where sessions are stored: what an engine does (``base``), and the engines.

Nothing outside a folder of this package knows how rows are kept, which locks there are, or what a file is called.
"""
