"""How fast Forge is, always beside a peer or the floor measured in the same minute on the same machine."""
