"""Run scripts as WebAssembly in separate processes: JSON in, JSON out, and one host function."""
