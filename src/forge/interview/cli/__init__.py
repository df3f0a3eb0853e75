"""The interview commands: `forge new`, `forge skill create`, `forge drafts` and `forge interview`."""
