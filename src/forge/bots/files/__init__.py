"""The four files of a bot: read with line numbers, written by a YAML library, changed without touching the rest."""
