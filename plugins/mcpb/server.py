"""The bundle's server, for hosts that start its file instead of its command."""

from spillstore_tools.cli import main

if __name__ == "__main__":
    main(["mcp"])
