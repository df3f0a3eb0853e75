"""The Agent Skills format: read, validate and write the files of a skill."""
