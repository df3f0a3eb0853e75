"""A worker process that calls skills, one at a time: `python -I -m forge.skills.wasm.worker FOLDER...`.

It can read only the folders of compiled components. It imports only the engine and the standard library, to start fast and
to contain no data worth stealing.
"""

import os
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import NoReturn

from wasmtime import WasmtimeError
from wasmtime import component as model

from forge.skills.wasm import frames
from forge.skills.wasm.calls import Caller, CallSpec, MemoryMeter
from forge.skills.wasm.components import first_line
from forge.skills.wasm.confinement import lock_in
from forge.skills.wasm.engine import new_engine

MEMORY_BYTES = 1 << 30
MAX_LOADED = 8


IDLE_FUEL, IDLE_MEMORY, IDLE_S = 10_000_000_000, 256 << 20, 10.0


@dataclass(frozen=True)
class Loaded:
    component: model.Component
    own_bytes: int
    """Memory that an empty call needs."""


class Worker:
    def __init__(self, folders: list[str]) -> None:
        self._input, self._output = sys.stdin.buffer, sys.stdout.buffer
        self._meter = MemoryMeter()
        self._protections = lock_in(folders, MEMORY_BYTES)
        self._engine = new_engine()
        self._caller = Caller(self._engine, self._meter, self._ask)
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()

    def work(self) -> None:
        frames.write(self._output, {"ready": self._protections})
        while (message := frames.read(self._input)) is not None:
            frames.write(self._output, self._call(message))

    def _call(self, message: frames.Message) -> frames.Message:
        try:
            loaded = self._load(message["path"], is_ours=message["is_ours"])
        except (OSError, WasmtimeError) as error:
            return {"broken": first_line(error)}
        order = CallSpec(
            texts=tuple(message["texts"]),
            fuel=message["fuel"],
            memory_bytes=message["memory"],
            seconds=message["seconds"],
            is_ours=message["is_ours"],
        )
        frames.write(self._output, {"began": True})
        ended = self._caller.call(loaded.component, order)
        if ended["memory"] is not None:
            ended["memory"] = max(0, ended["memory"] - loaded.own_bytes)
        return ended

    def _load(self, path: str, *, is_ours: bool) -> Loaded:
        loaded = self._loaded.get(path)
        if loaded is None:
            component = model.Component.deserialize_file(self._engine, path)
            loaded = Loaded(component, self._idle_bytes(component) if is_ours else 0)
            self._loaded[path] = loaded
            if len(self._loaded) > MAX_LOADED:
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(path)
        return loaded

    def _idle_bytes(self, component: model.Component) -> int:
        """Measure the memory of an empty call, which is the runtime's, not the skill's."""
        nothing = CallSpec(("", "null"), IDLE_FUEL, IDLE_MEMORY, IDLE_S, is_ours=True)
        self._caller.call(component, nothing)
        return self._caller.call(component, nothing)["memory"] or 0

    def _ask(self, op: str, args: str) -> frames.Message:
        frames.write(self._output, {"call": op, "args": args})
        reply = frames.read(self._input)
        return self._leave() if reply is None else reply

    def _leave(self) -> NoReturn:
        """Exit: Forge has closed the pipe."""
        os._exit(0)


if __name__ == "__main__":
    Worker(sys.argv[1:]).work()
