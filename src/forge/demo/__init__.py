"""Stand-ins for services, for tests and development: models that answer from a script, and GitHub."""
