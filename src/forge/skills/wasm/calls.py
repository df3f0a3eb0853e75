"""Call a skill in a fresh instance with its limits."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wasmtime import Engine, ExitTrap, Store, WasmtimeError
from wasmtime import component as model

from forge.skills.wasm.components import ENTRY, first_line, new_linker, new_store
from forge.skills.wasm.frames import Message

RESET_PEAK = b"5"


class MemoryMeter:
    def __init__(self) -> None:
        """Open the files to read later: once the process is locked in, no file can be opened."""
        self._reset = _open("/proc/self/clear_refs", os.O_WRONLY)
        self._status = _open("/proc/self/status", os.O_RDONLY)
        self._before = 0

    def start(self) -> None:
        if self._reset is not None:
            os.pwrite(self._reset, RESET_PEAK, 0)
            self._before = self._read().get(b"VmRSS", 0)

    def peak(self) -> int | None:
        """Return the peak memory since the start, in bytes; None if it cannot be measured."""
        if self._reset is None:
            return None
        return max(0, self._read().get(b"VmHWM", 0) - self._before)

    def _read(self) -> dict[bytes, int]:
        if self._status is None:
            return {}
        lines = (line.partition(b":") for line in os.pread(self._status, 4096, 0).splitlines())
        return {name: int(value.split()[0]) << 10 for name, _, value in lines if value.endswith(b" kB")}


def _open(path: str, flags: int) -> int | None:
    try:
        return os.open(path, flags | os.O_CLOEXEC)
    except OSError:
        return None


class EpochTimer:
    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._changed = threading.Condition()
        self._at: float | None = None
        self.has_expired = False
        threading.Thread(target=self._watch, name="epoch-timer", daemon=True).start()

    def set(self, seconds: float) -> None:
        with self._changed:
            self._at = time.monotonic() + seconds
            self.has_expired = False
            self._changed.notify()

    def clear(self) -> None:
        with self._changed:
            self._at = None

    def _watch(self) -> None:
        with self._changed:
            while True:
                left = None if self._at is None else self._at - time.monotonic()
                if left is not None and left <= 0:
                    self._at = None
                    self.has_expired = True
                    self._interrupt()
                else:
                    self._changed.wait(left)


MAX_OUTPUT = 4 << 20
MAX_ARGUMENTS = 4 << 20
MAX_RANDOM = 4096
MAX_ERROR = 20_000
KINDS = {"raised", "unusable", "output", "memory", "stack"}
"""The ends that Forge's own runtimes may report. The worker detects the others itself."""
OUT_OF_STACK = "wasm trap: call stack exhausted"
"""The engine identifies this trap only by its message."""


@dataclass(frozen=True)
class CallSpec:
    """A call to perform."""

    texts: tuple[str, ...]
    """Arguments of the function: the input, or source and input."""
    fuel: int
    memory_bytes: int
    seconds: float
    is_ours: bool
    """Whether it is one of Forge's runtimes, which report failures as JSON."""


class Caller:
    """Calls skills, one at a time."""

    def __init__(self, engine: Engine, meter: MemoryMeter, ask: Callable[[str, str], Message]) -> None:
        self._engine = engine
        self._meter = meter
        self._ask = ask
        self._timer = EpochTimer(engine.increment_epoch)
        self._linker = new_linker(engine, self._host)
        self._stopped: str | None = None

    def call(self, component: model.Component, spec: CallSpec) -> Message:
        """Perform a call. `end` in the result is a value of `RunEnd`."""
        self._stopped = None
        began = time.perf_counter()
        self._meter.start()
        store = new_store(self._engine, spec.fuel, spec.memory_bytes, is_ours=spec.is_ours)
        self._timer.set(spec.seconds)
        try:
            ended = self._enter(store, component, spec)
            ended["fuel"] = spec.fuel - store.get_fuel()
            ended["memory"] = self._meter.peak()
            ended["seconds"] = time.perf_counter() - began
        finally:
            self._timer.clear()
            store.close()
        return ended

    def _enter(self, store: Store, component: model.Component, spec: CallSpec) -> Message:
        try:
            instance = self._linker.instantiate(store, component)
        except WasmtimeError as error:
            return self._end_of(store, error, otherwise="memory")
        try:
            entry = instance.get_func(store, ENTRY)
            if entry is None:
                return {"end": "unusable", "error": f"It has no function {ENTRY}."}
            result = entry(store, *spec.texts)
        except WasmtimeError as error:
            return self._end_of(store, error, otherwise="memory" if spec.is_ours else "raised")
        return _answer(result, is_ours=spec.is_ours)

    def _end_of(self, store: Store, error: WasmtimeError, *, otherwise: str) -> Message:
        """Return why the call was stopped. Forge's own runtimes trap only when they are out of memory."""
        if self._stopped:
            return {"end": self._stopped}
        if self._timer.has_expired:
            return {"end": "time"}
        if store.get_fuel() == 0:
            return {"end": "fuel"}
        if isinstance(error, ExitTrap):
            return {"end": "raised", "error": "It exited without a result."}
        if OUT_OF_STACK in str(error):
            return {"end": "stack"}
        return {"end": otherwise, "error": first_line(error)}

    def _host(self, _store: object, op: str, args: str) -> model.Variant:
        if op == "random":
            return _ok(json.dumps(_random(args)))
        if len(op) > 100 or len(args) > MAX_ARGUMENTS:
            return _err(f"the arguments of {op[:100]} exceed {MAX_ARGUMENTS >> 20} MB")
        reply = self._ask(op, args)
        if "ok" in reply:
            return _ok(reply["ok"])
        if "err" in reply:
            return _err(reply["err"])
        self._stopped = reply["stop"]
        raise WasmtimeError("stopped")


def _ok(text: str) -> model.Variant:
    return model.Variant("ok", text)


def _err(text: str) -> model.Variant:
    return model.Variant("err", text)


def _random(args: str) -> list[int]:
    """Return random 32-bit numbers. Runtimes need them; no grant is required."""
    try:
        asked = json.loads(args)["count"]
    except (ValueError, TypeError, KeyError):
        asked = 1
    count = min(asked, MAX_RANDOM) if isinstance(asked, int) and asked > 0 else 1
    drawn = os.urandom(4 * count)
    return [int.from_bytes(drawn[at : at + 4], "little") for at in range(0, len(drawn), 4)]


def _answer(result: Any, *, is_ours: bool) -> Message:
    text: str = result.payload
    if result.tag == "ok":
        if len(text) > MAX_OUTPUT:
            return {"end": "output", "error": f"Its output exceeds {MAX_OUTPUT >> 20} MB."}
        return {"end": "done", "output": text}
    if not is_ours:
        return {"end": "raised", "error": text[:MAX_ERROR]}
    return _failure(text)


def _failure(text: str) -> Message:
    """Parse the failure a runtime reports. A skill can forge it, but only about itself."""
    try:
        failure = json.loads(text)
        kind, message, stack = failure["kind"], str(failure["message"]), str(failure["stack"])
    except (ValueError, TypeError, KeyError):
        kind, message, stack = "raised", text, ""
    error = f"{message}\n{stack}" if stack else message
    return {"end": kind if kind in KINDS else "raised", "error": error[:MAX_ERROR]}
