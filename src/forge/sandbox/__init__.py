"""The only door to a process: argv in, a bounded and isolated command out, never a shell."""
