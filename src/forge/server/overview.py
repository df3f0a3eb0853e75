"""How the running server is doing, on one screen."""

from datetime import timedelta

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from forge.api.models import Status
from forge.runs.models import Gate, GateStatus, RunStatus
from forge.terminal.client import connect
from forge.terminal.output import TONES, key_values
from forge.terminal.text import duration, size

COUNTED = 1000
"""More open gates than this are not counted."""


class Overview(BaseModel):
    url: str
    status: Status
    open_gates: int


def look() -> Overview:
    with connect() as client:
        status = client.get("/status", Status)
        gates = client.pages("/gates", Gate, COUNTED, {"status": GateStatus.OPEN.value})
        return Overview(url=client.location.url, status=status, open_gates=sum(1 for _ in gates))


def overview_page(seen: Overview) -> Table:
    status = seen.status
    database = status.database
    return key_values(
        [
            ("server", Text.assemble(("● running", "blue"), f" at {seen.url}")),
            ("version", status.version),
            ("uptime", duration(timedelta(seconds=status.uptime_s))),
            ("database", f"{database.kind} ({size(database.size_bytes)})"),
            ("data", status.data_dir),
            ("workers", ", ".join(f"{worker.host}:{worker.pid}" for worker in status.workers) or "none"),
            ("runs", _runs(status.runs)),
            ("needs you", _gates(seen.open_gates)),
        ]
    )


def _runs(counts: dict[str, int]) -> Text:
    parts = [
        Text.assemble(("● ", TONES.get(status, "bright_black")), f"{counts[status]} {status.value}")
        for status in RunStatus
        if counts.get(status)
    ]
    return Text("  ").join(parts) if parts else Text("none yet", "bright_black")


def _gates(count: int) -> Text:
    if not count:
        return Text("nothing", "bright_black")
    more = "+" if count == COUNTED else ""
    return Text.assemble((f"● {count}{more} open", "yellow"), ": forge gates list")
