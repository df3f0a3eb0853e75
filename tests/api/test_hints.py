"""Hints name what the client uses: commands in a terminal, requests over HTTP, messages over a WebSocket."""

import ast
import re
from pathlib import Path

import pytest
from tests.support.server import Server

import forge
from forge.http.hints import name_requests

SOURCE = Path(forge.__file__).parent
WITHOUT_REQUESTS = re.compile(
    r"forge (audit|backup|login|models (demo|serve)|restore|serve|doctor|status|update)\b"
)
"""Commands without a route: they work on local files, or start something."""
IN_TERMINALS = {"app.py", "backup", "cli.py", "demo", "server", "terminal", "tour"}


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        ({}, "List them: `GET /api/v1/bots`"),
        ({"User-Agent": "forge/0.1.0"}, "List them: forge bots list"),
        ({"Cookie": "forge_session=x"}, "List them: forge bots list"),
    ],
)
def test_hint_names_requests_to_programs_and_commands_to_people(
    server: Server, headers: dict[str, str], hint: str
):
    with server.client(**headers) as client:
        (error,) = client.get("/api/v1/bots/unknown").json()["errors"]
    assert error["hint"] == hint


def test_commands_in_hints_have_a_request():
    """Every command that the text of a service names is replaced, unless there is no request for it."""
    unknown: list[str] = []
    for path in SOURCE.rglob("*.py"):
        places = set(path.relative_to(SOURCE).parts)
        if places & IN_TERMINALS or "cli" in places:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            hints = [each.value for each in getattr(node, "keywords", []) if each.arg == "hint"]
            texts = [_text(hint) for hint in hints if isinstance(node, ast.Call)]
            unknown += [text for text in texts if _names_command(name_requests(text))]
    assert unknown == []


def _names_command(text: str) -> bool:
    return bool(re.search(r"\bforge [a-z]", WITHOUT_REQUESTS.sub("", text)))


def _text(node: ast.AST) -> str:
    """Return the text of an expression, with an example in place of each value that is inserted."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.IfExp(body=either)):
            return _text(either)
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id="file_arguments"))):
            return "atlas soul"
        case ast.FormattedValue():
            return "name"
        case _:
            return "".join(_text(child) for child in ast.iter_child_nodes(node))
