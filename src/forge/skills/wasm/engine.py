"""The one way the engine is set up. Compiled code fits only an engine that is set up the same."""

import platform
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import wasmtime

STACK_BYTES = 1 << 20
SETTINGS = f"fuel epoch stack={STACK_BYTES} no-threads no-memory64 no-gc no-stack-switching"
"""What `new_engine` does, in words: they are part of the name of everything compiled."""


def new_engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = STACK_BYTES
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_stack_switching = False
    config.wasm_gc = False
    return wasmtime.Engine(config)


def compiled_name(digest: str) -> str:
    """What the compiled form of a component is called: its own hash, and all that the code depends on."""
    return sha256(f"{digest}\0{_surroundings()}".encode()).hexdigest()


@cache
def _surroundings() -> str:
    return "\0".join([version("wasmtime"), SETTINGS, sys.platform, platform.machine(), _processor()])


def _processor() -> str:
    """Code may use whatever the processor has."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    first = text.split("\n\n", 1)[0]
    kept = [line for line in first.splitlines() if line.startswith(("flags", "Features", "model name"))]
    return "\n".join(kept)
