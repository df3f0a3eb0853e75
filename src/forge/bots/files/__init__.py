"""Read, write and edit the four files of a bot."""
