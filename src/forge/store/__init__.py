"""The database: `Store` provides transactions on SQLite or PostgreSQL, which behave alike."""
