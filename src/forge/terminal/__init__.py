"""What every feature's `cli.py` stands on: finding the server, calling it, and showing what it said."""
