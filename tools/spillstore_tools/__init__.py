"""What an agent or a person uses: the command line and what it is made of. No storage logic lives here."""
