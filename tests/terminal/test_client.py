import json
import socket
from typing import Any

import pytest
from tests.support.server import Server
from tests.support.stub_server import StubServer

from forge import __version__, errors
from forge.errors import ForgeError, Internal, TooMany, Unauthenticated, Unavailable
from forge.terminal.client import Client, connect_to
from forge.terminal.location import Location, Source
from forge.terminal.server_errors import ERRORS


def envelope(data: Any, next_cursor: str | None = None) -> str:
    return json.dumps({"data": data, "meta": {"next_cursor": next_cursor}, "errors": [], "_links": {}})


def error_envelope(*error: dict[str, Any]) -> str:
    return json.dumps({"data": None, "meta": {}, "errors": list(error), "_links": {}})


def get_me(stub_server: StubServer) -> Any:
    with connect_to(stub_server.url, "forge_key") as client:
        return client.get("/me", dict[str, Any])


def test_request_has_key_and_user_agent(stub_server: StubServer):
    stub_server.answer(200, envelope({"a": 1}))
    assert get_me(stub_server) == {"a": 1}
    ((method, path, headers),) = stub_server.requests
    assert (method, path) == ("GET", "/api/v1/me")
    assert headers["Authorization"] == "Bearer forge_key"
    assert headers["User-Agent"] == f"forge/{__version__}"


def test_every_method_returns_the_data(stub_server: StubServer):
    stub_server.answer(200, envelope([1, 2]))
    with connect_to(stub_server.url, "k") as client:
        results = [
            client.get("/x", list[int], {"a": ["1", "2"], "b": None}),
            client.post("/x", list[int], {"a": 1}),
            client.put("/x", list[int], {}),
            client.patch("/x", list[int], {}),
            client.delete("/x", list[int]),
        ]
    assert results == [[1, 2]] * 5
    assert [f"{method} {path}" for method, path, _ in stub_server.requests] == [
        "GET /api/v1/x?a=1&a=2",
        "POST /api/v1/x",
        "PUT /api/v1/x",
        "PATCH /api/v1/x",
        "DELETE /api/v1/x",
    ]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_server_error_is_raised_as_the_same_class(stub_server: StubServer, kind: type[ForgeError]):
    body = error_envelope({"code": kind.code, "message": "No.", "hint": "Try.", "field": None})
    stub_server.answer(kind.status, body, Retry_After="7")
    with pytest.raises(ForgeError, match="No") as error:
        get_me(stub_server)
    assert type(error.value) is kind
    assert error.value.exit_code == kind.exit_code


def test_every_error_class_is_known():
    all_errors = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ForgeError)
    }
    never_sent = {ForgeError, errors.ConfigError}
    share_a_code = {errors.DiskFull}
    assert all_errors - set(ERRORS) == never_sent | share_a_code


def test_unknown_error_code_is_mapped_by_its_status(stub_server: StubServer):
    stub_server.answer(409, error_envelope({"code": "over_budget", "message": "Too expensive."}))
    with pytest.raises(errors.Conflict, match="Too expensive"):
        get_me(stub_server)


def test_error_message_contains_all_problems(stub_server: StubServer):
    problems = [{"code": "invalid", "message": text} for text in ("First.", "Second.")]
    stub_server.answer(422, error_envelope(*problems))
    with pytest.raises(errors.Invalid) as error:
        get_me(stub_server)
    assert error.value.message == "First.\nSecond."


def test_too_many_error_has_retry_after(stub_server: StubServer):
    stub_server.answer(429, error_envelope({"code": "too_many", "message": "Slow."}), Retry_After="7")
    with pytest.raises(TooMany) as error:
        get_me(stub_server)
    assert (error.value.retry_after_s, error.value.hint) == (7, "Try again in 7 s.")


def test_control_characters_in_server_messages_are_removed(stub_server: StubServer):
    stub_server.answer(409, error_envelope({"code": "conflict", "message": "\x1b[2Jgone", "hint": "\x07"}))
    with pytest.raises(errors.Conflict) as error:
        get_me(stub_server)
    assert "\x1b" not in error.value.message
    assert "\x07" not in (error.value.hint or "")


def test_redirect_is_not_followed(stub_server: StubServer):
    stub_server.answer(307, "", Location="https://elsewhere.example/api/v1/me")
    with pytest.raises(Unavailable, match=r"redirects to https://elsewhere\.example"):
        get_me(stub_server)
    assert len(stub_server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, "<h1>Welcome</h1>"), (502, "<h1>Bad gateway</h1>"), (200, "[]"), (500, "{}"), (404, "")],
)
def test_response_of_another_program_is_unavailable(stub_server: StubServer, status: int, body: str):
    stub_server.answer(status, body)
    with pytest.raises(Unavailable):
        get_me(stub_server)


def test_unexpected_response_shape_hints_at_versions(stub_server: StubServer):
    stub_server.answer(200, envelope("not a dict"))
    with pytest.raises(Internal) as error:
        get_me(stub_server)
    assert __version__ in (error.value.hint or "")


def test_closed_port_is_unavailable():
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        with connect_to(url, "k") as client, pytest.raises(Unavailable, match="Cannot connect to"):
            client.get("/me", dict[str, Any])


def test_proxy_is_not_used_for_localhost(stub_server: StubServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    stub_server.answer(200, envelope({}))
    assert get_me(stub_server) == {}


def test_wrong_key_is_unauthenticated(server: Server):
    with connect_to(server.url, "forge_wrong") as client, pytest.raises(Unauthenticated) as error:
        client.get("/me", dict[str, Any])
    assert error.value.exit_code == 4
    assert error.value.hint == f"Log in again: forge login {server.url}"


def test_stale_local_key_hints_at_a_restarted_server(server: Server):
    location = Location(server.url, "forge_stale", Source.SERVER_FILE)
    with Client(lambda: location) as client, pytest.raises(Unauthenticated) as error:
        client.get("/me", dict[str, Any])
    assert "forge serve" in (error.value.hint or "")


def test_pages_are_fetched_up_to_the_limit(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forge.terminal.client.PAGE", 2)
    for _ in range(5):
        server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 0}})
    with connect_to(server.url, server.key) as client:
        all_ids = [run["id"] for run in client.pages("/runs", dict[str, Any], 100)]
        first_two = [run["id"] for run in client.pages("/runs", dict[str, Any], 2)]
    assert len(set(all_ids)) == len(all_ids) >= 5
    assert first_two == all_ids[:2]
