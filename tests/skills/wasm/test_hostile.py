"""Hostile and faulty scripts: each is stopped with a distinct end, and the next call works."""

import asyncio
import json
import socket
import time
from typing import Any

import pytest
from tests.skills.wasm.script_runner import LIMITS, MB, SHORT, Host, never_answer, run
from tests.support.timeouts import PATIENCE_S

from forge.skills.execution import HostError, Language, RunEnd, RunLimits
from forge.skills.wasm.worker_pool import WorkerPool

JS, PY = Language.JS, Language.PY
BOTH = pytest.mark.parametrize("language", [JS, PY])
LITTLE_FUEL = RunLimits(16 * MB, 500_000_000, 30.0)
GENEROUS_S = PATIENCE_S
"""Tolerance above a limit, for a busy machine."""


@pytest.fixture(autouse=True)
async def next_call_works(pool: WorkerPool):
    yield
    outcome = await run(pool, "function run() { return 'ok' }")
    assert outcome.output == "ok"


def js(body: str) -> str:
    return f"function run(input) {{ {body} }}"


def py(body: str) -> str:
    return "import os, re, sys, time\ndef run(input):\n" + "".join(
        f"    {line}\n" for line in body.split("\n")
    )


ENDLESS = {
    "loop": (JS, js("for (;;);")),
    "loop in handlers": (JS, js("for (;;) try { null.x } catch { continue } finally { continue }")),
    "generator": (JS, js("function* g() { for (;;) yield 1 } for (const x of g());")),
    "regular expression": (JS, js("return /^(a+)+$/.test('a'.repeat(40) + 'b')")),
    "large number": (JS, js("let n = 3n; for (;;) n = n * n % (1n << 4096n)")),
    "getter": (JS, js("return { get a() { for (;;); } }")),
    "toJSON": (JS, js("return { toJSON() { for (;;); } }")),
    "thenable": (JS, js("return { get then() { for (;;); } }")),
    "error message": (JS, js("throw { get message() { for (;;); }, toJSON() { for (;;); } }")),
    "proxy": (JS, js("return new Proxy({}, { ownKeys() { for (;;); } })")),
    "sort": (JS, js("[3, 2, 1].sort(() => { for (;;); })")),
    "top level": (JS, "for (;;);"),
    "loop, Python": (PY, py("while True: pass")),
    "handlers, Python": (
        PY,
        py(
            "while True:\n    try:\n        while True: 1 / 0\n    except BaseException: continue\n    finally: continue"
        ),
    ),
    "generator, Python": (PY, py("return sum(1 for _ in iter(int, 1))")),
    "regular expression, Python": (PY, py("return bool(re.match(r'^(a+)+$', 'a' * 40 + 'b'))")),
    "large number, Python": (PY, py("return 10 ** (10 ** 8) % 7")),
    "caught recursion, Python": (
        PY,
        py(
            "def again(): again()\nwhile True:\n    try: again()\n    except RecursionError: pass"
        ),
    ),
    "error message, Python": (
        PY,
        py(
            "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
        ),
    ),
    "destructor, Python": (PY, py("class D:\n    def __del__(self):\n        while True: pass\nD()\nreturn 1")),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_endless_script_runs_out_of_fuel(pool: WorkerPool, language: Language, source: str):
    outcome = await run(pool, source, language, limits=LITTLE_FUEL)
    assert (outcome.end, outcome.error) == (RunEnd.FUEL, "It exceeded its limit of 500,000,000 instructions.")
    assert outcome.fuel == LITTLE_FUEL.fuel


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (JS, js("for (;;);")),
        (PY, py("while True: pass")),
        (PY, py("while True:\n    try: time.sleep(1000)\n    except BaseException: pass")),
        (JS, js("for (;;) console.log('x')")),
        (PY, py("for n in range(1_000_000): log(n)")),
    ],
    ids=["loop", "loop, Python", "sleep, Python", "a million calls", "a million calls, Python"],
)
async def test_slow_script_is_stopped_at_the_time_limit(pool: WorkerPool, language: Language, source: str):
    await run(pool, js("return 1"), limits=LIMITS)  # start a worker
    started = time.monotonic()
    outcome = await run(pool, source, language, limits=SHORT, host=_return_none)
    assert (outcome.end, outcome.error) == (RunEnd.TIME, "It exceeded its time limit of 1 seconds.")
    assert 1.0 <= time.monotonic() - started < SHORT.seconds + GENEROUS_S


async def _return_none(op: str, args: dict[str, Any]) -> None:
    return None


@BOTH
async def test_unresponsive_host_is_bounded_by_the_time_limit(pool: WorkerPool, language: Language):
    source = {JS: js("try { kv.get('x') } catch {} for (;;);"), PY: py("kv.get('x')")}[language]
    started = time.monotonic()
    outcome = await run(pool, source, language, limits=SHORT, host=never_answer)
    assert outcome.end is RunEnd.TIME
    assert time.monotonic() - started < SHORT.seconds + GENEROUS_S


async def test_host_that_cannot_be_cancelled_does_not_delay_the_end(pool: WorkerPool):
    released = asyncio.Event()

    async def stubborn(op: str, args: dict[str, Any]) -> None:
        while not released.is_set():
            try:
                await asyncio.wait_for(released.wait(), PATIENCE_S)
            except asyncio.CancelledError:
                continue

    outcome = await run(pool, js("kv.get('x')"), limits=SHORT, host=stubborn)
    released.set()
    assert outcome.end is RunEnd.TIME


GREEDY = {
    "large pieces": (JS, js("const a = []; for (;;) a.push(new Uint8Array(1 << 20))")),
    "small pieces": (JS, js("const a = []; for (;;) a.push({})")),
    "ten gigabytes": (JS, js("return new Array(10240).fill().map(() => new Uint8Array(1 << 20).fill(1)).length")),
    "text": (JS, js("const a = []; for (;;) a.push('x'.repeat(10000) + a.length)")),
    "large pieces, Python": (PY, py("a = []\nwhile True: a.append(bytearray(1 << 20))")),
    "small pieces, Python": (PY, py("a = []\nwhile True: a.append({})")),
    "ten gigabytes, Python": (PY, py("return len([bytearray(1 << 20) for _ in range(10240)])")),
    "one gigabyte at once, Python": (PY, py("return len(b'x' * (1 << 30))")),
    "long list, Python": (PY, py("return len(list(range(10 ** 9)))")),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), GREEDY.values(), ids=GREEDY.keys())
async def test_exceeding_memory_ends_with_memory(pool: WorkerPool, language: Language, source: str):
    outcome = await run(pool, source, language)
    assert (outcome.end, outcome.error) == (RunEnd.MEMORY, "It exceeded its memory limit of 16 MB.")
    assert outcome.memory_bytes is None or outcome.memory_bytes < 32 * MB


@BOTH
async def test_out_of_memory_error_can_be_caught(pool: WorkerPool, language: Language):
    source = {
        JS: js(
            "let a = []; try { for (;;) a.push(new Uint8Array(1 << 20)) } catch { a = null } return 'alive'"
        ),
        PY: py(
            "a = []\ntry:\n    while True: a.append(bytearray(1 << 20))\nexcept MemoryError: a = None\nreturn 'alive'"
        ),
    }[language]
    assert (await run(pool, source, language)).output == "alive"


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (JS, js("return run(input)")),
        (JS, js("const f = () => [1].map(f); f()")),
        (JS, js("let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a")),
        (PY, py("return run(input)")),
        (PY, py("return sorted([1, 2], key=lambda _: run(input))")),
    ],
    ids=[
        "direct",
        "through the engine",
        "deep output",
        "direct, Python",
        "through the engine, Python",
    ],
)
async def test_deep_recursion_ends_with_stack(pool: WorkerPool, language: Language, source: str):
    outcome = await run(pool, source, language)
    assert (outcome.end, outcome.error) == (RunEnd.STACK, "It exceeded the maximum recursion depth.")


NOSY = {
    "require": (JS, js("return require('fs')")),
    "process": (JS, js("return process.env")),
    "std": (JS, js("return std.loadFile('/etc/passwd')")),
    "open": (PY, py("return open('/etc/passwd').read()")),
    "listdir": (PY, py("return os.listdir('/')")),
    "write": (PY, py("open('/tmp/x', 'w').write('x')")),
    "subprocess": (PY, "import subprocess\n" + py("return subprocess.check_output('id')")),
    "socket": (PY, "import socket\n" + py("return 1")),
    "ctypes": (PY, "import ctypes\n" + py("return 1")),
    "system": (PY, py("return os.system('id')")),
    "fork": (PY, py("return os.fork()")),
    "exit": (PY, py("os._exit(0)")),
    "sys.exit": (PY, py("sys.exit(0)")),
}


@pytest.mark.parametrize(("language", "source"), NOSY.values(), ids=NOSY.keys())
async def test_operating_system_is_not_accessible(pool: WorkerPool, language: Language, source: str):
    outcome = await run(pool, source, language)
    assert (outcome.end, outcome.output) == (RunEnd.RAISED, None)


@pytest.mark.parametrize(
    "body",
    [
        "s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM); s.connect(('127.0.0.1', input['port']))",
        "s = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', input['port']))",
        "s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM); s.bind(('127.0.0.1', 0)); s.listen()",
        "return _socket.getaddrinfo('localhost', 80)",
    ],
    ids=["connect", "send", "serve", "look up"],
)
async def test_python_sockets_have_no_network(pool: WorkerPool, body: str):
    """The interpreter has the module, but its WASI world has no network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        given = json.dumps({"port": listener.getsockname()[1]})
        outcome = await run(pool, "import _socket\n" + py(body), PY, input_json=given)
        assert (outcome.end, outcome.output) == (RunEnd.RAISED, None)
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_environment_arguments_and_folders_are_empty(pool: WorkerPool):
    outcome = await run(
        pool, py("return [dict(os.environ), sys.argv[1:], os.getcwd(), os.path.exists('/etc')]"), PY
    )
    assert outcome.output == [{}, [], "/", False]


async def test_dynamic_import_loads_nothing(pool: WorkerPool):
    source = "const found = import('/etc/passwd'); function run() { return typeof found.then }"
    assert (await run(pool, source)).output == "function"


@BOTH
async def test_missing_grant_ends_the_run_and_cannot_be_caught(pool: WorkerPool, language: Language):
    source = {
        JS: js("try { secrets.get('X') } catch { } console.log('still here'); return 1"),
        PY: py("try: get_secret('X')\nexcept BaseException: pass\nlog('still here')\nreturn 1"),
    }[language]
    host = Host({"log": None})
    outcome = await run(pool, source, language, host=host)
    assert (outcome.end, outcome.output, outcome.error) == (RunEnd.REFUSED, None, "secret was not granted")
    assert host.calls == [("secret", {"name": "X"})]


@BOTH
async def test_size_of_host_arguments_and_results_is_limited(pool: WorkerPool, language: Language):
    """Exceeding the limit is an error of that call only."""
    source = {
        JS: js(
            "const results = []; for (const f of [() => kv.set('k', 'x'.repeat(4200000)), () => kv.get('k')])"
            " try { f(); results.push('fine') } catch (e) { results.push(e.message) } return results"
        ),
        PY: py(
            "results = []\nfor f in (lambda: kv.set('k', 'x' * 4_200_000), lambda: kv.get('k')):\n"
            "    try:\n        f()\n        results.append('fine')\n"
            "    except HostError as error: results.append(str(error))\nreturn results"
        ),
    }[language]
    host = Host({"kv.set": None, "kv.get": "x" * 4_200_000})
    outcome = await run(pool, source, language, host=host, limits=RunLimits(64 * MB, LIMITS.fuel, 30.0))
    assert outcome.output == ["the arguments of kv.set exceed 4 MB", "the result is larger than 4 MB"]
    assert [op for op, _ in host.calls] == ["kv.get"]


async def test_megabyte_of_arguments_is_accepted(pool: WorkerPool):
    host = Host({"kv.set": None})
    outcome = await run(pool, js("kv.set('k', 'é'.repeat(1 << 20)); return 1"), host=host)
    assert (outcome.output, len(host.calls[0][1]["value"])) == (1, 1 << 20)


MANY = RunLimits(64 * MB, LIMITS.fuel, 30.0)


async def test_number_of_json_values_is_limited(pool: WorkerPool):
    """Parsing four megabytes of empty lists would block the event loop for seconds."""
    host = Host({"log": None, "kv.set": None})
    body = "const many = Array(300000).fill([]); try { kv.set('k', many) } catch (e) { return e.message }"
    outcome = await run(pool, js(body), host=host, limits=MANY)
    assert (outcome.output, host.calls) == ("the arguments of kv.set have more than 64,000 values", [])
    outcome = await run(pool, js("return Array(300000).fill([])"), limits=MANY)
    assert (outcome.end, outcome.error) == (RunEnd.OUTPUT, "Its output has more than 100,000 values.")


TAMPERING = {
    "parse and stringify": js(
        "JSON.parse = JSON.stringify = () => { throw 1 }; kv.get('a'); return { a: 1 }"
    ),
    "prototypes": js("Object.prototype.kind = 'memory'; Array.prototype.map = null; return { a: 1 }"),
    "globals": js("globalThis.kv = null; globalThis.Error = null; globalThis.module = null; return { a: 1 }"),
}


@pytest.mark.parametrize("source", TAMPERING.values(), ids=TAMPERING.keys())
async def test_tampering_does_not_affect_later_calls(pool: WorkerPool, source: str):
    assert (await run(pool, source, host=Host({"kv.get": 1}))).output == {"a": 1}


async def test_tampering_with_python_does_not_affect_later_calls(pool: WorkerPool):
    body = "import json, builtins\njson.dumps = lambda *a, **k: '}{'\nbuiltins.isinstance = None\nreturn 1"
    assert (await run(pool, py(body), PY)).end in {RunEnd.OUTPUT, RunEnd.RAISED, RunEnd.MEMORY}
    assert (await run(pool, py("return 1"), PY)).output == 1


@pytest.mark.parametrize("arguments", ["[]", "1", "not json", "NaN", '{"a": 1e999}', '{"a": "\\\\ud800"}'])
async def test_arguments_must_be_a_json_object(pool: WorkerPool, arguments: str):
    """Call the host directly, without the checks of the shim."""
    body = (
        "from wit_world.imports import host\nfrom componentize_py_types import Err\n"
        f"try: return host.call('kv.get', '{arguments}')\nexcept Err as error: return error.value"
    )
    host = Host({"kv.get": 1})
    outcome = await run(pool, py(body), PY, host=host)
    assert (outcome.output, host.calls) == ("the arguments are not a JSON object", [])


async def test_bug_in_the_host_is_raised(pool: WorkerPool):
    with pytest.raises(ZeroDivisionError):
        await run(pool, js("kv.get('a')"), host=Host({"kv.get": ZeroDivisionError()}))
    with pytest.raises(TimeoutError):
        await run(pool, js("kv.get('a')"), host=Host({"kv.get": TimeoutError()}))


async def test_special_characters_in_host_errors_are_preserved(pool: WorkerPool):
    source = js("try { kv.get('a') } catch (e) { return e.message }")
    outcome = await run(pool, source, host=Host({"kv.get": HostError('é "😀" \\ \n')}))
    assert outcome.output == 'é "😀" \\ \n'
