"""Real parts for tests: a PostgreSQL, server processes to start and kill, clients to talk to them."""
