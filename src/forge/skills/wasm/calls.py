"""One call of a skill: a fresh instance with its limits, until it has answered or is stopped."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wasmtime import Engine, ExitTrap, Store, WasmtimeError
from wasmtime import component as model

from forge.skills.wasm.alarm import Alarm
from forge.skills.wasm.components import ENTRY, first_line, new_linker, new_store
from forge.skills.wasm.frames import Message
from forge.skills.wasm.meter import Meter

MAX_OUTPUT = 4 << 20
MAX_ARGUMENTS = 4 << 20
MAX_RANDOM = 4096
MAX_ERROR = 20_000
KINDS = {"raised", "unusable", "output", "memory", "stack"}
"""How the runtimes of our own may say that a call failed. The others are seen from outside."""
OUT_OF_STACK = "wasm trap: call stack exhausted"
"""The engine names the trap by its words alone."""


@dataclass(frozen=True)
class Order:
    """What is to be called."""

    texts: tuple[str, ...]
    """What the function is given: the input, or source and input."""
    fuel: int
    memory_bytes: int
    seconds: float
    is_ours: bool
    """Whether failures come as JSON, from a runtime of ours."""


class Caller:
    """Calls skills, one after another."""

    def __init__(self, engine: Engine, meter: Meter, ask: Callable[[str, str], Message]) -> None:
        self._engine = engine
        self._meter = meter
        self._ask = ask
        self._alarm = Alarm(engine.increment_epoch)
        self._linker = new_linker(engine, self._host)
        self._stopped: str | None = None

    def call(self, component: model.Component, order: Order) -> Message:
        """How it ended, in the words of `RunEnd`."""
        self._stopped = None
        began = time.perf_counter()
        self._meter.start()
        store = new_store(self._engine, order.fuel, order.memory_bytes, is_ours=order.is_ours)
        self._alarm.set(order.seconds)
        try:
            ended = self._enter(store, component, order)
            ended["fuel"] = order.fuel - store.get_fuel()
            ended["memory"] = self._meter.peak()
            ended["seconds"] = time.perf_counter() - began
        finally:
            self._alarm.clear()
            store.close()
        return ended

    def _enter(self, store: Store, component: model.Component, order: Order) -> Message:
        try:
            instance = self._linker.instantiate(store, component)
        except WasmtimeError as error:
            return self._end_of(store, error, otherwise="memory")
        try:
            entry = instance.get_func(store, ENTRY)
            if entry is None:
                return {"end": "unusable", "error": f"There is no {ENTRY} in it."}
            result = entry(store, *order.texts)
        except WasmtimeError as error:
            return self._end_of(store, error, otherwise="memory" if order.is_ours else "raised")
        return _answer(result, is_ours=order.is_ours)

    def _end_of(self, store: Store, error: WasmtimeError, *, otherwise: str) -> Message:
        """Why it was stopped. A runtime of ours traps by itself only where it cannot even say that memory is out."""
        if self._stopped:
            return {"end": self._stopped}
        if self._alarm.has_rung:
            return {"end": "time"}
        if store.get_fuel() == 0:
            return {"end": "fuel"}
        if isinstance(error, ExitTrap):
            return {"end": "raised", "error": "It ended itself instead of giving an answer."}
        if OUT_OF_STACK in str(error):
            return {"end": "stack"}
        return {"end": otherwise, "error": first_line(error)}

    def _host(self, _store: object, op: str, args: str) -> model.Variant:
        if op == "random":
            return _ok(json.dumps(_random(args)))
        if len(op) > 100 or len(args) > MAX_ARGUMENTS:
            return _err(f"{op[:100]} was given more than {MAX_ARGUMENTS >> 20} MB")
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
    """Numbers of 32 bits. Asked for by a runtime, not by a grant: chance is nothing to protect."""
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
            return {"end": "output", "error": f"It gave more than {MAX_OUTPUT >> 20} MB."}
        return {"end": "done", "output": text}
    if not is_ours:
        return {"end": "raised", "error": text[:MAX_ERROR]}
    return _failure(text)


def _failure(text: str) -> Message:
    """A skill can say anything here that its runtime could: all of it is about itself."""
    try:
        told = json.loads(text)
        kind, message, stack = told["kind"], str(told["message"]), str(told["stack"])
    except (ValueError, TypeError, KeyError):
        kind, message, stack = "raised", text, ""
    error = f"{message}\n{stack}" if stack else message
    return {"end": kind if kind in KINDS else "raised", "error": error[:MAX_ERROR]}
