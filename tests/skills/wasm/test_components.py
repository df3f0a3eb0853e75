"""WebAssembly components: execution, limits and validation."""

from pathlib import Path

import pytest
import wasmtime
from tests.skills.wasm.script_runner import LIMITS, MB, SHORT, Host, run

from forge.skills.execution import HostError, Language, RunEnd, RunLimits, RunOutcome
from forge.skills.wasm import compiled
from forge.skills.wasm.worker_pool import WorkerPool

ENTRY = '(func (export "run") (param "input" string) (result (result string (error string)))'
LIFT = f'{ENTRY} (canon lift (core func $m "run") (memory (core memory $m "memory")) (realloc (core func $m "realloc"))))'
REALLOC = """
  (global $at (mut i32) (i32.const 4096))
  (func (export "realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $at)
    (global.set $at (i32.add (global.get $at) (local.get 3))))
"""
GIVE = """
  (i32.store8 (i32.const 16) (i32.const {tag}))
  (i32.store (i32.const 20) (local.get 0))
  (i32.store (i32.const 24) (local.get 1))
  (i32.const 16)
"""
HOST_TYPE = (
    '(export "call" (func (param "op" string) (param "args" string) (result (result string (error string)))))'
)
HOST = f'(import "forge:skill/host@1.0.0" (instance $host {HOST_TYPE}))'


def module(body: str, *, memory: str = '(memory (export "memory") 16)', more: str = "") -> str:
    return f"""
    (core module $M
      {memory} {REALLOC} {more}
      (func $run (export "run") (param i32 i32) (result i32) {body}))
    (core instance $m (instantiate $M))
    """


def component(
    body: str, *, before: str = "", memory: str = '(memory (export "memory") 16)', more: str = ""
) -> bytes:
    return bytes(wasmtime.wat2wasm(f"(component {before} {module(body, memory=memory, more=more)} {LIFT})"))


ECHO = component(GIVE.format(tag=0))

ASKING = bytes(
    wasmtime.wat2wasm(f"""
(component
  {HOST}
  (alias export $host "call" (func $call))
  (core module $Libc (memory (export "memory") 16) {REALLOC})
  (core instance $libc (instantiate $Libc))
  (core func $lowered (canon lower (func $call) (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $M
    (import "libc" "memory" (memory 16))
    (import "host" "call" (func $call (param i32 i32 i32 i32 i32)))
    (data (i32.const 0) "kv.get")
    (func (export "run") (param i32 i32) (result i32)
      (call $call (i32.const 0) (i32.const 6) (local.get 0) (local.get 1) (i32.const 64))
      (i32.const 64)))
  (core instance $m (instantiate $M
    (with "libc" (instance $libc)) (with "host" (instance (export "call" (func $lowered))))))
  {ENTRY} (canon lift (core func $m "run") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")))))
""")
)


async def run_wasm(
    pool: WorkerPool, source: bytes, *, limits: RunLimits = LIMITS, host: Host | None = None
) -> RunOutcome:
    return await run(pool, source, Language.WASM, input_json='{"a": "é"}', limits=limits, host=host)


async def test_component_runs_in_a_worker_that_ran_a_script(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        assert (await run(pool, "function run() { return 1 }")).output == 1
        assert (await run_wasm(pool, ECHO)).end is RunEnd.DONE


async def test_component_takes_and_returns_json(pool: WorkerPool):
    assert await pool.check(ECHO) is None
    outcome = await run_wasm(pool, ECHO)
    assert (outcome.end, outcome.output) == (RunEnd.DONE, {"a": "é"})


async def test_error_message_of_the_skill_is_kept(pool: WorkerPool):
    outcome = await run_wasm(pool, component(GIVE.format(tag=1)))
    assert (outcome.end, outcome.error) == (RunEnd.RAISED, '{"a": "é"}')


async def test_component_calls_the_host(pool: WorkerPool):
    host = Host({"kv.get": {"found": True}})
    outcome = await run_wasm(pool, ASKING, host=host)
    assert (outcome.output, host.calls) == ({"found": True}, [("kv.get", {"a": "é"})])
    refused = await run_wasm(pool, ASKING, host=Host())
    assert (refused.end, refused.error) == (RunEnd.REFUSED, "kv.get was not granted")
    missing = await run_wasm(pool, ASKING, host=Host({"kv.get": HostError("not there")}))
    assert (missing.end, missing.error) == (RunEnd.RAISED, "not there")


NO_JSON = {
    "empty": "(i32.store (i32.const 24) (i32.const 0))",
    "infinity": "(i32.store (i32.const 20) (i32.const 512)) (i32.store (i32.const 24) (i32.const 5))",
}


@pytest.mark.parametrize("change", NO_JSON.values(), ids=NO_JSON.keys())
async def test_output_that_is_not_json_is_rejected(pool: WorkerPool, change: str):
    stored = GIVE.format(tag=0).rsplit("(i32.const 16)", 1)[0]
    source = component(f"{stored} {change} (i32.const 16)", more='(data (i32.const 512) "1e999")')
    outcome = await run_wasm(pool, source)
    assert (outcome.end, outcome.output) == (RunEnd.OUTPUT, None)


ENDS = {
    "loop": (component("(loop $l (br $l)) unreachable"), RunEnd.FUEL),
    "recursion": (component("(call $run (local.get 0) (local.get 1))"), RunEnd.STACK),
    "trap": (component("unreachable"), RunEnd.RAISED),
    "division by zero": (component("(i32.div_u (i32.const 1) (i32.const 0))"), RunEnd.RAISED),
    "load out of bounds": (component("(i32.load (i32.const -4))"), RunEnd.RAISED),
    "result out of bounds": (component("(i32.const -4)"), RunEnd.RAISED),
    "result is not UTF-8": (
        component("(i32.store8 (i32.const 512) (i32.const 255)) (i32.store (i32.const 20) (i32.const 512))"
                  "(i32.store (i32.const 24) (i32.const 1)) (i32.const 16)"),
        RunEnd.RAISED,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "end"), ENDS.values(), ids=ENDS.keys())
async def test_failures_have_distinct_ends(pool: WorkerPool, source: bytes, end: RunEnd):
    outcome = await run_wasm(pool, source, limits=RunLimits(16 * MB, 100_000_000, 30.0))
    assert outcome.end is end
    assert outcome.error
    assert (await run_wasm(pool, ECHO)).end is RunEnd.DONE


async def test_memory_cannot_grow_beyond_the_limit(pool: WorkerPool):
    grows = "(if (i32.eq (memory.grow (i32.const 400)) (i32.const -1)) (then unreachable))" + GIVE.format(
        tag=0
    )
    assert (await run_wasm(pool, component(grows))).end is RunEnd.RAISED
    assert (
        await run_wasm(pool, component(grows), limits=RunLimits(64 * MB, LIMITS.fuel, 10.0))
    ).end is RunEnd.DONE


async def test_initial_memory_counts_towards_the_limit(pool: WorkerPool):
    source = component(GIVE.format(tag=0), memory='(memory (export "memory") 1000)')
    assert await pool.check(source) is None
    assert (await run_wasm(pool, source)).end is RunEnd.MEMORY
    assert (await run_wasm(pool, source, limits=RunLimits(64 * MB, LIMITS.fuel, 10.0))).end is RunEnd.DONE


async def test_endless_start_function_is_stopped(pool: WorkerPool):
    source = component(GIVE.format(tag=0), more="(func $s (loop $l (br $l))) (start $s)")
    assert "cannot be instantiated" in str(await pool.check(source))
    outcome = await run_wasm(pool, source, limits=SHORT)
    assert outcome.end is RunEnd.UNUSABLE


def foreign(text: str) -> bytes:
    return bytes(wasmtime.wat2wasm(text))


def importing(name: str, what: str = "(instance)") -> bytes:
    return component(GIVE.format(tag=0), before=f'(import "{name}" {what})')


UNUSABLE = {
    "not WebAssembly": (b"#!/bin/sh\n", "It is not a WebAssembly file."),
    "empty": (b"", "It is not a WebAssembly file."),
    "broken": (b"\0asm\x0d\0\1\0garbage", "It is not a valid component"),
    "cut off": (ECHO[: len(ECHO) // 2], "It is not a valid component"),
    "core module": (foreign('(module (func (export "run")))'), "It is not a valid component"),
    "missing run": (foreign("(component)"), "It does not export run"),
    "wrong type of run": (
        foreign('(component (core module $M (func (export "run"))) (core instance $m (instantiate $M))'
                '(func (export "run") (canon lift (core func $m "run"))))'),
        "Its run is not func(input: string) -> result<string, string>.",
    ),
    "sockets": (importing("wasi:sockets/tcp@0.2.0"), "It imports wasi:sockets/tcp@0.2.0"),
    "http": (importing("wasi:http/outgoing-handler@0.2.0"), "It imports wasi:http/outgoing-handler@0.2.0"),
    "unknown interface": (importing("env:evil/system"), "It imports env:evil/system"),
    "unknown function": (importing("system", "(func)"), "It imports system"),
    "wrong type of a host function": (
        importing("forge:skill/host@1.0.0", '(instance (export "call" (func (param "op" u32))))'),
        "It imports call of forge:skill/host@1.0.0",
    ),
    "unknown host function": (
        importing("forge:skill/host@1.0.0", '(instance (export "shell" (func)))'),
        "It imports shell of forge:skill/host@1.0.0",
    ),
    "two memories": (
        component(GIVE.format(tag=0), more="(memory $second 1)"),
        "It cannot be instantiated: resource limit exceeded: memory count too high at 2",
    ),
    "too many instances": (
        component(GIVE.format(tag=0), before="(core module $E)" + "(core instance (instantiate $E))" * 300),
        "It cannot be instantiated",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "message"), UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_invalid_component_is_rejected_with_the_reason(pool: WorkerPool, source: bytes, message: str):
    problem = await pool.check(source)
    assert problem is not None
    assert problem.startswith(message)
    outcome = await run_wasm(pool, source)
    assert (outcome.end, outcome.error) == (RunEnd.UNUSABLE, problem)


async def test_component_size_is_limited(pool: WorkerPool):
    padded = ECHO + b"\0" * (16 * MB)
    assert await pool.check(padded) == "It is larger than 16 MB."
    assert (await run_wasm(pool, padded)).end is RunEnd.UNUSABLE


async def test_wasi_environment_and_random_are_accepted(pool: WorkerPool):
    before = """
    (import "wasi:cli/environment@0.2.0" (instance (export "get-environment"
      (func (result (list (tuple string string)))))))
    (import "wasi:random/random@0.2.0" (instance (export "get-random-u64" (func (result u64)))))
    """
    source = component(GIVE.format(tag=0), before=before)
    assert await pool.check(source) is None
    assert (await run_wasm(pool, source)).end is RunEnd.DONE


async def test_component_that_compiles_too_long_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiled, "COMPILE_S", 1.0)
    branch = "(if (local.get 0) (then (local.set 0 (i32.add (local.get 0) (i32.const 1)))))"
    bomb = component(branch * 30_000 + GIVE.format(tag=0))
    async with WorkerPool(tmp_path / "cache") as pool:
        assert await pool.check(bomb) == "Compiling takes longer than 1 seconds."
        assert list((tmp_path / "cache").iterdir()) == []
        assert (await run(pool, "function run() { return 1 }")).output == 1
