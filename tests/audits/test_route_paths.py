"""Normalization of paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.facts.models import UNKNOWN
from forge.audits.routing.route_paths import is_below, joined_path, may_be, normal_paths


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("", ("/",)),
        ("/", ("/",)),
        ("users/", ("/users",)),
        ("//users///x/", ("/users/x",)),
        ("/users/{id}", ("/users/{}",)),
        ("/users/{id:int}/x", ("/users/{}/x",)),
        ("/files/{path:path}", ("/files/{}",)),
        ("/p/{id:[0-9]{3}}", ("/p/{}",)),
        ("/users/<id>", ("/users/{}",)),
        ("/users/<int:id>", ("/users/{}",)),
        ('/users/<regex("[a-c]{2}"):id>.json', ("/users/{}.json",)),
        ("/users/:id", ("/users/{}",)),
        ("/users/:id(\\d+)/x", ("/users/{}/x",)),
        ("/flights/:from-:to", ("/flights/{}-{}",)),
        ("/users/:id?", ("/users", "/users/{}")),
        ("/users{/:id}", ("/users", "/users/{}")),
        ("/files/*path", ("/files/{}",)),
        ("*", ("/{}",)),
        ("/users/{id}:activate", ("/users/{}:activate",)),
        ("/v1/things:batch", ("/v1/things:batch",)),
        (f"{UNKNOWN}{UNKNOWN}/x/", (f"{UNKNOWN}/x",)),
        ("/a/<broken", ("/a/<broken",)),
        ("/a/{broken", ("/a/{}",)),
    ],
)
def test_frameworks_write_the_same_differently(written: str, normal: tuple[str, ...]):
    assert normal_paths(written) == normal


def test_a_slash_is_put_between_parts_that_bring_none():
    assert joined_path("/api", "users", "", "/x") == "/api/users/x"
    assert joined_path("", "/api", UNKNOWN) == f"/api{UNKNOWN}"


def test_what_is_unknown_can_be_anything():
    assert may_be(f"{UNKNOWN}/users/{{}}", "/api/v1/users/{}")
    assert may_be(f"/a{UNKNOWN}b{UNKNOWN}/c", "/a/x/b/c")
    assert not may_be(f"{UNKNOWN}/users", "/api/users/{}")
    assert not may_be(f"/aa{UNKNOWN}aa", "/aa")
    assert may_be("/x", "/x") and not may_be("/x", "/y")


def test_what_is_mounted_is_asked_for_what_is_below():
    assert is_below("/auth/login", "/auth") and is_below("/auth", "/auth") and is_below("/x", "/")
    assert not is_below("/authors", "/auth")
    assert is_below("/v1/auth/login", f"{UNKNOWN}/auth")


@given(st.text(max_size=60))
def test_any_text_has_normal_forms_that_stay(written: str):
    for path in normal_paths(written):
        assert path.startswith(("/", UNKNOWN))
