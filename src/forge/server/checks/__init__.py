"""The checks of `forge doctor`."""
