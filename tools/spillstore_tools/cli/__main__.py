"""``python -m spillstore_tools.cli`` is ``spillstore``."""

from __future__ import annotations

from spillstore_tools.cli import main

main()
