"""Backup and restore: one archive with all of Forge's data, created while Forge runs, restored completely or not at all."""
