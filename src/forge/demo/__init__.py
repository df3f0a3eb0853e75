"""A model server that answers from a script: what the tests talk to, and `forge models serve`."""
