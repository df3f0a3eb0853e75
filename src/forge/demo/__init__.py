"""A model server that answers from a script, for tests and `forge models serve`."""
