"""Run and test skills."""
