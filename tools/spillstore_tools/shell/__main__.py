"""``python -m spillstore_tools.shell`` is ``spillstore-sh``."""

from spillstore_tools.shell.command import main

main()
