"""Measure the memory a runtime needs by itself: `python -m forge.skills.wasm.measurement FILE FOLDER`.

Part of building the runtimes. Keeps the compiled runtime in the folder, for this machine.
"""

import json
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from wasmtime import Engine, WasmtimeError
from wasmtime import component as model

from forge.skills.wasm.components import ENTRY, new_linker, new_store
from forge.skills.wasm.engine import compiled_name, new_engine

PAGE = 1 << 16
MAX_PAGES = 4096
FUEL = 10_000_000_000
NOTHING = {"js": "function run(input) { return input }", "py": "def run(input): return input"}


MODULES = """
import sys
def run(input):
    return sorted(name for name in sys.modules if name in sys.stdlib_module_names and name[0] != "_")
"""


def main(file: Path, folder: Path) -> dict[str, Any]:
    engine = new_engine()
    source = file.read_bytes()
    component = model.Component(engine, source)
    _keep(folder, compiled_name(sha256(source).hexdigest()), bytes(component.serialize()))
    measured: dict[str, Any] = {
        "baseline_bytes": _least_pages(engine, component, NOTHING[file.stem]) * PAGE,
        "engine": version("wasmtime"),
    }
    if file.stem == "py":
        measured["modules"] = json.loads(_call(engine, component, MODULES, MAX_PAGES * PAGE))
    return measured


def _keep(folder: Path, name: str, code: bytes) -> None:
    folder.mkdir(mode=0o755, exist_ok=True)
    path = folder / f"{name}.{sha256(code).hexdigest()}.cwasm"
    path.write_bytes(code)
    path.chmod(0o644)


def _least_pages(engine: Engine, component: model.Component, source: str) -> int:
    too_few, enough = 0, MAX_PAGES
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if _works(engine, component, source, middle * PAGE):
            enough = middle
        else:
            too_few = middle
    if enough == MAX_PAGES:
        raise RuntimeError(f"it does not run in {MAX_PAGES * PAGE >> 20} MB")
    return enough


def _works(engine: Engine, component: model.Component, source: str, memory_bytes: int) -> bool:
    try:
        _call(engine, component, source, memory_bytes)
    except (WasmtimeError, ValueError):
        return False
    return True


def _call(engine: Engine, component: model.Component, source: str, memory_bytes: int) -> str:
    linker = new_linker(engine, lambda *_: model.Variant("err", "not now"))
    store = new_store(engine, FUEL, memory_bytes, is_ours=True)
    entry = linker.instantiate(store, component).get_func(store, ENTRY)
    if entry is None:
        raise ValueError(f"there is no {ENTRY}")
    answer = entry(store, source, '{"a":1}')
    if answer.tag != "ok":
        raise ValueError(answer.payload)
    return answer.payload


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
