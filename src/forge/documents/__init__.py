"""Hand-written files: front matter and YAML, with line and column of every problem."""
