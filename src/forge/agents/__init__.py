"""The tool loop: a model, its tools, their results, until there is an answer; every call a durable step."""
