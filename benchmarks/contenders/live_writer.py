"""Forge on SQLite, which serves and writes in one process."""

import gc
import sys
from pathlib import Path

from tests.support.live_forge import live, settings_for

from benchmarks.contenders.turns import say
from benchmarks.contenders.writer import append_when_asked
from benchmarks.loop import run


async def main(folder: Path) -> None:
    async with live(settings_for(folder, "sqlite")) as running:
        stream = f"account:{running.account_id}"
        gc.freeze()  # as `forge serve` does when it is ready
        say({"url": running.url, "key": running.key, "stream": stream})
        await append_when_asked(running.forge.events, running.forge.store, stream)


if __name__ == "__main__":
    run(main(Path(sys.argv[1])))
