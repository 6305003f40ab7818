"""What the subcommands share."""
