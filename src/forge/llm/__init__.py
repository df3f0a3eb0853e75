"""The model gateway: roles, providers, prices, budgets, structured answers."""
