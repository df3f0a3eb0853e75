"""The log of requests."""

import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from tests.demo.clients import anthropic_client, ask, one_turn, stream
from tests.support.models import KEY, StartModels, open_models
from tests.support.server import wait_until

from forge.demo.request_log import MAX_ENTRIES, RequestLog
from forge.kernel.hashing import hash_text

SLOW = one_turn(text="word " * 500, delay_s=0.05)


def test_log_entry_has_request_and_outcome(model_server: StartModels):
    server = model_server(one_turn(text="Hi."))
    stream(server, "hello", system="Be brief.")
    [entry] = server.requests()
    assert entry.model_dump(include={"api", "path", "model", "scene", "turn", "is_stream", "status"}) == {
        "api": "anthropic",
        "path": "/v1/messages",
        "model": "m",
        "scene": "only",
        "turn": 0,
        "is_stream": True,
        "status": 200,
    }
    assert entry.body == {**ask(system="Be brief."), "stream": True}
    assert (entry.outcome, entry.stop_reason, entry.fault, entry.error) == (
        "completed",
        "end_turn",
        None,
        None,
    )
    assert entry.usage is not None
    assert entry.usage.input_tokens > 0
    assert entry.headers["anthropic-version"]
    assert entry.ended_at is not None
    assert entry.ended_at >= entry.at


def test_long_running_server_keeps_latest_requests():
    log = RequestLog()
    for _ in range(MAX_ENTRIES + 2):
        log.start("anthropic", "/v1/messages", {}, None)
    assert (log.stats().requests, log.entries[0].number) == (MAX_ENTRIES, 3)


def test_keys_are_logged_as_fingerprints(model_server: StartModels, tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    server = model_server(log=log)
    stream(server)
    assert server.requests()[0].key == f"sha256:{hash_text(KEY)[:12]}…{KEY[-4:]}"
    assert KEY not in log.read_text()
    assert KEY not in httpx2.get(f"{server.url}/_script/requests").text


async def test_disconnected_client_is_detected(model_server: StartModels):
    server = model_server(SLOW)
    async with (
        anthropic.AsyncAnthropic(base_url=server.url, api_key=KEY, max_retries=0) as api,
        api.messages.stream(**ask()) as events,
    ):
        async for event in events:
            if event.type == "text":
                break
    wait_until(lambda: server.stats().disconnected == 1, what="the disconnect")
    [entry] = server.requests()
    assert 0 < entry.pieces_sent < 100
    assert entry.ended_at is not None


def test_log_file_has_a_line_per_finished_request(model_server: StartModels, tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    server = model_server(one_turn(text="Hi.", fault={"kind": 529, "times": 1}), log=log)
    with anthropic_client(server) as api, pytest.raises(anthropic.InternalServerError):
        api.messages.create(**ask())
    stream(server)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["number"], line["status"], line["fault"]) for line in lines] == [
        (1, 529, "529"),
        (2, 200, None),
    ]
    assert lines == [entry.model_dump(mode="json") for entry in server.requests()]


def test_stopping_server_does_not_wait_for_answers(tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    with open_models(
        one_turn(text="Hi.", fault={"kind": "stall", "seconds": 60, "after": 1}), log=log
    ) as server:
        http = httpx2.Client()
        opened: Any = http.stream("POST", f"{server.url}/v1/messages", json=ask(stream=True))
        opened.__enter__()
    opened.__exit__(None, None, None)
    http.close()
    assert json.loads(log.read_text())["outcome"] == "stopped"


def test_requests_can_be_inspected_and_reset_over_http(model_server: StartModels):
    server = model_server(one_turn(text="Hi."))
    stream(server)
    with httpx2.Client(base_url=f"{server.url}/_script") as http:
        assert http.get("/health").json() == {"ok": True, "scenes": ["only"]}
        stats = http.get("/stats").json()
        assert (stats["requests"], stats["paid"], stats["by_scene"]) == (1, 1, {"only": 1})
        assert len(http.get("/requests").json()) == 1
        assert http.post("/reset").json() == {"ok": True}
        assert http.get("/requests").json() == []


def test_only_loopback_hosts_are_answered(model_server: StartModels):
    answer = httpx2.get(f"{model_server().url}/_script/requests", headers={"host": "evil.example"})
    assert answer.status_code == 400
