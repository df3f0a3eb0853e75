"""Read-only inspection of repositories of users, without running anything they configure."""
