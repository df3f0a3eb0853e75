"""Getting skills in and out: fetched, looked at, and only then installed."""
