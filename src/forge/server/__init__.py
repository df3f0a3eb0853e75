"""The server and worker processes, `forge status` and `forge doctor`."""
