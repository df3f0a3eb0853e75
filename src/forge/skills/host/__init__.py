"""What a running skill may ask of Forge: one function, one place where it is checked whether somebody granted it."""
