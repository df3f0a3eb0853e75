"""The only door to a model: roles, providers, money, structured answers."""
