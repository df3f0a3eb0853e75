"""What every feature's `routes.py` stands on: the envelope, the caller, paging. Knows no feature and no table."""
