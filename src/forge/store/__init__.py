"""The database: one door (`Store`), two engines (SQLite, PostgreSQL) that behave alike."""
