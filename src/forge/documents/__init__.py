"""Files people write by hand, read as texts with their places: what is wrong is told with its line and column."""
