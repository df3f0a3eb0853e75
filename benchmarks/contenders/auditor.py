"""A running auditor, as in a server: each line names a data directory, the reply is the duration of an audit."""

import json
import sys
import time
from pathlib import Path

from forge.audits.auditor import Auditor
from forge.audits.engine.registry import load_checks
from forge.audits.models import AuditRequest


def main() -> None:
    project, checks = Path(sys.argv[1]), load_checks()
    for line in sys.stdin:
        auditor = Auditor(Path(line.strip()), checks)
        began = time.perf_counter()
        audited = auditor.run(project, AuditRequest(ledger=False))
        took = (time.perf_counter() - began) * 1e3
        assert len(audited.report.results) == len(checks)
        print(json.dumps({"ms": took}), flush=True)


if __name__ == "__main__":
    main()
