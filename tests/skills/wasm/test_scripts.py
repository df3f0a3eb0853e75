"""Input, functions and errors of scripts, the same in both languages."""

import json

import pytest
from tests.skills.wasm.script_runner import LIMITS, MISSING, Host, run

from forge.skills.execution import Language, RunEnd
from forge.skills.wasm.worker_pool import WorkerPool

JS, PY = Language.JS, Language.PY

ECHO = {JS: "function run(input) { return input }", PY: "def run(input):\n    return input\n"}
BOTH = pytest.mark.parametrize("language", [JS, PY])


@BOTH
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": [1, 2.5, -0.0, None, True, "x"]},
        {"text": 'quote " back \\ line \n nul \x00 emoji 😀 ä \u2028'},
        {"deep": {"deep": {"deep": [[[[]]]]}}},
        {"__proto__": {"polluted": True}, "constructor": 1, "toString": 2},
        {"large": "x" * 900_000},
    ],
    ids=["empty", "kinds", "special characters", "deep", "prototype names", "large"],
)
async def test_json_round_trips(pool: WorkerPool, language: Language, value: dict[str, object]):
    outcome = await run(pool, ECHO[language], language, input_json=json.dumps(value))
    assert (outcome.end, outcome.output, outcome.error) == (RunEnd.DONE, value, "")
    assert outcome.fuel
    assert outcome.duration_ms > 0


@BOTH
async def test_calls_share_no_state(pool: WorkerPool, language: Language):
    source = {
        JS: "globalThis.n = (globalThis.n ?? 0) + 1; Object.prototype.left = 1; function run() { return n }",
        PY: (
            "import builtins\nbuiltins.n = getattr(builtins, 'n', 0) + 1\n"
            "def run(input):\n    return builtins.n\n"
        ),
    }[language]
    assert [(await run(pool, source, language)).output for _ in range(4)] == [1, 1, 1, 1]


@BOTH
async def test_random_values_differ_between_calls(pool: WorkerPool, language: Language):
    source = {
        JS: "function run() { return [Math.random(), crypto.randomUUID()] }",
        PY: "import random, uuid\ndef run(input):\n    return [random.random(), str(uuid.uuid4())]\n",
    }[language]
    drawn = [(await run(pool, source, language)).output for _ in range(3)]
    assert len({json.dumps(one) for one in drawn}) == 3
    assert len({one[0] for one in drawn}) == 3  # type: ignore[index]


CALLS = {
    JS: """
function run(input) {
  const reply = fetch('https://example.com/a', { method: 'post', headers: { A: 'b' }, body: 'c' });
  kv.set('k', { v: 1 });
  console.warn('careful', { a: 1 });
  return [
    reply.status, reply.ok, reply.text(), reply.json(), reply.headers, kv.get('k'), kv.delete('k'), kv.keys('p'),
    secrets.get('S'), env.get('E'), memory.recall('q', 2), files.read('f'), files.write('f', 't'), files.list('.'),
    exec(['ls'], 'in').exit_code, settings, context.skill,
  ];
}
""",
    PY: """
def run(input):
    reply = fetch('https://example.com/a', method='post', headers={'A': 'b'}, body='c')
    kv.set('k', {'v': 1})
    log('careful', '{"a":1}', level='warn')
    return [
        reply.status, reply.ok, reply.text, reply.json(), reply.headers, kv.get('k'), kv.delete('k'), kv.keys('p'),
        get_secret('S'), env.get('E'), recall_memory('q', 2), files.read('f'), files.write('f', 't'), files.list('.'),
        exec_command(['ls'], 'in')['exit_code'], settings, context['skill'],
    ]
""",
}


@BOTH
async def test_all_host_operations_can_be_called(pool: WorkerPool, language: Language):
    host = Host(
        {
            "context": {"skill": "s", "settings": {"a": 1}},
            "http": {"status": 201, "headers": {"h": "1"}, "body": '{"x":1}'},
            "kv.set": None,
            "kv.get": 7,
            "kv.delete": True,
            "kv.keys": ["p1"],
            "secret": "hush",
            "env": "value",
            "memory": ["m"],
            "log": None,
            "file.read": "text",
            "file.write": None,
            "file.list": ["f"],
            "exec": {"exit_code": 3, "stdout": "", "stderr": ""},
        }
    )
    outcome = await run(pool, CALLS[language], language, host=host)
    assert outcome.error == ""
    assert outcome.output == [
        *(201, True, '{"x":1}', {"x": 1}, {"h": "1"}, 7, True, ["p1"], "hush", "value", ["m"], "text", None),
        *(["f"], 3, {"a": 1}, "s"),
    ]
    assert dict(host.calls) == {
        "context": {},
        "http": {"method": "POST", "url": "https://example.com/a", "headers": {"A": "b"}, "body": "c"},
        "kv.set": {"key": "k", "value": {"v": 1}},
        "kv.get": {"key": "k"},
        "kv.delete": {"key": "k"},
        "kv.keys": {"prefix": "p"},
        "secret": {"name": "S"},
        "env": {"name": "E"},
        "memory": {"query": "q", "limit": 2},
        "file.read": {"path": "f"},
        "file.write": {"path": "f", "text": "t"},
        "file.list": {"path": "."},
        "exec": {"argv": ["ls"], "input": "in"},
        "log": {"level": "warn", "message": 'careful {"a":1}'},
    }


@BOTH
async def test_host_error_can_be_caught(pool: WorkerPool, language: Language):
    source = {
        JS: "function run() { try { files.read('x') } catch (e) { return [e instanceof HostError, e.message] } }",
        PY: (
            "def run(input):\n    try:\n        files.read('x')\n"
            "    except HostError as error:\n        return [True, str(error)]\n"
        ),
    }[language]
    outcome = await run(pool, source, language, host=Host({"file.read": MISSING}))
    assert outcome.output == [True, "there is no such file"]


@BOTH
async def test_uncaught_host_error_is_reported(pool: WorkerPool, language: Language):
    source = {JS: "function run() { files.read('x') }", PY: "def run(input):\n    files.read('x')\n"}[
        language
    ]
    outcome = await run(pool, source, language, host=Host({"file.read": MISSING}))
    assert (outcome.end, outcome.error.splitlines()[0]) == (RunEnd.RAISED, "HostError: there is no such file")


@BOTH
async def test_traceback_has_only_lines_of_the_skill(pool: WorkerPool, language: Language):
    source = {
        JS: "// one\nfunction inner() {\n  throw new TypeError('oops')\n}\nfunction run() {\n  return inner()\n}\n",
        PY: "# one\ndef inner():\n    raise TypeError('oops')\n\ndef run(input):\n    return inner()\n",
    }[language]
    outcome = await run(pool, source, language)
    lines = outcome.error.splitlines()
    assert (outcome.end, lines[0], len(lines)) == (RunEnd.RAISED, "TypeError: oops", 3)
    places = ["skill.js:3", "skill.js:6"] if language is JS else ["skill.py, line 6", "skill.py, line 3"]
    assert [place in line for place, line in zip(places, lines[1:], strict=True)] == [True, True]


@pytest.mark.parametrize(
    "source",
    [
        "const run = (input) => input.a",
        "export function run(input) { return input.a }",
        "export default function (input) { return input.a }",
        "export default function run(input) { return input.a }",
        "export default (input) => input.a",
        "const go = (input) => input.a;\nexport { go as run };",
        "const run = (input) => input.a;\nexport {run};",
        "export const factor = 1;\nexport const run = (input) => input.a * factor;",
        "module.exports = (input) => input.a",
        "module.exports = { run(input) { return input.a } }",
        "exports.run = function (input) { return input.a }",
        "// export nothing\nconst text = `\nexport me`;\nfunction run(input) { return input.a }",
        "#!/usr/bin/env node\nfunction run(input) { return input.a } // the end",
    ],
)
async def test_run_is_found_in_every_form_of_javascript_export(pool: WorkerPool, source: str):
    outcome = await run(pool, source, input_json='{"a": 5}')
    assert (outcome.end, outcome.output, outcome.error) == (RunEnd.DONE, 5, "")


@pytest.mark.parametrize(
    ("language", "source", "message"),
    [
        (JS, "function run( {", "SyntaxError: "),
        (JS, "let run = 1", "there is no function run(input) in skill.js"),
        (JS, "", "there is no function run(input) in skill.js"),
        (JS, "async function run() { return 1 }", "run is asynchronous, but skills are synchronous"),
        (JS, "import fs from 'fs';\nfunction run() {}", "SyntaxError: "),
        (PY, "def run(input)\n    return 1", "skill.py, line 1: expected ':'"),
        (PY, "run = 1", "there is no function run(input) in skill.py"),
        (PY, "async def run(input):\n    return 1", "run is asynchronous, but skills are synchronous"),
        (PY, "def run(input): return 1\x00", "SyntaxError: source code string cannot contain null bytes"),
    ],
)
async def test_unusable_sources_have_distinct_errors(
    pool: WorkerPool, language: Language, source: str, message: str
):
    outcome = await run(pool, source, language)
    assert outcome.end is RunEnd.UNUSABLE
    assert outcome.error.startswith(message)


@BOTH
async def test_source_that_is_not_utf8_is_rejected(pool: WorkerPool, language: Language):
    outcome = await run(pool, b"\xff\xfe\x00", language)
    assert (outcome.end, outcome.error) == (RunEnd.UNUSABLE, "Its source is not UTF-8 text.")


@pytest.mark.parametrize(
    ("language", "expression"),
    [
        *((JS, text) for text in ("NaN", "{a: [1 / 0]}", "() => 1", "Symbol()", "10n")),
        (JS, "(() => { const a = {}; a.a = a; return a })()"),
        (JS, "{toJSON() { throw new Error('no') }}"),
        (JS, "'\\ud800'"),
        *(
            (PY, text)
            for text in ("float('nan')", "[float('inf')]", "{1, 2}", "b'x'", "object()", "{(1, 2): 3}")
        ),
        (PY, "(lambda a: a.append(a) or a)([])"),
        (PY, "chr(0xd800)"),
        *((JS, text) for text in ("'x'.repeat(5000000)",)),
        *((PY, text) for text in ("'x' * 5_000_000",)),
    ],
)
async def test_output_that_is_not_json_is_rejected(pool: WorkerPool, language: Language, expression: str):
    js, py = f"function run() {{ return {expression} }}", f"def run(input):\n    return {expression}\n"
    outcome = await run(pool, js if language is JS else py, language)
    assert (outcome.end, outcome.output) == (RunEnd.OUTPUT, None)
    assert outcome.error


@BOTH
async def test_too_large_input_is_rejected(pool: WorkerPool, language: Language):
    outcome = await run(pool, ECHO[language], language, input_json=json.dumps({"a": "x" * (1 << 20)}))
    assert (outcome.end, outcome.error) == (RunEnd.UNUSABLE, "Its input is larger than 1 MB.")


@BOTH
async def test_memory_is_measured_without_the_runtime(pool: WorkerPool, language: Language):
    source = {
        JS: "function run() { return new Uint8Array(8 << 20).fill(1).length }",
        PY: "def run(input):\n    return len(bytearray(b'x' * (4 << 20)) + b'')\n",
    }[language]
    outcome = await run(pool, source, language, limits=LIMITS)
    assert outcome.end is RunEnd.DONE
    assert outcome.memory_bytes is None or 7 << 20 < outcome.memory_bytes < 18 << 20
    idle = await run(pool, ECHO[language], language)
    assert idle.memory_bytes is None or idle.memory_bytes < 4 << 20
