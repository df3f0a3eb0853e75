"""Each fault, as seen by the real clients."""

import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from tests.demo.clients import answered, anthropic_client, ask, one_turn, openai_client, said, stream
from tests.support.models import ModelServer, StartModels
from tests.support.server import wait_until

TEXT = "One two three four five six seven eight nine ten."
TOOLS = [{"write_file": {"path": "a.py", "content": "x = 1"}}, {"read_file": {"path": "b.py"}}]
HELLO: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def faulty(kind: str | int, *, tools: bool = False, **more: Any) -> dict[str, Any]:
    turn = {"text": TEXT, "fault": {"kind": kind, **more}} | ({"tools": TOOLS} if tools else {})
    return one_turn(**turn)


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        (400, anthropic.BadRequestError, 400),
        (401, anthropic.AuthenticationError, 401),
        (429, anthropic.RateLimitError, 429),
        (500, anthropic.InternalServerError, 500),
        (502, anthropic.InternalServerError, 502),
        (529, anthropic.InternalServerError, 529),
        ("prompt_too_long", anthropic.BadRequestError, 400),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_anthropic_refusal(
    model_server: StartModels, kind: str, error: type[anthropic.APIStatusError], status: int, streams: bool
):
    server = model_server(faulty(kind))
    with anthropic_client(server) as api, pytest.raises(error) as refused:
        api.messages.create(**ask(stream=streams))
    assert refused.value.status_code == status
    [entry] = server.requests()
    assert (entry.fault, entry.status, entry.usage) == (str(kind), status, None)


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        (400, openai.BadRequestError, 400),
        (429, openai.RateLimitError, 429),
        (500, openai.InternalServerError, 500),
        (502, openai.InternalServerError, 502),
        (529, openai.InternalServerError, 503),
    ],
)
def test_openai_refusal(
    model_server: StartModels, kind: str, error: type[openai.APIStatusError], status: int
):
    with openai_client(model_server(faulty(kind))) as api, pytest.raises(error) as refused:
        api.chat.completions.create(**HELLO)
    assert refused.value.status_code == status


def test_retry_after_is_sent_and_the_retry_succeeds(model_server: StartModels):
    server = model_server(faulty(429, times=2, retry_after_s=0.01))
    with anthropic_client(server, max_retries=2) as api:
        assert said(api.messages.create(**ask())) == [{"type": "text", "text": TEXT}]
    assert [entry.status for entry in server.requests()] == [429, 429, 200]
    assert [entry.headers["x-stainless-retry-count"] for entry in server.requests()] == ["0", "1", "2"]
    answer = httpx2.post(f"{server.url}/v1/messages", json=ask("another conversation"))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "0.01")


def test_faults_follow_each_other(model_server: StartModels):
    faults = [{"kind": 529, "times": 1}, {"kind": 500, "times": 1}]
    server = model_server(one_turn(text=TEXT, fault=faults))
    statuses = [httpx2.post(f"{server.url}/v1/messages", json=ask()).status_code for _ in range(3)]
    assert statuses == [529, 500, 200]
    server.reset()
    assert httpx2.post(f"{server.url}/v1/messages", json=ask()).status_code == 529


def test_cut_is_a_broken_connection(model_server: StartModels):
    server = model_server(faulty("cut", times=1))
    with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
        stream(server)
    assert said(stream(server)) == [{"type": "text", "text": TEXT}]
    assert [entry.outcome for entry in server.requests()] == ["cut", "completed"]


def test_cut_without_stream_is_a_broken_connection(model_server: StartModels):
    with anthropic_client(model_server(faulty("cut"))) as api, pytest.raises(anthropic.APIConnectionError):
        api.messages.create(**ask())


def test_clean_cut_has_no_stop_reason(model_server: StartModels):
    message = stream(model_server(faulty("clean_cut", after=1)))
    assert (said(message), message.stop_reason) == ([{"type": "text", "text": TEXT[:16]}], None)


def test_openai_clean_cut_has_no_finish_reason(model_server: StartModels):
    with openai_client(model_server(faulty("clean_cut"))) as api:
        chunks = list(api.chat.completions.create(**HELLO, stream=True))
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, None]


def test_stream_without_finish_reason_has_the_whole_text(model_server: StartModels):
    server = model_server(faulty("no_finish_reason"))
    with openai_client(server) as api:
        chunks = list(api.chat.completions.create(**HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == TEXT
    assert {chunk.choices[0].finish_reason for chunk in chunks} == {None}
    message = stream(server)
    assert (said(message), message.stop_reason) == ([{"type": "text", "text": TEXT}], None)


def test_loading_model_is_a_503(model_server: StartModels):
    with (
        openai_client(model_server(faulty("loading"))) as api,
        pytest.raises(openai.InternalServerError) as refused,
    ):
        api.chat.completions.create(**HELLO)
    assert (refused.value.status_code, refused.value.type) == (503, "unavailable_error")
    assert "Loading model" in refused.value.message


def test_error_event_in_a_stream_has_the_format_of_the_api(model_server: StartModels):
    server = model_server(faulty("error_event"))
    with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
        stream(server)
    with openai_client(server) as api, pytest.raises(openai.APIError, match="Overloaded"):
        list(api.chat.completions.create(**HELLO, stream=True))


@pytest.mark.parametrize("after", [0, 1])
def test_client_timeout_ends_a_stall(model_server: StartModels, after: int):
    server = model_server(faulty("stall", seconds=60, after=after))
    with (
        anthropic_client(server, timeout=httpx2.Timeout(30, read=1)) as api,
        pytest.raises((anthropic.APITimeoutError, httpx2.ReadTimeout)),
    ):
        list(api.messages.create(**ask(stream=True)))
    wait_until(lambda: server.stats().running == 0, what="the end of the answer")
    assert [(entry.outcome, entry.pieces_sent > 0) for entry in server.requests()] == [
        ("disconnected", after > 0)
    ]


def tool_json(server: ModelServer) -> list[str]:
    """Return the input of each tool call as the model wrote it, even if it is invalid JSON."""
    found: dict[int, str] = {}
    with anthropic_client(server) as api:
        for event in api.messages.create(**ask(stream=True)):
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                found[event.index] = found.get(event.index, "") + event.delta.partial_json
    return list(found.values())


def test_malformed_json_does_not_parse(model_server: StartModels):
    for written in tool_json(model_server(faulty("malformed_json", tools=True))):
        with pytest.raises(json.JSONDecodeError):
            json.loads(written)


def test_wrong_types_parse_with_wrong_values(model_server: StartModels):
    wrong = ["not", "this"]
    message = stream(model_server(faulty("wrong_types", tools=True)))
    assert [block["input"] for block in said(message)[1:]] == [
        {"path": wrong, "content": wrong},
        {"path": wrong},
    ]


def test_unknown_tool_fault_renames_the_tool(model_server: StartModels):
    message = stream(model_server(faulty("unknown_tool", tools=True)))
    assert [block["name"] for block in said(message)[1:]] == ["no_such_tool", "no_such_tool"]


def test_duplicate_ids_are_equal(model_server: StartModels):
    message = stream(model_server(faulty("duplicate_ids", tools=True)))
    assert len({block["id"] for block in said(message)[1:]}) == 1


def test_empty_answer_has_no_content(model_server: StartModels):
    message = stream(model_server(faulty("empty")))
    assert (said(message), message.stop_reason) == ([], "end_turn")


def test_repetition_fills_the_answer(model_server: StartModels):
    message = stream(model_server(faulty("repetition", repeats=50)))
    assert (said(message), message.stop_reason) == ([{"type": "text", "text": TEXT * 50}], "max_tokens")


def test_max_tokens_truncates_the_last_tool_call(model_server: StartModels):
    server = model_server(faulty("max_tokens", tools=True))
    whole, cut = tool_json(server)
    assert json.loads(whole) == {"path": "a.py", "content": "x = 1"}
    assert '{"path": "b.py"}'.startswith(cut)
    with anthropic_client(server) as api:
        assert api.messages.create(**ask()).stop_reason == "max_tokens"
    with openai_client(server) as api:
        assert api.chat.completions.create(**HELLO).choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("kind", "finish"), [("refusal", "content_filter"), ("model_context_window_exceeded", "length")]
)
def test_truncated_answer_has_its_stop_reason(model_server: StartModels, kind: str, finish: str):
    server = model_server(faulty(kind, tools=True))
    message = stream(server)
    assert (said(message), message.stop_reason) == ([{"type": "text", "text": TEXT[:24]}], kind)
    with openai_client(server) as api:
        assert api.chat.completions.create(**HELLO).choices[0].finish_reason == finish


def test_paused_turn_continues_when_sent_back(model_server: StartModels):
    turns = [
        {"text": "Found it.", "tools": TOOLS, "fault": {"kind": "pause_turn", "text": "Searching."}},
        {"text": "The end."},
    ]
    server = model_server({"scenes": {"only": {"turns": turns}}})
    paused = stream(server)
    assert (said(paused), paused.stop_reason) == ([{"type": "text", "text": "Searching."}], "pause_turn")
    history: Any = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": paused.content}]
    resumed = stream(server, messages=history)
    assert (said(resumed)[0]["text"], resumed.stop_reason) == ("Found it.", "tool_use")
    _, call, result = answered(resumed, "written", "read")
    for replies in ([history[1], call], [{"role": "assistant", "content": paused.content + resumed.content}]):
        last = stream(server, messages=[history[0], *replies, result])
        assert said(last) == [{"type": "text", "text": "The end."}]


def events(server: ModelServer) -> list[str]:
    answer = httpx2.post(f"{server.url}/v1/messages", json=ask(stream=True))
    return [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]


def test_stream_can_start_twice(model_server: StartModels):
    assert events(model_server(faulty("duplicate_start")))[:3] == ["message_start", "message_start", "ping"]


def test_stream_can_be_spliced(model_server: StartModels):
    found = events(model_server(faulty("spliced", after=1)))
    whole = events(model_server(one_turn(text=TEXT)))
    assert found == [*whole[:4], *whole]
