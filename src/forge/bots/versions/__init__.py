"""Every change of a bot's files is a version: history, differences, rollback, and edits made by hand."""
