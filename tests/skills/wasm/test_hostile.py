"""Scripts that mean harm, or make mistakes that look like it. Each is stopped and told apart, and the next call is well."""

import asyncio
import json
import socket
import time
from typing import Any

import pytest
from tests.skills.wasm.running import LIMITS, MB, SHORT, Host, never, run
from tests.support.timeouts import PATIENCE_S

from forge.skills.execution import HostError, Language, RunEnd, RunLimits
from forge.skills.wasm.worker_pool import WorkerPool

JS, PY = Language.JS, Language.PY
BOTH = pytest.mark.parametrize("language", [JS, PY])
LITTLE_FUEL = RunLimits(16 * MB, 500_000_000, 30.0)
GENEROUS_S = PATIENCE_S
"""On top of a limit, on a machine that has other things to do."""


@pytest.fixture(autouse=True)
async def the_next_call_is_well(pool: WorkerPool):
    yield
    ended = await run(pool, "function run() { return 'well' }")
    assert ended.output == "well"


def js(body: str) -> str:
    return f"function run(input) {{ {body} }}"


def py(body: str) -> str:
    return "import os, re, sys, time\ndef run(input):\n" + "".join(
        f"    {line}\n" for line in body.split("\n")
    )


ENDLESS = {
    "a loop": (JS, js("for (;;);")),
    "a loop in its handlers": (JS, js("for (;;) try { null.x } catch { continue } finally { continue }")),
    "a generator": (JS, js("function* g() { for (;;) yield 1 } for (const x of g());")),
    "a regular expression": (JS, js("return /^(a+)+$/.test('a'.repeat(40) + 'b')")),
    "a large number": (JS, js("let n = 3n; for (;;) n = n * n % (1n << 4096n)")),
    "a getter": (JS, js("return { get a() { for (;;); } }")),
    "a toJSON": (JS, js("return { toJSON() { for (;;); } }")),
    "a thenable": (JS, js("return { get then() { for (;;); } }")),
    "the message of an error": (JS, js("throw { get message() { for (;;); }, toJSON() { for (;;); } }")),
    "a proxy": (JS, js("return new Proxy({}, { ownKeys() { for (;;); } })")),
    "a sort": (JS, js("[3, 2, 1].sort(() => { for (;;); })")),
    "a top level": (JS, "for (;;);"),
    "a loop, in Python": (PY, py("while True: pass")),
    "handlers, in Python": (
        PY,
        py(
            "while True:\n    try:\n        while True: 1 / 0\n    except BaseException: continue\n    finally: continue"
        ),
    ),
    "a generator, in Python": (PY, py("return sum(1 for _ in iter(int, 1))")),
    "a regular expression, in Python": (PY, py("return bool(re.match(r'^(a+)+$', 'a' * 40 + 'b'))")),
    "a large number, in Python": (PY, py("return 10 ** (10 ** 8) % 7")),
    "recursion that is caught": (
        PY,
        py(
            "def again(): again()\nwhile True:\n    try: again()\n    except RecursionError: pass"
        ),
    ),
    "the text of an error": (
        PY,
        py(
            "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
        ),
    ),
    "a deletion": (PY, py("class D:\n    def __del__(self):\n        while True: pass\nD()\nreturn 1")),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_what_does_not_end_runs_out_of_fuel(pool: WorkerPool, language: Language, source: str):
    ended = await run(pool, source, language, limits=LITTLE_FUEL)
    assert (ended.end, ended.error) == (RunEnd.FUEL, "It exceeded its limit of 500,000,000 instructions.")
    assert ended.fuel == LITTLE_FUEL.fuel


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (JS, js("for (;;);")),
        (PY, py("while True: pass")),
        (PY, py("while True:\n    try: time.sleep(1000)\n    except BaseException: pass")),
        (JS, js("for (;;) console.log('x')")),
        (PY, py("for n in range(1_000_000): log(n)")),
    ],
    ids=["a loop", "a loop, in Python", "sleep", "a million calls", "a million calls, in Python"],
)
async def test_what_takes_too_long_is_stopped_in_time(pool: WorkerPool, language: Language, source: str):
    await run(pool, js("return 1"), limits=LIMITS)  # somebody is there
    started = time.monotonic()
    ended = await run(pool, source, language, limits=SHORT, host=_forget)
    assert (ended.end, ended.error) == (RunEnd.TIME, "It exceeded its time limit of 1 seconds.")
    assert 1.0 <= time.monotonic() - started < SHORT.seconds + GENEROUS_S


async def _forget(op: str, args: dict[str, Any]) -> None:
    return None


@BOTH
async def test_a_host_that_never_answers_costs_no_more_than_the_limit(pool: WorkerPool, language: Language):
    source = {JS: js("try { kv.get('x') } catch {} for (;;);"), PY: py("kv.get('x')")}[language]
    started = time.monotonic()
    ended = await run(pool, source, language, limits=SHORT, host=never)
    assert ended.end is RunEnd.TIME
    assert time.monotonic() - started < SHORT.seconds + GENEROUS_S


async def test_a_host_that_cannot_be_cancelled_does_not_hold_up_the_end(pool: WorkerPool):
    released = asyncio.Event()

    async def stubborn(op: str, args: dict[str, Any]) -> None:
        while not released.is_set():
            try:
                await asyncio.wait_for(released.wait(), PATIENCE_S)
            except asyncio.CancelledError:
                continue

    ended = await run(pool, js("kv.get('x')"), limits=SHORT, host=stubborn)
    released.set()
    assert ended.end is RunEnd.TIME


GREEDY = {
    "large pieces": (JS, js("const a = []; for (;;) a.push(new Uint8Array(1 << 20))")),
    "small pieces": (JS, js("const a = []; for (;;) a.push({})")),
    "ten gigabytes": (JS, js("return new Array(10240).fill().map(() => new Uint8Array(1 << 20).fill(1)).length")),
    "text": (JS, js("const a = []; for (;;) a.push('x'.repeat(10000) + a.length)")),
    "large pieces, in Python": (PY, py("a = []\nwhile True: a.append(bytearray(1 << 20))")),
    "small pieces, in Python": (PY, py("a = []\nwhile True: a.append({})")),
    "ten gigabytes, in Python": (PY, py("return len([bytearray(1 << 20) for _ in range(10240)])")),
    "one gigabyte at once": (PY, py("return len(b'x' * (1 << 30))")),
    "a long list": (PY, py("return len(list(range(10 ** 9)))")),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), GREEDY.values(), ids=GREEDY.keys())
async def test_exceeding_memory_ends_with_memory(pool: WorkerPool, language: Language, source: str):
    ended = await run(pool, source, language)
    assert (ended.end, ended.error) == (RunEnd.MEMORY, "It exceeded its memory limit of 16 MB.")
    assert ended.memory_bytes is None or ended.memory_bytes < 32 * MB


@BOTH
async def test_running_out_of_memory_can_be_survived(pool: WorkerPool, language: Language):
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
        "itself",
        "through the engine",
        "a deep answer",
        "itself, in Python",
        "through the engine, in Python",
    ],
)
async def test_deep_recursion_ends_with_stack(pool: WorkerPool, language: Language, source: str):
    ended = await run(pool, source, language)
    assert (ended.end, ended.error) == (RunEnd.STACK, "It exceeded the maximum recursion depth.")


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
async def test_nothing_of_the_machine_is_there(pool: WorkerPool, language: Language, source: str):
    ended = await run(pool, source, language)
    assert (ended.end, ended.output) == (RunEnd.RAISED, None)


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
async def test_the_sockets_beneath_python_lead_nowhere(pool: WorkerPool, body: str):
    """The interpreter has the module; the world it stands in has no network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        given = json.dumps({"port": listener.getsockname()[1]})
        ended = await run(pool, "import _socket\n" + py(body), PY, input_json=given)
        assert (ended.end, ended.output) == (RunEnd.RAISED, None)
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_there_are_no_variables_arguments_or_folders(pool: WorkerPool):
    ended = await run(
        pool, py("return [dict(os.environ), sys.argv[1:], os.getcwd(), os.path.exists('/etc')]"), PY
    )
    assert ended.output == [{}, [], "/", False]


async def test_a_module_cannot_be_loaded_from_anywhere(pool: WorkerPool):
    source = "const found = import('/etc/passwd'); function run() { return typeof found.then }"
    assert (await run(pool, source)).output == "function"


@BOTH
async def test_what_was_not_granted_ends_it_at_once_and_cannot_be_caught(
    pool: WorkerPool, language: Language
):
    source = {
        JS: js("try { secrets.get('X') } catch { } console.log('still here'); return 1"),
        PY: py("try: get_secret('X')\nexcept BaseException: pass\nlog('still here')\nreturn 1"),
    }[language]
    host = Host({"log": None})
    ended = await run(pool, source, language, host=host)
    assert (ended.end, ended.output, ended.error) == (RunEnd.REFUSED, None, "secret was not granted")
    assert host.asked == [("secret", {"name": "X"})]


@BOTH
async def test_megabytes_to_and_from_the_host_are_bounded(pool: WorkerPool, language: Language):
    """What is too large in either direction is an error of that one call."""
    source = {
        JS: js(
            "const told = []; for (const f of [() => kv.set('k', 'x'.repeat(4200000)), () => kv.get('k')])"
            " try { f(); told.push('fine') } catch (e) { told.push(e.message) } return told"
        ),
        PY: py(
            "told = []\nfor f in (lambda: kv.set('k', 'x' * 4_200_000), lambda: kv.get('k')):\n"
            "    try:\n        f()\n        told.append('fine')\n"
            "    except HostError as error: told.append(str(error))\nreturn told"
        ),
    }[language]
    host = Host({"kv.set": None, "kv.get": "x" * 4_200_000})
    ended = await run(pool, source, language, host=host, limits=RunLimits(64 * MB, LIMITS.fuel, 30.0))
    assert ended.output == ["the arguments of kv.set exceed 4 MB", "the result is larger than 4 MB"]
    assert [op for op, _ in host.asked] == ["kv.get"]


async def test_a_megabyte_of_arguments_goes_through(pool: WorkerPool):
    host = Host({"kv.set": None})
    ended = await run(pool, js("kv.set('k', 'é'.repeat(1 << 20)); return 1"), host=host)
    assert (ended.output, len(host.asked[0][1]["value"])) == (1, 1 << 20)


MANY = RunLimits(64 * MB, LIMITS.fuel, 30.0)


async def test_many_small_values_do_not_keep_forge_busy(pool: WorkerPool):
    """Four megabytes of empty lists take seconds to read, of which everybody else would wait for each."""
    host = Host({"log": None, "kv.set": None})
    body = "const many = Array(300000).fill([]); try { kv.set('k', many) } catch (e) { return e.message }"
    ended = await run(pool, js(body), host=host, limits=MANY)
    assert (ended.output, host.asked) == ("the arguments of kv.set have more than 64,000 values", [])
    ended = await run(pool, js("return Array(300000).fill([])"), limits=MANY)
    assert (ended.end, ended.error) == (RunEnd.OUTPUT, "Its output has more than 100,000 values.")


TAMPERING = {
    "parse and stringify": js(
        "JSON.parse = JSON.stringify = () => { throw 1 }; kv.get('a'); return { a: 1 }"
    ),
    "the prototype of everything": js(
        "Object.prototype.kind = 'memory'; Array.prototype.map = null; return { a: 1 }"
    ),
    "its own globals": js(
        "globalThis.kv = null; globalThis.Error = null; globalThis.module = null; return { a: 1 }"
    ),
}


@pytest.mark.parametrize("source", TAMPERING.values(), ids=TAMPERING.keys())
async def test_tampering_does_not_affect_later_calls(pool: WorkerPool, source: str):
    assert (await run(pool, source, host=Host({"kv.get": 1}))).output == {"a": 1}


async def test_tampering_with_python_does_not_affect_later_calls(pool: WorkerPool):
    body = "import json, builtins\njson.dumps = lambda *a, **k: '}{'\nbuiltins.isinstance = None\nreturn 1"
    assert (await run(pool, py(body), PY)).end in {RunEnd.OUTPUT, RunEnd.RAISED, RunEnd.MEMORY}
    assert (await run(pool, py("return 1"), PY)).output == 1


@pytest.mark.parametrize("arguments", ["[]", "1", "not json", "NaN", '{"a": 1e999}', '{"a": "\\\\ud800"}'])
async def test_arguments_that_are_no_object_are_refused(pool: WorkerPool, arguments: str):
    """Reached below the shim, where a script can say anything."""
    body = (
        "from wit_world.imports import host\nfrom componentize_py_types import Err\n"
        f"try: return host.call('kv.get', '{arguments}')\nexcept Err as error: return error.value"
    )
    asked = Host({"kv.get": 1})
    ended = await run(pool, py(body), PY, host=asked)
    assert (ended.output, asked.asked) == ("the arguments are not a JSON object", [])


async def test_bug_in_the_host_is_raised(pool: WorkerPool):
    with pytest.raises(ZeroDivisionError):
        await run(pool, js("kv.get('a')"), host=Host({"kv.get": ZeroDivisionError()}))
    with pytest.raises(TimeoutError):
        await run(pool, js("kv.get('a')"), host=Host({"kv.get": TimeoutError()}))


async def test_odd_texts_of_host_errors_arrive_whole(pool: WorkerPool):
    source = js("try { kv.get('a') } catch (e) { return e.message }")
    ended = await run(pool, source, host=Host({"kv.get": HostError('é "😀" \\ \n')}))
    assert ended.output == 'é "😀" \\ \n'
