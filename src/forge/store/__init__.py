"""The database: `Store` gives transactions on SQLite or PostgreSQL, which behave alike."""
