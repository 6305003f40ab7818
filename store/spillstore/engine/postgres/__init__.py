"""The engine of servers: all sessions in one PostgreSQL database."""
