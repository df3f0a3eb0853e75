"""One archive with everything Forge has to remember, made while it runs, and put back whole or not at all."""
