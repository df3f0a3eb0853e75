"""The overview of the running server that `forge status` prints."""

from datetime import timedelta

from pydantic import BaseModel
from rich.text import Text

from forge.api.models import Status
from forge.runs.models import Gate, GateStatus, RunStatus
from forge.terminal.client import connect
from forge.terminal.output import FAINT, TONES, Fields, dot
from forge.terminal.text import size

MAX_COUNTED = 1000
"""Open gates are counted up to this number."""


class Overview(BaseModel):
    url: str
    status: Status
    open_gates: int


def fetch_overview() -> Overview:
    with connect() as client:
        status = client.get("/status", Status)
        gates = client.pages("/gates", Gate, MAX_COUNTED, {"status": GateStatus.OPEN.value})
        return Overview(url=client.location.url, status=status, open_gates=sum(1 for _ in gates))


def _runs(overview: Overview) -> Text:
    counts = overview.status.runs
    parts = [
        Text.assemble(("● ", TONES.get(status, FAINT)), f"{counts[status]} {status.value}")
        for status in RunStatus
        if counts.get(status)
    ]
    return Text("  ").join(parts) if parts else Text("none yet", FAINT)


def _gates(overview: Overview) -> Text:
    if not overview.open_gates:
        return Text("nothing", FAINT)
    more = "+" if overview.open_gates == MAX_COUNTED else ""
    return Text.assemble((f"● {overview.open_gates}{more} open", "yellow"), ": forge gates list")


overview_page = Fields[Overview](
    {
        "server": lambda overview: dot("running").append(f" at {overview.url}"),
        "version": lambda overview: overview.status.version,
        "uptime": lambda overview: timedelta(seconds=overview.status.uptime_s),
        "database": lambda overview: (
            f"{overview.status.database.kind} ({size(overview.status.database.size_bytes)})"
        ),
        "data": lambda overview: overview.status.data_dir,
        "workers": lambda overview: (
            ", ".join(f"{worker.host}:{worker.pid}" for worker in overview.status.workers) or "none"
        ),
        "runs": _runs,
        "needs you": _gates,
    }
)
