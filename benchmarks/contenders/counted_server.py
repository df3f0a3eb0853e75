"""The `forge` command, whose server reports every few seconds what other processes cannot see: its tasks and objects."""

import asyncio
import gc
import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from forge.cli import main
from forge.config import Settings
from forge.server import serve

EVERY_S = 2.0
MAX_TYPES = 60


class Counting:
    """On a signal, also report the types of the objects after a garbage collection."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asked = 0
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._ask)

    async def count_on(self) -> None:
        reported, types = 0, dict[str, int]()
        while True:
            if reported < self._asked:
                reported = self._asked
                gc.collect()
                types = dict(Counter(_name(type(each)) for each in gc.get_objects()).most_common(MAX_TYPES))
            tasks = Counter(_name(task.get_coro()) for task in asyncio.all_tasks())
            self._report(
                {"objects": len(gc.get_objects()), "tasks": tasks, "types": types, "asked": reported}
            )
            await asyncio.sleep(EVERY_S)

    def _ask(self) -> None:
        self._asked += 1

    def _report(self, found: dict[str, Any]) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(found))
        fresh.replace(self._path)


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}".lstrip(".")


if __name__ == "__main__":
    plain = serve._serve

    async def counted(settings: Settings, *, terminal: bool) -> None:
        counting = asyncio.create_task(Counting(settings.data_dir.parent / "counts.json").count_on())
        try:
            await plain(settings, terminal=terminal)
        finally:
            counting.cancel()

    serve._serve = counted
    main()
