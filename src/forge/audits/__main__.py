"""`python -m forge.audits`: the audit alone, for scripts and continuous integration."""

from forge.audits.cli import audit
from forge.terminal.entry import run_command

run_command(audit, "python -m forge.audits")
