"""`forge mcp`: a directory's tools and the server's bots, for clients of the Model Context Protocol."""
