"""`python -m forge.audits`: the audit alone, for scripts and continuous integration."""

import sys

if __name__ == "__main__":
    # Python looks for modules where it was started, which is the project that is audited: nothing of it is executed.
    sys.path = [place for place in sys.path if place not in ("", sys.path[0])]

    from forge.audits.cli import audit
    from forge.terminal.entry import run_command

    run_command(audit, "python -m forge.audits")
