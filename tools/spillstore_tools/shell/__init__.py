"""The program ``spillstore-sh``: called as a shell, it shows what a command prints, and stores what is too much to be shown."""
