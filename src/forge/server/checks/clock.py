"""The clocks: ours, the disk's and the server's. Events, keys and deadlines depend on them."""

import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forge.kernel.clock import now
from forge.server.checks.check import Check, Situation, bad, ok, warn
from forge.server.checks.data_dir import existing
from forge.terminal.text import duration

FIRST_YEAR = 2026
"""No Forge is older."""
MAX_SKEW = timedelta(seconds=5)
_SET = "Set the clock: timedatectl set-ntp true"


def check_clock(situation: Situation) -> Check:
    if now().year < FIRST_YEAR:
        return bad("clock", f"it says {now():%Y-%m-%d %H:%M} UTC", _SET)
    skews = _skews(situation)
    for whose, skew in skews:
        if abs(skew) > MAX_SKEW:
            way = "ahead of" if skew > timedelta(0) else "behind"
            finding = f"the {whose}'s clock is {duration(abs(skew))} {way} this machine's"
            return warn("clock", finding, f"{_SET} (here and there)")
    compared = " and ".join(whose for whose, _ in skews)
    return ok(
        "clock", f"{now():%Y-%m-%d %H:%M:%S} UTC" + (f", agrees with the {compared}" if compared else "")
    )


def _skews(situation: Situation) -> list[tuple[str, timedelta]]:
    found: list[tuple[str, timedelta]] = []
    disk = _disk_skew(existing(situation.settings.data_dir))
    if disk is not None:
        found.append(("disk", disk))
    if situation.server:
        found.append(("server", situation.server.skew))
    return found


def _disk_skew(folder: Path) -> timedelta | None:
    """A network disk stamps files with its own time. None when nothing can be written there."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b".")
            file.flush()
            return datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC) - now()
    except OSError:
        return None
