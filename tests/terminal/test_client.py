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


def refusal(*refused: dict[str, Any]) -> str:
    return json.dumps({"data": None, "meta": {}, "errors": list(refused), "_links": {}})


def ask(odd_server: StubServer) -> Any:
    with connect_to(odd_server.url, "forge_key") as client:
        return client.get("/me", dict[str, Any])


def test_a_request_shows_its_key_and_who_sends_it(odd_server: StubServer):
    odd_server.answer(200, envelope({"a": 1}))
    assert ask(odd_server) == {"a": 1}
    ((method, path, headers),) = odd_server.requests
    assert (method, path) == ("GET", "/api/v1/me")
    assert headers["Authorization"] == "Bearer forge_key"
    assert headers["User-Agent"] == f"forge/{__version__}"


def test_every_verb_gives_the_data(odd_server: StubServer):
    odd_server.answer(200, envelope([1, 2]))
    with connect_to(odd_server.url, "k") as client:
        given = [
            client.get("/x", list[int], {"a": ["1", "2"], "b": None}),
            client.post("/x", list[int], {"a": 1}),
            client.put("/x", list[int], {}),
            client.patch("/x", list[int], {}),
            client.delete("/x", list[int]),
        ]
    assert given == [[1, 2]] * 5
    assert [f"{method} {path}" for method, path, _ in odd_server.requests] == [
        "GET /api/v1/x?a=1&a=2",
        "POST /api/v1/x",
        "PUT /api/v1/x",
        "PATCH /api/v1/x",
        "DELETE /api/v1/x",
    ]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_the_error_the_server_raised_is_raised_here(odd_server: StubServer, kind: type[ForgeError]):
    body = refusal({"code": kind.code, "message": "No.", "hint": "Try.", "field": None})
    odd_server.answer(kind.status, body, Retry_After="7")
    with pytest.raises(ForgeError, match="No") as raised:
        ask(odd_server)
    assert type(raised.value) is kind
    assert raised.value.exit_code == kind.exit_code


def test_no_error_of_the_tree_is_forgotten():
    known = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ForgeError)
    }
    never_leave_a_server = {ForgeError, errors.ConfigError}
    have_the_code_of_another = {errors.DiskFull}
    assert known - set(ERRORS) == never_leave_a_server | have_the_code_of_another


def test_a_code_of_the_future_is_understood_by_its_status(odd_server: StubServer):
    odd_server.answer(409, refusal({"code": "over_budget", "message": "Too dear."}))
    with pytest.raises(errors.Conflict, match="Too dear"):
        ask(odd_server)


def test_all_problems_of_a_request_are_told(odd_server: StubServer):
    problems = [{"code": "invalid", "message": text} for text in ("First.", "Second.")]
    odd_server.answer(422, refusal(*problems))
    with pytest.raises(errors.Invalid) as raised:
        ask(odd_server)
    assert raised.value.message == "First.\nSecond."


def test_too_many_requests_says_when_to_come_back(odd_server: StubServer):
    odd_server.answer(429, refusal({"code": "too_many", "message": "Slow."}), Retry_After="7")
    with pytest.raises(TooMany) as raised:
        ask(odd_server)
    assert (raised.value.retry_after_s, raised.value.hint) == (7, "Try again in 7 s.")


def test_words_of_a_server_cannot_steer_the_terminal(odd_server: StubServer):
    odd_server.answer(409, refusal({"code": "conflict", "message": "\x1b[2Jgone", "hint": "\x07"}))
    with pytest.raises(errors.Conflict) as raised:
        ask(odd_server)
    assert "\x1b" not in raised.value.message
    assert "\x07" not in (raised.value.hint or "")


def test_a_key_does_not_follow_a_redirect(odd_server: StubServer):
    odd_server.answer(307, "", Location="https://elsewhere.example/api/v1/me")
    with pytest.raises(Unavailable, match=r"redirects to https://elsewhere\.example"):
        ask(odd_server)
    assert len(odd_server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, "<h1>Welcome</h1>"), (502, "<h1>Bad gateway</h1>"), (200, "[]"), (500, "{}"), (404, "")],
)
def test_something_that_is_not_forge_is_recognised(odd_server: StubServer, status: int, body: str):
    odd_server.answer(status, body)
    with pytest.raises(Unavailable):
        ask(odd_server)


def test_an_answer_of_another_shape_hints_at_the_versions(odd_server: StubServer):
    odd_server.answer(200, envelope("not a dict"))
    with pytest.raises(Internal) as raised:
        ask(odd_server)
    assert __version__ in (raised.value.hint or "")


def test_a_port_where_nobody_listens_is_unavailable():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens: a connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with connect_to(url, "k") as client, pytest.raises(Unavailable, match="Cannot connect to"):
            client.get("/me", dict[str, Any])


def test_a_proxy_is_not_asked_about_this_machine(odd_server: StubServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    odd_server.answer(200, envelope({}))
    assert ask(odd_server) == {}


def test_a_wrong_key_is_unauthenticated(server: Server):
    with connect_to(server.url, "forge_wrong") as client, pytest.raises(Unauthenticated) as raised:
        client.get("/me", dict[str, Any])
    assert raised.value.exit_code == 4
    assert raised.value.hint == f"Log in again: forge login {server.url}"


def test_a_stale_key_of_this_machine_hints_at_the_other_server(server: Server):
    place = Location(server.url, "forge_stale", Source.SERVER_FILE)
    with Client(lambda: place) as client, pytest.raises(Unauthenticated) as raised:
        client.get("/me", dict[str, Any])
    assert "forge serve" in (raised.value.hint or "")


def test_pages_are_fetched_until_there_are_enough(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forge.terminal.client.PAGE", 2)
    for _ in range(5):
        server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 0}})
    with connect_to(server.url, server.key) as client:
        everything = [run["id"] for run in client.pages("/runs", dict[str, Any], 100)]
        two = [run["id"] for run in client.pages("/runs", dict[str, Any], 2)]
    assert len(set(everything)) == len(everything) >= 5
    assert two == everything[:2]
