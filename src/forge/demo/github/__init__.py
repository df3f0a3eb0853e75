"""A GitHub on this machine, for tests and `forge github serve`: sign-in, REST API, git, webhooks."""
