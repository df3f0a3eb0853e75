"""Imports of JavaScript and TypeScript files, as the analyzer reports them."""

import pytest

from forge.audits.facts.analyzer import FACTS
from forge.audits.facts.models import Import


def imports(suffix: str, code: str) -> list[Import]:
    return list(FACTS(suffix, code.encode()).imports)


@pytest.mark.parametrize("suffix", [".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import 'a'", [Import("a", 1)]),
        ('import a, { b as c } from "x";', [Import("x", 1)]),
        ("import * as n\n  from './n.js'", [Import("./n.js", 1)]),
        ("import j from './j.json' with { type: 'json' }", [Import("./j.json", 1)]),
        ("export * from '@s/p/q'; export { a } from './b'", [Import("@s/p/q", 1), Import("./b", 1)]),
        ("const a = require('x')", [Import("x", 1)]),
        ("function f() { return require('x') }", [Import("x", 1, is_lazy=True)]),
        ("const f = () => import('x')", [Import("x", 1, is_dynamic=True, is_lazy=True)]),
        ("await import(`./x`)", [Import("./x", 1, is_dynamic=True)]),
        ("require.resolve('x')", [Import("x", 1, is_dynamic=True)]),
        (
            "try { require('x') } catch { require('y') }",
            [Import("x", 1, is_optional=True), Import("y", 1, is_optional=True)],
        ),
        ("try { require('x') } finally { }", [Import("x", 1)]),
        ("import(`./${x}`); require(x); require(); import.meta.url", []),
        ("// import 'a'\n/* require('b') */\nx = \"import 'c'\"; y = `require('d')`; z = /import('e')/", []),
        ("requires('x'); a.require('y'); important('z')", []),
        ("export { a }; export default from_; const from = 1", []),
        ("#!/usr/bin/env node\nimport 'a'", [Import("a", 2)]),
        ("\ufeffimport 'a'", [Import("a", 1)]),
    ],
)
def test_import_forms_are_found_in_every_dialect(suffix: str, code: str, expected: list[Import]) -> None:
    assert imports(suffix, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import type A from 'a'", [Import("a", 1, is_type_only=True)]),
        ("import { type A, type B } from 'a'", [Import("a", 1, is_type_only=True)]),
        ("import { type A, b } from 'a'", [Import("a", 1)]),
        ("import d, { type A } from 'a'", [Import("a", 1)]),
        ("export type { A } from 'a'", [Import("a", 1, is_type_only=True)]),
        ("import x = require('a')", [Import("a", 1)]),
        ("export import x = require('a')", [Import("a", 1)]),
        ("import x = a.b", []),
        ("let z: import('a').B", [Import("a", 1, is_type_only=True, is_dynamic=True)]),
        ("type T = typeof import('a')", [Import("a", 1, is_type_only=True, is_dynamic=True)]),
        ('/// <reference types="node" />', []),
        ("@dec() class A { @p x = 1 }\nimport 'a'", [Import("a", 2)]),
    ],
)
def test_typescript_import_forms_are_found(code: str, expected: list[Import]) -> None:
    assert imports(".ts", code) == expected


def test_valid_syntax_unknown_to_grammar_is_not_broken() -> None:
    facts = FACTS(
        ".ts",
        b"export type * from 'a'\nexport type * as n from 'b'\ninterface C<in out T extends D, out U> {}\n",
    )
    assert facts.imports == (Import("a", 1, is_type_only=True), Import("b", 2, is_type_only=True))
    assert facts.broken_line is None


def test_jsx_and_flow_in_plain_script_are_parsed() -> None:
    jsx = FACTS(".js", b"import a from 'a';\nexport const B = () => <a b='c'>import 'x'</a>;\n")
    flow = FACTS(
        ".js", b"// @flow\nimport type { A } from 'a';\nfunction f(x: A): string { return require('b') }\n"
    )
    assert (jsx.imports, jsx.broken_line) == ((Import("a", 1),), None)
    assert flow.imports == (Import("a", 2, is_type_only=True), Import("b", 3, is_lazy=True))
    assert flow.broken_line is None


def test_bound_names_have_their_origin() -> None:
    code = b"""
import d, { a, b as c } from 'x'
import * as n from 'y'
const r = require('z'), { p, q: s } = require('w'), t = require('v').u
import e = require('k')
"""
    assert FACTS(".ts", code).bound == (
        ("d", "x", "default"),
        ("a", "x", "a"),
        ("c", "x", "b"),
        ("n", "y", ""),
        ("r", "z", ""),
        ("p", "w", "p"),
        ("s", "w", "q"),
        ("t", "v", "u"),
        ("e", "k", ""),
    )


def test_broken_script_reports_line_and_keeps_imports() -> None:
    facts = FACTS(".ts", b"import 'a'\nfunction ( {\nimport b from 'b'\nconst c = require('c')\n")
    assert (facts.broken_line, [i.module for i in facts.imports]) == (2, ["a", "b", "c"])


def test_utf_16_with_byte_order_mark_is_read() -> None:
    assert FACTS(".ts", "import 'a'\n".encode("utf-16")).imports == (Import("a", 1),)
