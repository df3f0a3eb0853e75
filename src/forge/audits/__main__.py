"""Run `forge audit` as `python -m forge.audits`, for scripts and continuous integration."""

import sys

if __name__ == "__main__":
    # Remove the working directory, the audited project, from the import path: its code must not run.
    sys.path = [folder for folder in sys.path if folder not in ("", sys.path[0])]

    from forge.audits.cli.audit import audit
    from forge.terminal.entry import run_command

    run_command(audit, "python -m forge.audits")
