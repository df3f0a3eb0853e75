"""What a bot remembers: facts taken from conversations, found again by meaning or by words."""
