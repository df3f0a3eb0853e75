"""Imports of Python files, as the analyzer reports them."""

import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from forge.audits.facts.analyzer import FACTS
from forge.audits.facts.models import FileFacts, Import


def imports(code: str | bytes) -> list[Import]:
    return list(FACTS(".py", code.encode() if isinstance(code, str) else code).imports)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a", [Import("a", 1)]),
        ("import a.b as c, d", [Import("a.b", 1), Import("d", 1)]),
        ("import os; import sys", [Import("os", 1), Import("sys", 1)]),
        ("from a import b", [Import("a", 1, names=("b",), is_from=True)]),
        ("from . import b", [Import("", 1, level=1, names=("b",), is_from=True)]),
        (
            "from ...x.y import (\n    a,  # why\n    b as c,\n)",
            [Import("x.y", 1, 3, ("a", "b"), is_from=True)],
        ),
        ("from a . b import c", [Import("a.b", 1, names=("c",), is_from=True)]),
        ("from a import *", [Import("a", 1, names=("*",), is_from=True)]),
        (
            "from __future__ import annotations",
            [Import("__future__", 1, names=("annotations",), is_from=True)],
        ),
        ("class A:\n    import b", [Import("b", 2)]),
        ("def f():\n    import b", [Import("b", 2, is_lazy=True)]),
        ("if x:\n    import b\nelse:\n    import c", [Import("b", 2), Import("c", 4)]),
        ("if x: import b", [Import("b", 1)]),
        ("x = 1; import \\\n  b", [Import("b", 1)]),
        ('"""\nimport a\nfrom the database.\n"""\n# import b\nx = "import c"', []),
        ("important = 1\nreimport = 2\nx.import_ = 3", []),
        ("\ufeffimport a\r\nimport b\r\n", [Import("a", 1), Import("b", 2)]),
        ("import a\rimport b\r", [Import("a", 1), Import("b", 2)]),
        ("\x0cimport a\n\tx = 1", [Import("a", 1)]),
    ],
)
def test_only_import_statements_are_found(code: str, expected: list[Import]) -> None:
    assert imports(code) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
        "t.TYPE_CHECKING",
        "(TYPE_CHECKING)",
        "TYPE_CHECKING and x",
        "False",
        "MYPY",
    ],
)
def test_type_checking_import_is_distinguished_from_else_branch(condition: str) -> None:
    code = f"if {condition}:\n    import a\nelse:\n    import b\n"
    assert imports(code) == [Import("a", 2, is_type_only=True), Import("b", 4)]


def test_type_checking_alias_and_negation_are_recognized() -> None:
    code = "from typing import TYPE_CHECKING as TC\nif TC:\n    import a\nif not TC:\n    import b\nelse:\n    import c\n"
    assert imports(code)[1:] == [
        Import("a", 3, is_type_only=True),
        Import("b", 5),
        Import("c", 7, is_type_only=True),
    ]


def test_type_checking_in_elif_is_recognized() -> None:
    code = "if x:\n    import a\nelif TYPE_CHECKING:\n    import b\nelse:\n    import c\n"
    assert imports(code) == [Import("a", 2), Import("b", 4, is_type_only=True), Import("c", 6)]


@pytest.mark.parametrize(
    "clause",
    [
        "except ImportError:",
        "except ModuleNotFoundError as e:",
        "except (ValueError, ImportError):",
        "except Exception:",
        "except:",
        "except ImportError, e:",
        "except ValueError, ImportError:",
        "except builtins.ImportError:",
    ],
)
def test_import_with_caught_import_error_and_its_fallback_are_optional(clause: str) -> None:
    code = f"try:\n    import a\n{clause}\n    import b\nelse:\n    import c\nfinally:\n    import d\n"
    assert imports(code) == [
        Import("a", 2, is_optional=True),
        Import("b", 4, is_optional=True),
        Import("c", 6, is_optional=True),
        Import("d", 8),
    ]


def test_other_exception_does_not_make_import_optional() -> None:
    assert imports("try:\n    import a\nexcept ValueError:\n    import b\n") == [
        Import("a", 2),
        Import("b", 4),
    ]


def test_suppress_makes_import_optional() -> None:
    code = "with contextlib.suppress(ImportError):\n    import a\nwith suppress(OSError):\n    import b\n"
    assert imports(code) == [Import("a", 2, is_optional=True), Import("b", 4)]


def optional(code: str) -> dict[str, bool]:
    return {i.module: i.is_optional for i in imports(code) if i.module not in ("importlib.util", "sys")}


@pytest.mark.parametrize(
    ("tried", "is_optional"),
    [
        ("import json", False),
        ("import json, urllib2", False),
        ("x = y.z", False),
        ("import json\n    import ujson", True),
        ("from urllib3.contrib import pyopenssl", True),
        ("from . import _fast", True),
        ("importlib.import_module(name)", True),
    ],
)
def test_else_import_is_optional_only_if_tried_import_can_fail(tried: str, is_optional: bool) -> None:
    code = f"try:\n    {tried}\nexcept ImportError:\n    pass\nelse:\n    import c\n"
    assert optional(code)["c"] is is_optional


def test_fallback_to_same_package_makes_package_required() -> None:
    code = "try:\n    import a.x, b\nexcept ImportError:\n    from a.y import z\n    import c\n"
    assert optional(code) == {"a.x": False, "b": True, "a.y": False, "c": True}


def test_nested_fallback_keeps_imports_optional() -> None:
    inner = "    try:\n        import a.y\n    except ImportError:\n        pass\n"
    assert optional(f"try:\n    import a.x\nexcept ImportError:\n{inner}") == {"a.x": True, "a.y": True}
    inner = "    try:\n        import a.x\n    except ImportError:\n        import a.y\n"
    assert optional(f"try:\n{inner}except ImportError:\n    a = None\n") == {"a.x": True, "a.y": True}


def test_shared_namespace_is_not_a_package() -> None:
    code = "try:\n    import google.cloud.ndb\nexcept ImportError:\n    import google.appengine.ext\n"
    assert optional(code) == {"google.cloud.ndb": True, "google.appengine.ext": True}


@pytest.mark.parametrize(
    ("handling", "is_optional"),
    [
        ("raise", False),
        ("log(1)\n    raise", False),
        ("raise RuntimeError('pip install a') from e", False),
        ("raise SystemExit(1)", False),
        ("sys.exit('pip install a')", False),
        ("print('pip install a')\n    exit(1)", False),
        ("if strict:\n        raise", True),
        ("raise unittest.SkipTest('no a')", True),
        ("raise SkipTest", True),
        ("pytest.skip('no a', allow_module_level=True)", True),
        ("a = None", True),
    ],
)
def test_handler_that_ends_program_makes_nothing_optional(handling: str, is_optional: bool) -> None:
    code = f"try:\n    import a\nexcept ImportError as e:\n    {handling}\n"
    assert optional(code) == {"a": is_optional}
    in_function = "def f():\n" + "".join(f"    {line}\n" for line in code.splitlines())
    assert optional(in_function) == {"a": True}


def test_first_matching_handler_decides() -> None:
    code = "try:\n    import a\nexcept ValueError:\n    raise\nexcept ImportError:\n    a = None\nexcept Exception:\n    raise\n"
    assert optional(code) == {"a": True}
    assert optional("try:\n    import a\nexcept ImportError:\n    raise\nexcept Exception:\n    pass\n") == {
        "a": False
    }


@pytest.mark.parametrize(
    "condition",
    [
        "find_spec('a')",
        "importlib.util.find_spec('a') is not None",
        "find_spec('a.b') != None",
        "None is not 1 and find_spec('a')",
        "bool(find_spec('a'))",
        "(spec := find_spec('a')) is not None",
        "not (find_spec('a') is None)",
        "pkgutil.find_loader('a')",
        "HAS",
        "HAS and x",
        "not MISSING",
        "has_a()",
        "find_spec('a') or find_spec('q')",
    ],
)
def test_only_import_guarded_by_find_spec_is_optional(condition: str) -> None:
    before = (
        "HAS: bool = importlib.util.find_spec('a') is not None\nMISSING = find_spec('a') is None\n"
        "def has_a():\n    return find_spec('a') is not None\n"
    )
    code = f"{before}if {condition}:\n    import a.b\n    import c\nelse:\n    import d\n"
    assert optional(code) == {"a.b": True, "c": False, "d": False}
    code = f"{before}if x:\n    pass\nelif {condition}:\n    import a\n"
    assert optional(code) == {"a": True}


@pytest.mark.parametrize(
    "condition",
    [
        "find_spec('b')",
        "find_spec('a') is None",
        "not find_spec('a')",
        "find_spec(a)",
        "find_spec(f'{a}')",
        "find_spec('a') or x",
        "OTHER",
        "has(1)",
        "find_spec()",
        "find_spec('a') is not None is not None",
    ],
)
def test_unrelated_condition_does_not_make_import_optional(condition: str) -> None:
    assert optional(f"HAS = find_spec('a')\nif {condition}:\n    import a\n") == {"a": False}


def test_else_branch_of_missing_check_makes_import_optional() -> None:
    code = "if find_spec('a') is None:\n    a = None\nelse:\n    import a\n"
    assert optional(code) == {"a": True}


def test_many_imports_in_one_try_are_analyzed() -> None:
    body = "".join(f"    import a{n}\n" for n in range(4_000))
    clauses = "".join(f"except E{n}:\n    pass\n" for n in range(4_000))
    found = imports(f"try:\n{body}{clauses}except ImportError:\n    pass\n")
    assert len(found) == 4_000
    assert all(i.is_optional for i in found)


def test_function_defined_in_try_is_not_protected() -> None:
    code = "try:\n    def f():\n        import a\nexcept ImportError:\n    pass\n"
    assert imports(code) == [Import("a", 3, is_lazy=True)]


def test_dynamic_imports_of_literals_are_found() -> None:
    code = """
import importlib as il
from importlib import import_module as load, util
il.import_module("a.b")
load('c')
def f(): return __import__("d")
il.import_module(".x", "p.q")
il.import_module("..x", package="p.q")
il.import_module(".y", __package__)
"""
    assert [i for i in imports(code) if i.is_dynamic] == [
        Import("a.b", 4, is_dynamic=True),
        Import("c", 5, is_dynamic=True),
        Import("d", 6, is_dynamic=True, is_lazy=True),
        Import("p.q.x", 7, is_dynamic=True),
        Import("p.x", 8, is_dynamic=True),
        Import("y", 9, level=1, is_dynamic=True),
    ]


def test_lookalike_of_dynamic_import_is_ignored() -> None:
    code = """
import importlib.util
importlib.util.find_spec("a")
importlib.import_module(name)
importlib.import_module(f"a.{b}")
self.import_module("c")
import_module("d")
importlib.import_module("not a module")
"""
    assert [i for i in imports(code) if i.is_dynamic] == []


def test_bound_names_have_their_origin() -> None:
    code = "import a.b\nimport c.d as e\nfrom .x import y as z, w\nfrom . import v\nfrom q import *\n"
    assert FACTS(".py", code.encode()).bound == (
        ("a", "a", ""),
        ("e", "c.d", ""),
        ("z", ".x", "y"),
        ("w", ".x", "w"),
        ("v", ".", "v"),
    )


@pytest.mark.parametrize(
    "code",
    [
        "print 'hello'\nimport a\n",
        "x = t'{a}'\nimport a\n",
        "type X[T] = list[T]\nimport a\n",
        "class A[T = int]: ...\nimport a\n",
        "class A[T: (int, str) = int, *Ts = *tuple[int, ...], **P = [int, 'x]']]: ...\nimport a\n",
        "def f[\n    T = dict[str, int],  # ]\n](x: T = 1) -> T: ...\nimport a\n",
        "type X[T = __import__('a')] = list[T]\n",
        "try: pass\nexcept A, B: pass\nimport a\n",
        "x = f'{a['b']}'\nimport a\n",
        "match x:\n    case {'a': 1}: pass\nimport a\n",
        "def f(*, a: int = 1, **k) -> None: ...\nimport a\n",
        "# -*- coding: latin-1 -*-\nx = '\xe9'\nimport a\n",
    ],
)
def test_old_and_new_syntax_is_not_broken(code: str) -> None:
    facts = FACTS(".py", code.encode("latin-1"))
    assert (facts.broken_line, [i.module for i in facts.imports]) == (None, ["a"])


@pytest.mark.parametrize(
    ("code", "line", "modules"),
    [
        (b"import a\nx = = 1\nimport b\n", 2, ["a", "b"]),
        (b"import a\n\0\nimport b\n", 2, ["a", "b"]),
        (b"from {{ cookiecutter.slug }} import x\nimport b\n", 1, ["b"]),
        (
            b"import a\n<<<<<<< HEAD\nimport b\n=======\nimport c\n>>>>>>> x\nimport d\n",
            2,
            ["a", "b", "c", "d"],
        ),
    ],
)
def test_broken_file_reports_line_and_keeps_imports(code: bytes, line: int, modules: list[str]) -> None:
    facts = FACTS(".py", code)
    assert (facts.broken_line, [i.module for i in facts.imports]) == (line, modules)


def test_declared_encoding_is_used() -> None:
    code = "# coding: shift_jis\nx = 'ソ'\nimport a\n".encode("shift_jis")
    assert imports(code) == [Import("a", 3)]


@pytest.mark.parametrize(
    "text", ["\uff02", "\uff07\uff07\uff07", "\uff3c", "日本\uff02語", "\uff03", "\u2024"]
)
def test_full_width_characters_in_text_are_not_syntax(text: str) -> None:
    code = f'a = "{text}"\nimport requests\nb = "{text}"\n'
    assert FACTS(".py", code.encode()) == FileFacts(
        imports=(Import("requests", 2),), bound=(("requests", "requests", ""),)
    )


@pytest.mark.parametrize(
    ("code", "module"),
    [("import \uff41\U0001d41b", "ab"), ("import cafe\u0301", "café")],
)
def test_names_are_normalized(code: str, module: str) -> None:
    assert FACTS(".py", code.encode()).imports == (Import(module, 1),)


def test_standard_library_imports_match_ast() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(
        p for p in folder.rglob("*.py") if "site-packages" not in p.parts and p.stat().st_size < 40_000
    )[::7]
    assert len(files) > 100
    for file in files:
        data = file.read_bytes()
        truth = _by_interpreter(data)
        if truth is not None:
            facts = FACTS(".py", data)
            found = sorted((i.line, i.level, i.module, i.names) for i in facts.imports if not i.is_dynamic)
            assert (str(file), found, facts.broken_line) == (str(file), truth, None)


def _by_interpreter(data: bytes) -> list[tuple[int, int, str, tuple[str, ...]]] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):
            return None
    found: list[tuple[int, int, str, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, 0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append((node.lineno, node.level, node.module or "", names))
    return sorted(found)


@pytest.mark.parametrize("cookie", ["utf-7", "unicode_escape", "rot13", "utf_16"])
def test_encoding_that_can_hide_code_is_reported_as_broken(cookie: str) -> None:
    assert FACTS(".py", f"# x\n# coding: {cookie}\nimport a\n".encode()).broken_line == 2


@pytest.mark.parametrize(
    "first",
    ["\r# coding: utf-7", "\f# coding: utf-7", f"#{' ' * 300}coding: utf-7", "\ufeff\r\n# coding: utf-7"],
)
def test_disguised_encoding_declaration_is_detected(first: str) -> None:
    assert FACTS(".py", f"{first}\nimport a\n".encode()).broken_line is not None


@pytest.mark.parametrize(
    "cookie",
    [
        "utf-8",
        "utf8",
        "latin-1",
        "ascii",
        "cp1252",
        "utf_8_sig",
        "utf-8-unix",
        "UTF_8_DOS",
        "latin-1-unix",
        "iso-latin-1",
        "iso-8859-1-mac",
        "latin2",
        "mac-roman",
        "macintosh",
    ],
)
def test_common_declared_encoding_is_accepted(cookie: str) -> None:
    code = f"# -*- coding: {cookie} -*-\nimport a\n".encode()
    compile(code, "a.py", "exec")
    assert FACTS(".py", code) == FileFacts(imports=(Import("a", 2),), bound=(("a", "a", ""),))


@pytest.mark.parametrize("first", ["import gzip", "x = 1  # y", "(", "x\r", "#\r#"])
def test_encoding_comment_after_code_or_two_lines_is_ignored(first: str) -> None:
    end = ")" if first == "(" else ""
    assert FACTS(".py", f"{first}\n# Content-Encoding: gzip\n{end}\n".encode()).broken_line is None


def test_parser_warnings_are_suppressed() -> None:
    """Also if warnings are errors, as in these tests; filters of other code are unchanged."""
    before = [item for item in warnings.filters if item[0] != "ignore"]
    unknown_to_the_grammar = (
        "type X = int\nmatch x:\n    case {'a': [*_, ('\\d', 1if y else 2)]}: pass\nprint('\\d' f'{'\\d'}')\n"
    )
    FACTS(".py", unknown_to_the_grammar.encode())
    FACTS(".py", b"x = '\\d'\ndef f(:\n")
    assert [item for item in warnings.filters if item[0] != "ignore"] == before
