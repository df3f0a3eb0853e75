"""Workspaces: all access to the files of a project and to git."""
