"""Safe access to the files of a workspace: paths, reading, writing, listing, search."""
