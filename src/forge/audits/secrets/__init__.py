"""Finding credentials in lines of text: what they look like, and what only looks like one."""
