"""The only door to a project's files and to git."""
