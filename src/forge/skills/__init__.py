"""Skills: folders under the Agent Skills standard, kept in one library that bots take theirs from."""
