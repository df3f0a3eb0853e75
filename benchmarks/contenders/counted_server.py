"""The `forge` command, whose server says every few seconds what no other process can see: its tasks and its objects."""

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
    """When it is asked to by a signal, it also says what kinds of objects there are, once the garbage is collected."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asked = 0
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._ask)

    async def count_on(self) -> None:
        told, types = 0, dict[str, int]()
        while True:
            if told < self._asked:
                told = self._asked
                gc.collect()
                types = dict(Counter(_name(type(each)) for each in gc.get_objects()).most_common(MAX_TYPES))
            tasks = Counter(_name(task.get_coro()) for task in asyncio.all_tasks())
            self._tell({"objects": len(gc.get_objects()), "tasks": tasks, "types": types, "asked": told})
            await asyncio.sleep(EVERY_S)

    def _ask(self) -> None:
        self._asked += 1

    def _tell(self, found: dict[str, Any]) -> None:
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
