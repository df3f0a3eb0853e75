"""Link components, and check that a component of a skill has the right imports and exports."""

from collections.abc import Callable
from typing import Any

from wasmtime import Engine, Store, WasiConfig, WasmtimeError
from wasmtime import component as model

HOST = "forge:skill/host@1.0.0"
HOST_FUNCTION = "call"
ENTRY = "run"
HARMLESS = (
    *("wasi:cli/environment", "wasi:cli/exit", "wasi:cli/stdin", "wasi:cli/stdout", "wasi:cli/stderr"),
    *("wasi:cli/terminal-input", "wasi:cli/terminal-output", "wasi:cli/terminal-stdin"),
    *("wasi:cli/terminal-stdout", "wasi:cli/terminal-stderr"),
    *("wasi:clocks/monotonic-clock", "wasi:clocks/wall-clock"),
    *("wasi:io/error", "wasi:io/poll", "wasi:io/streams"),
    *("wasi:random/random", "wasi:random/insecure", "wasi:random/insecure-seed"),
    *("wasi:filesystem/types", "wasi:filesystem/preopens"),
)
"""WASI interfaces that are harmless while they are empty: no variables, arguments, folders or input."""

TRIAL_FUEL = 200_000_000
TRIAL_MEMORY = 256 << 20
MAX_TABLE_ELEMENTS = 1_000_000
MAX_INSTANCES = 200
MAX_TABLES = 100
OUR_MEMORIES, GIVEN_MEMORIES = 2, 1
"""Limits apply per memory, so components of skills get only one. The JavaScript runtime has a second, small one that
scripts cannot reach."""


def new_linker(engine: Engine, host: Callable[..., Any]) -> model.Linker:
    linker = model.Linker(engine)
    linker.add_wasip2()
    with linker.root() as root, root.add_instance(HOST) as instance:
        instance.add_func(HOST_FUNCTION, host)
    return linker


def new_store(engine: Engine, fuel: int, memory_bytes: int, *, is_ours: bool) -> Store:
    store = Store(engine)
    store.set_fuel(fuel)
    store.set_epoch_deadline(1)
    memories = OUR_MEMORIES if is_ours else GIVEN_MEMORIES
    store.set_limits(memory_bytes, MAX_TABLE_ELEMENTS, MAX_INSTANCES, MAX_TABLES, memories)
    store.set_wasi(WasiConfig())
    return store


def problem_of(engine: Engine, component: model.Component) -> str | None:
    """Return why a component cannot be a skill; None if it can."""
    for name, item in component.type.imports(engine).items():
        if name == HOST:
            if problem := _host_problem(engine, item.ty):
                return problem
        elif name.partition("@")[0] not in HARMLESS:
            return f"It imports {name}, which is not available: skills can only use {HOST}."
    entry = component.type.exports(engine).get(ENTRY)
    if entry is None:
        return f"It does not export {ENTRY}: func(input: string) -> result<string, string>."
    if not _is_function(entry.ty, parameters=1):
        return f"Its {ENTRY} is not func(input: string) -> result<string, string>."
    return _try(engine, component)


def _host_problem(engine: Engine, item: Any) -> str | None:
    wanted = f"{HOST_FUNCTION}: func(op: string, args: string) -> result<string, string>"
    if not isinstance(item, model.ComponentInstanceType):
        return f"It imports {HOST}, but not as an interface."
    for name, extern in item.exports(engine).items():
        if name != HOST_FUNCTION or not _is_function(extern.ty, parameters=2):
            return f"It imports {name} of {HOST}, which only has {wanted}."
    return None


def _is_function(item: Any, parameters: int) -> bool:
    if not isinstance(item, model.FuncType):
        return False
    given, result = [kind for _, kind in item.params], item.result
    return (
        [type(kind) for kind in given] == [model.String] * parameters
        and isinstance(result, model.ResultType)
        and isinstance(result.ok, model.String)
        and isinstance(result.err, model.String)
    )


def _try(engine: Engine, component: model.Component) -> str | None:
    """Instantiate the component once, to find missing WASI versions and excessive memory."""
    linker = new_linker(engine, lambda *_: model.Variant("err", "not now"))
    store = new_store(engine, TRIAL_FUEL, TRIAL_MEMORY, is_ours=False)
    try:
        linker.instantiate(store, component)
    except WasmtimeError as error:
        return f"It cannot be instantiated: {first_line(error)}"
    return None


def first_line(error: Exception) -> str:
    """Return the engine's message without its trace."""
    text = str(error)
    _, _, cause = text.partition("Caused by:")
    lines = [line.strip() for line in (cause or text).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
