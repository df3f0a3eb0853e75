"""Documented routes of a project, and invalid or hostile documents."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.routing.specs import SPECS, Spec, SpecRoute

PHYSICS = """\
info:
  title: Timers
  version: "1"
paths:
  /timers:
    get:
      summary: All of them
      auth: bearer
      query: {limit: integer (default 50)}
      response: {items: "Timer[]"}
    post:
      request: {name: string}
  /timers/{id}:
    DELETE:
  /live:
    websocket:
      auth: token
  /anything:
schemas:
  Timer: {id: string, ends_at: datetime | null}
"""


def yaml(text: str | bytes) -> Spec:
    return SPECS(".yaml", text.encode() if isinstance(text, str) else text)


def test_physics():
    assert yaml(PHYSICS) == Spec(
        (
            SpecRoute("GET", "/timers", 6),
            SpecRoute("POST", "/timers", 11),
            SpecRoute("DELETE", "/timers/{id}", 14),
            SpecRoute("WEBSOCKET", "/live", 16),
            SpecRoute("ANY", "/anything", 18),
        )
    )


def test_openapi_in_yaml_and_json_and_swagger():
    openapi = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://example.com/api/v1/"}, {"url": "/"}, {"url": "http://[broken"}],
        "paths": {
            "x-note": "ignored",
            "/a/{id}": {"parameters": [], "summary": "", "get": {"responses": {"200": {}}}, "put": {}},
            "/b": {"$ref": "b.yaml"},
        },
    }
    routes = [("GET", "/a/{id}"), ("PUT", "/a/{id}"), ("ANY", "/b")]
    for suffix, text in ((".yaml", json.dumps(openapi)), (".json", json.dumps(openapi, indent=2))):
        spec = SPECS(suffix, text.encode())
        assert [(r.method, r.path) for r in spec.routes] == routes
        assert (spec.bases, spec.is_openapi, spec.problem) == (("/api/v1",), True, None)
    lines = [route.line for route in SPECS(".json", json.dumps(openapi, indent=2).encode()).routes]
    assert lines == [_line(openapi, key) for key in ('"get"', '"put"', '"/b"')]
    assert yaml('swagger: "2.0"\nbasePath: /v2\npaths: {/x: {get: {}}}').bases == ("/v2",)


def _line(document: object, key: str) -> int:
    return next(n for n, line in enumerate(json.dumps(document, indent=2).splitlines(), 1) if key in line)


def test_anchors_and_merges_are_what_they_stand_for():
    text = "x: &both\n  get: {}\n  post: {}\npaths:\n  /a: *both\n  /b:\n    <<: *both\n    get: {}\n    put: {}\n"
    assert [(r.method, r.path) for r in yaml(text).routes] == [
        ("GET", "/a"),
        ("POST", "/a"),
        ("GET", "/b"),
        ("PUT", "/b"),
        ("POST", "/b"),
    ]


def test_a_byte_order_mark_is_no_difference():
    assert yaml("\ufeff" + PHYSICS) == yaml(PHYSICS)
    assert SPECS(".json", b'\xef\xbb\xbf{"paths": {}}') == Spec()


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("", "it is empty instead of a mapping", 1),
        ("- a", "it is a list instead of a mapping", 1),
        ("hello", "it is a value instead of a mapping", 1),
        ("info: {}", "it has no `paths`", 1),
        ("paths: [/a]", "`paths` is a list instead of a mapping", 1),
        ("paths:\n  users:\n    get:", "'users' is not a path: it does not start with /", 2),
        ("paths:\n  /a:\n    fetch: {}", "/a has no method (", 2),
        ("paths:\n  /a: {get: }\n  /a: {put: }", "duplicate key '/a'", 3),
        ("paths: {}\npaths: {}", "duplicate key 'paths'", 2),
        ("a: b: c", "it is not YAML: mapping values are not allowed in this context", 1),
        ("paths: [", "it is not YAML", 2),
        ("a: \x01", "it is not YAML", None),
        ("paths: {}\n---\npaths: {}", "it contains more than one document", 3),
        (b"paths:\n  /a\xff: {}", "it is not UTF-8", 2),
        (PHYSICS.encode("utf-16"), "it is not UTF-8", 1),
        ("a: *nowhere", "undefined alias *nowhere", 1),
    ],
)
def test_broken_documents_say_what_is_wrong(text: str | bytes, problem: str, line: int | None):
    spec = yaml(text)
    assert spec.problem is not None and spec.problem.startswith(problem)
    assert spec.routes == ()
    assert line is None or spec.problem_line == line


@pytest.mark.parametrize(
    "text", ["{", "[1", "nothing", '{"a": NaN}', '{"paths": {"/a": {}}, "paths": {}}', "[" * 99_999]
)
def test_broken_json(text: str):
    assert SPECS(".json", text.encode()).problem is not None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "".join(f"{' ' * n}a:\n" for n in range(1000)),
        "a: &a [x]\n"
        + "".join(f"a{n}: &b{n} [{', '.join([f'*b{n - 1}' if n else '*a'] * 9)}]\n" for n in range(20)),
        "paths: &p\n  /a: *p\n",
        "!!python/object/apply:os.system [exit]",
    ],
    ids=["flow", "mappings", "dashes", "blocks", "billion laughs", "itself", "object"],
)
def test_hostile_documents_are_refused_at_once(text: str):
    began = time.thread_time()
    assert yaml(text).problem is not None
    assert time.thread_time() - began < 20


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text("paths:/{}[]&*<!-get \n'\"#|>%@`", max_size=200).map(str.encode))
def test_any_bytes_are_a_spec_or_a_problem(data: bytes):
    for suffix in (".yaml", ".json"):
        spec = SPECS(suffix, data)
        assert (spec.problem is None) or spec.routes == ()


def test_a_document_that_takes_too_much_cannot_be_read():
    assert SPECS.unreadable() == Spec(problem="it takes too long to read")
