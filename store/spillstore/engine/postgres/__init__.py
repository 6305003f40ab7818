"""The engine of servers: all sessions in the tables of one PostgreSQL database."""
