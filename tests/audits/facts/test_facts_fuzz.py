"""Arbitrary bytes: the analyzers return in time and keep every offset."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.facts.analyzer import FACTS
from forge.audits.facts.code import read_code
from forge.audits.facts.models import LANGUAGES

SUFFIXES = sorted({".py", ".js", ".ts", ".tsx"})
LONGEST_S = 30.0
WORDS = st.sampled_from(
    [
        *(
            "import ",
            "from ",
            "a.b",
            " as c",
            "(",
            ")",
            "\n",
            "    ",
            "try:",
            "except ImportError:",
            "if TYPE_CHECKING:",
        ),
        *(
            "def f():",
            "lambda:",
            "__import__('x')",
            "importlib.import_module('y')",
            "'",
            '"',
            '"""',
            "`",
            "${",
            "}",
            "{",
        ),
        *(
            "f'",
            "\\",
            "#",
            "//",
            "/*",
            "*/",
            "require('z')",
            "import('w')",
            "export * from 'v'",
            "<a>",
            "</a>",
            ";",
            "\r",
        ),
        *(
            "SELECT a FROM b",
            "x.execute(",
            "\0",
            "\ufeff",
            "é",
            "\u2028",
            "type X = ",
            "<",
            ">",
            "=>",
            "/",
            "[",
            "]",
            ",",
        ),
        *(
            "@app.get('/x')",
            "app.use('/y', z)",
            "with suppress(ImportError):",
            "class A:",
            "import type ",
            "..",
            "%",
            "+",
        ),
    ]
)


def hold(suffix: str, data: bytes) -> None:
    facts = FACTS(suffix, data)
    code = read_code(suffix, data)
    assert len(code.text) == len(data)
    ends = [place for place, byte in enumerate(data) if byte in b"\r\n"]
    assert ends == [place for place, byte in enumerate(code.text) if byte in b"\r\n"]
    assert all(code.text[start:end] == data[start:end] for start, end in code.sql)
    assert all(0 < item.line <= data.count(b"\n") + data.count(b"\r") + 1 for item in facts.imports)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_arbitrary_bytes_are_analyzed(suffix: str, data: bytes) -> None:
    hold(suffix, data)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(words=st.lists(WORDS, max_size=60))
@settings(max_examples=120, deadline=None)
def test_arbitrary_language_tokens_are_analyzed(suffix: str, words: list[str]) -> None:
    hold(suffix, "".join(words).encode())


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(start=st.integers(0, 4000), length=st.integers(0, 60), put_in=st.binary(max_size=20))
@settings(max_examples=40, deadline=None)
def test_damaged_code_is_analyzed(suffix: str, start: int, length: int, put_in: bytes) -> None:
    code = SAMPLES[suffix]
    start %= len(code)
    hold(suffix, code[:start] + put_in + code[start + length :])


SAMPLES = {
    ".py": b"""# coding: utf-8
import a.b as c, d
from .x import (y as z,)
try:
    import e
except (ImportError, ValueError) as error:
    e = None
if TYPE_CHECKING:
    from f import g
class H:
    '''Doc.'''
    def i(self, *j, **k) -> "L":
        q = f"SELECT {j!r} FROM m WHERE n = {k['o']:>3}"
        return importlib.import_module("p", package=__package__)
@app.get("/users/{id}")
async def r(id: int): return [s async for s in t if u] or {v: w for v, w in x}
""",
    ".js": b"""#!/usr/bin/env node
import a, { b as c } from '../d'
export * from "e"
const { f, g: h } = require('i')
try { require('j') } catch (k) { /* l */ }
const m = async () => (await import(`n`)).o ?? /p[/]q/g.test(`r ${s('t')} u`)
app.get('/v/:w', (x, y) => y.json({ z: <a b="c">d {e}</a> }))
""",
}
SAMPLES[".ts"] = SAMPLES[".tsx"] = b"""
import type { A } from 'a'
import b = require('b')
@c() export class D<E extends F = G> implements H { constructor(private readonly i: import('i').J) { super() } }
const k = <T,>(l: T): l is T => sql`select ${l} from m` as unknown as T
""" + SAMPLES[".js"].partition(b"\n")[2]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "data",
    [
        b"(" * 100_000,
        b"(" * 100_000 + b")" * 100_000,
        b"{a:" * 100_000,
        b"-" * 20_000 + b"1",
        b"a" + b".b" * 20_000,
        b"f'{" * 3_000,
        b"`${" * 3_000,
        b"not " * 5_000,
        b"import " * 5_000,
        b"import a\n" * 5_000,
        b"x = '" + b"a" * (2 << 20) + b"'",
        b"x=1;" * 10_000,
        b"\0" * 300_000,
        b"\xff" * 300_000,
        b"\n" * 300_000,
    ],
    ids=lambda data: f"{data[:6]!r}x{len(data)}",
)
def test_hostile_files_are_analyzed_in_time(suffix: str, data: bytes) -> None:
    began = time.thread_time()
    hold(suffix, data)
    assert time.thread_time() - began < LONGEST_S


def test_too_deep_nesting_is_reported_as_broken() -> None:
    data = b"import a\n" + b"[" * 5_000 + b"'asyncpg'" + b"]" * 5_000
    assert FACTS(".py", data).broken_line == 1
    assert read_code(".py", data).text == data


def test_every_language_has_an_analyzer() -> None:
    assert {suffix for suffix in LANGUAGES if FACTS(suffix, b"import 'a'\nimport a").imports} == set(
        LANGUAGES
    )
