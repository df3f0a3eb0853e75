"""Scripts of skills, run as WebAssembly in processes of their own: JSON in, JSON out, and one function to ask Forge."""
