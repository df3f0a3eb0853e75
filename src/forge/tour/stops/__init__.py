"""The stops of the walk, one file each."""
