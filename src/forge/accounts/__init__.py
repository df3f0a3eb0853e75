"""Who may use Forge, and the secrets it keeps: owner, login links, sessions, API keys, the vault."""
