"""A process that compiles one component and ends: `python -I -m forge.skills.wasm.compiler FD IS_OURS`.

The component comes by stdin; what is compiled goes to the file that was opened for it, the verdict to stdout. Nothing
else is within reach: a component made to confuse the compiler has an empty process for itself.
"""

import os
import resource
import sys

import wasmtime
from wasmtime import component as model

from forge.skills.wasm import frames
from forge.skills.wasm.components import first_line, problem_of
from forge.skills.wasm.confinement import lock_in
from forge.skills.wasm.engine import new_engine

MEMORY_BYTES = 2 << 30
CPU_S = 300
NICE = 10


def main(target: int, *, is_ours: bool) -> None:
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    lock_in([], MEMORY_BYTES)
    problem = _compile(sys.stdin.buffer.read(), target, is_ours=is_ours)
    frames.write(sys.stdout.buffer, {"problem": problem})


def _compile(source: bytes, target: int, *, is_ours: bool) -> str | None:
    if not source.startswith(b"\0asm"):
        return "It is no WebAssembly."
    engine = new_engine()
    try:
        component = model.Component(engine, source)
    except wasmtime.WasmtimeError as error:
        return f"It is no component that can be compiled: {first_line(error)}"
    if not is_ours and (problem := problem_of(engine, component)):
        return problem
    with os.fdopen(target, "wb") as file:
        file.write(component.serialize())
        file.flush()
        os.fsync(file.fileno())
    return None


if __name__ == "__main__":
    main(int(sys.argv[1]), is_ours=sys.argv[2] == "ours")
