"""A process that compiles one component: `python -I -m forge.skills.wasm.compiler FD IS_OURS`.

It reads the component from stdin, writes the result to the open file FD, and reports problems on stdout. Nothing else is
accessible, in case a component exploits the compiler.
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
        return "It is not a WebAssembly file."
    engine = new_engine()
    try:
        component = model.Component(engine, source)
    except wasmtime.WasmtimeError as error:
        return f"It is not a valid component: {first_line(error)}"
    if not is_ours and (problem := problem_of(engine, component)):
        return problem
    with os.fdopen(target, "wb") as file:
        file.write(component.serialize())
        file.flush()
        os.fsync(file.fileno())
    return None


if __name__ == "__main__":
    main(int(sys.argv[1]), is_ours=sys.argv[2] == "ours")
