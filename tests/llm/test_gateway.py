"""Calls through the real clients to scripted servers: answers, faults, fallbacks, cancellation."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.support.gateway import ACCOUNT, open_gateway, spender
from tests.support.models import REPAIR, StartModels
from tests.support.timeouts import PATIENCE_S

from forge.llm.errors import (
    AnswerUnusable,
    ContextFull,
    ModelFault,
    ModelKeyRefused,
    ModelRejected,
    ModelUnknown,
)
from forge.llm.messages import (
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
    user_message,
)
from forge.llm.models import CallStatus, Price, Prompt, ProviderKind, Role, ServerKind, ToolSpec
from forge.llm.request import PartialAnswerShown
from forge.store.database import Store


@pytest.fixture
def store_url(tmp_path: Path, new_database: Callable[[str, Path], str]) -> str:
    """One database is enough here: `test_budgets` and `test_routes` run on both."""
    return new_database("sqlite", tmp_path)


READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def prompt(text: str = "fix it", **given: Any) -> Prompt:
    return Prompt(
        **{"system": "You are a test.", "messages": [user_message(text)], "max_output": 1000, **given}
    )


def script(*turns: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {"scenes": {"only": {"turns": list(turns), "after": "repeat"}}, **given}


async def test_open_objects_of_a_tool_stay_open_and_closed_ones_closed(
    store: Store, model_server: StartModels
):
    """The client library closes every object that does not say that it is open."""
    free = {"type": "object", "description": "Anything."}
    closed = {"type": "object", "properties": {"a": free}, "required": ["a"], "additionalProperties": False}
    properties = {"free": free, "closed": closed, "many": {"type": "array", "items": free}}
    tool = ToolSpec(
        name="call",
        description="Call it.",
        parameters={
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        },
    )
    server = model_server(script({"text": "Hello."}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, kind=ProviderKind.OPENAI)
        await under.choose("scripted:scripted")
        await under.gateway.call(spender(), Role.BUILDER, prompt(tools=[tool]))
    sent = server.requests()[0].body["tools"][0]["function"]["parameters"]
    opened = {**free, "additionalProperties": True, "properties": {}}
    assert sent == {
        **tool.parameters,
        "properties": {
            "free": opened,
            "closed": {**closed, "properties": {"a": opened}},
            "many": {"type": "array", "items": opened},
        },
    }


@pytest.mark.parametrize("kind", list(ProviderKind))
async def test_answer_has_text_tool_calls_and_cost(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(script({"text": "Looking.", "tools": [{"read_file": {"path": "a.py"}}]}))
    shown: list[str] = []

    async def show(_: str, text: str) -> None:
        shown.append(text)

    async with open_gateway(store) as under:
        await under.add("scripted", server.url, kind=kind)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt(tools=[READ]), on_delta=show)
        calls = await under.calls()
    assert reply.message.text == "Looking." == "".join(shown)
    assert [(call.name, call.arguments) for call in reply.message.tool_calls] == [
        ("read_file", '{"path": "a.py"}')
    ]
    assert reply.stop is StopReason.TOOLS
    assert [call.status for call in calls] == [CallStatus.SETTLED]
    assert calls[0].cost_micros == reply.cost_micros > 0
    assert calls[0].usage == reply.usage
    assert calls[0].latency_ms is not None and calls[0].first_token_ms is not None


async def test_conversation_with_thinking_and_tool_results_is_sent_unchanged(
    store: Store, model_server: StartModels
):
    server = model_server(
        script({"thinking": "Hm.", "text": "One.", "tools": [{"read_file": {"path": "a"}}]}, {"text": "Two."})
    )
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        first = await under.gateway.call(spender("1"), Role.BUILDER, prompt(tools=[READ]))
        call = first.message.tool_calls[0]
        result = UserMessage(
            parts=[ToolResult(call_id=call.id, name=call.name, text="boom", failed=True), Text(text="and?")]
        )
        messages = [user_message("fix it"), first.message, result, user_message("well?")]
        second = await under.gateway.call(spender("2"), Role.BUILDER, prompt(tools=[READ], messages=messages))
    thought = first.message.parts[0]
    assert isinstance(thought, Thinking) and thought.signature
    assert second.message.text == "Two."
    sent = server.requests()[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[1]["content"]] == ["thinking", "text", "tool_use"]
    assert sent[1]["content"][0]["signature"] == thought.signature
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "text", "text"]
    assert sent[2]["content"][0]["is_error"] is True


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "429", "retry_after_s": 7}, ModelFault),
        ("500", ModelFault),
        ("502", ModelFault),
        ("529", ModelFault),
        ("cut", ModelFault),
        ("clean_cut", ModelFault),
        ("error_event", ModelFault),
        ("401", ModelKeyRefused),
        ("400", ModelRejected),
        ("prompt_too_long", ContextFull),
    ],
)
async def test_fault_has_its_own_error_and_one_request(
    store: Store, model_server: StartModels, fault: Any, error: type[Exception]
):
    server = model_server(script({"text": "You will not see all of this sentence.", "fault": fault}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        with pytest.raises(error) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt())
        calls = await under.calls()
        spent = {one.budget: one for one in await under.budgets.spent(ACCOUNT)}
    assert type(caught.value) is error
    assert len(server.requests()) == 1
    assert [call.status for call in calls] == [CallStatus.FAILED]
    assert spent["day"].reserved_micros == 0
    if isinstance(fault, dict):
        assert isinstance(caught.value, ModelFault) and caught.value.retry_after_s == 7


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("refusal", StopReason.REFUSED),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.CONTEXT_FULL),
    ],
)
async def test_incomplete_stop_reasons_are_distinguished(
    store: Store, model_server: StartModels, stop: str, reason: StopReason
):
    server = model_server(script({"text": "Well", "stop": stop}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert (reply.stop, reply.message.text) == (reason, "Well")


async def test_truncated_tool_call_is_passed_on(store: Store, model_server: StartModels):
    server = model_server(
        script({"text": "W", "tools": [{"read_file": {"path": "a.py"}}], "fault": "max_tokens"})
    )
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt(tools=[READ]))
        cut = reply.message.tool_calls[0]
        answered = [
            user_message("x"),
            reply.message,
            UserMessage(parts=[ToolResult(call_id=cut.id, name=cut.name, text="cut off", failed=True)]),
        ]
        await under.gateway.call(spender("2"), Role.BUILDER, prompt(tools=[READ], messages=answered))
    assert reply.stop is StopReason.LENGTH
    assert isinstance(cut, ToolCall) and not cut.arguments.endswith("}")
    assert len(server.requests()) == 2


async def test_paused_answer_is_continued_and_joined(store: Store, model_server: StartModels):
    server = model_server(script({"text": "The end.", "fault": {"kind": "pause_turn", "times": 1}}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt())
        calls = await under.calls()
    assert reply.stop is StopReason.END
    assert reply.message.text.endswith("The end.")
    assert len(calls) == 2 and reply.cost_micros == sum(call.cost_micros for call in calls)


async def test_failed_provider_falls_back_and_is_skipped_for_a_while(store: Store, model_server: StartModels):
    dead = model_server(script({"text": "no", "fault": "529"}))
    alive = model_server(script({"text": "yes"}))
    async with open_gateway(store) as under:
        await under.add("dead", dead.url)
        await under.add("alive", alive.url)
        await under.choose("dead:scripted", "alive:scripted")
        texts = [
            (await under.gateway.call(spender(str(i)), Role.BUILDER, prompt())).message.text for i in range(5)
        ]
    assert texts == ["yes"] * 5
    assert (len(dead.requests()), len(alive.requests())) == (3, 5)


@pytest.mark.parametrize("fault", ["401", "400"])
async def test_no_fallback_for_rejected_requests(store: Store, model_server: StartModels, fault: str):
    first = model_server(script({"text": "no", "fault": fault}))
    second = model_server(script({"text": "yes"}))
    async with open_gateway(store) as under:
        await under.add("first", first.url)
        await under.add("second", second.url)
        await under.choose("first:scripted", "second:scripted")
        with pytest.raises((ModelKeyRefused, ModelRejected)):
            await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert second.requests() == []


async def test_no_fallback_after_shown_text(store: Store, model_server: StartModels):
    first = model_server(
        script({"text": "This sentence begins and then", "fault": {"kind": "cut", "after": 2}}, piece_chars=4)
    )
    second = model_server(script({"text": "yes"}))
    shown: list[str] = []

    async def show(_: str, text: str) -> None:
        shown.append(text)

    async with open_gateway(store) as under:
        await under.add("first", first.url)
        await under.add("second", second.url)
        await under.choose("first:scripted", "second:scripted")
        with pytest.raises(PartialAnswerShown):
            await under.gateway.call(spender(), Role.BUILDER, prompt(), on_delta=show)
        unheard = await under.gateway.call(spender("2"), Role.BUILDER, prompt())
    assert "".join(shown).startswith("This")
    assert second.requests() and unheard.message.text == "yes"


async def test_cancelled_call_closes_the_connection_and_is_settled(store: Store, model_server: StartModels):
    server = model_server(script({"text": "a long answer " * 200}, delay_s=0.05))
    began = asyncio.Event()

    async def notice(_: str, text: str) -> None:
        began.set()

    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        call = asyncio.create_task(under.gateway.call(spender(), Role.BUILDER, prompt(), on_delta=notice))
        async with asyncio.timeout(PATIENCE_S):
            await began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(PATIENCE_S):
            while server.stats().disconnected == 0:
                await asyncio.sleep(0.02)
        booked = (await under.calls())[0]
    assert booked.status is CallStatus.FAILED
    assert booked.error == "CancelledError"
    assert booked.cost_micros > 0 and booked.usage.output > 1


class Answer(BaseModel):
    """Answers by whether the model works."""

    works: bool
    why: str


@pytest.mark.parametrize("kind", list(ProviderKind))
async def test_structured_answer_is_corrected_once(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    wrong, right = {"works": "perhaps"}, {"works": True, "why": "it does"}
    turns: list[dict[str, Any]] = (
        [{"tools": [{"answer": wrong}]}, {"tools": [{"answer": right}]}]
        if kind is ProviderKind.ANTHROPIC
        else [{"json": wrong}, {"json": right}]
    )
    repair = {"match": REPAIR, "turns": turns[1:]}
    server = model_server({"scenes": {"repair": repair, "first": {"turns": turns[:1]}}})
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, kind=kind)
        await under.choose("scripted:scripted")
        example = Answer(works=False, why="an example")
        answer = await under.gateway.ask(spender(), Role.BUILDER, prompt(), Answer, example=example)
    assert answer == Answer(works=True, why="it does")
    first, second = (entry.body for entry in server.requests())
    sent = str(second["messages"])
    assert "works: " in sent and "why: Field required" in sent
    assert '{"works":false,"why":"an example"}' in sent
    assert "perhaps" not in sent.replace(str(first["messages"]), "")
    assert second["temperature"] == 1.0 and "temperature" not in first


async def test_second_invalid_answer_is_an_error_without_another_call(
    store: Store, model_server: StartModels
):
    server = model_server(script({"tools": [{"answer": {"works": "perhaps"}}]}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        with pytest.raises(AnswerUnusable, match="why"):
            await under.gateway.ask(spender(), Role.BUILDER, prompt(), Answer)
    assert len(server.requests()) == 2


async def test_key_is_read_from_the_vault_and_its_absence_reported(store: Store, model_server: StartModels):
    server = model_server(script({"text": "hello"}, keys=["sk-right"]))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, key_name="SCRIPTED_API_KEY")
        await under.choose("scripted:scripted")
        with pytest.raises(ModelKeyRefused, match="SCRIPTED_API_KEY is not set"):
            await under.gateway.call(spender(), Role.BUILDER, prompt())
        assert server.requests() == []
        under.secrets["SCRIPTED_API_KEY"] = "sk-wrong"
        with pytest.raises(ModelKeyRefused, match="rejected the API key"):
            await under.gateway.call(spender(), Role.BUILDER, prompt())
        under.secrets[f"account:{ACCOUNT}/SCRIPTED_API_KEY"] = "sk-right"
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert reply.message.text == "hello"


async def test_bot_can_have_its_own_model(store: Store, model_server: StartModels):
    usual, special = model_server(script({"text": "usual"})), model_server(script({"text": "special"}))
    async with open_gateway(store) as under:
        await under.add("usual", usual.url)
        await under.add("special", special.url)
        await under.choose("usual:scripted", role=Role.BOT)
        await under.choose("special:scripted", role=Role.BOT, scope="bot:atlas")
        said_by = [
            (await under.gateway.call(spender(scope=scope), Role.BOT, prompt())).message.text
            for scope in ("", "bot:atlas", "bot:other")
        ]
    assert said_by == ["usual", "special", "usual"]


async def test_model_without_price_is_rejected_with_a_hint(store: Store):
    async with open_gateway(store) as under:
        await under.add("local", "http://127.0.0.1:9", models=())
        await under.choose("local:qwen:7b")
        with pytest.raises(ModelUnknown) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert "forge models price local:qwen:7b" in (caught.value.hint or "")


async def test_key_in_a_provider_error_is_redacted(store: Store, model_server: StartModels):
    fault = {"kind": "400", "message": "bad header: Bearer sk-right-and-secret"}
    server = model_server(script({"text": "hello", "fault": fault}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, key_name="SCRIPTED_API_KEY")
        await under.choose("scripted:scripted")
        under.secrets["SCRIPTED_API_KEY"] = "sk-right-and-secret"
        with pytest.raises(ModelRejected) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert "sk-right" not in caught.value.message and "[key]" in caught.value.message


async def test_silent_model_is_a_fault_and_is_charged(
    store: Store, model_server: StartModels, monkeypatch: pytest.MonkeyPatch
):
    import forge.llm.adapter

    monkeypatch.setattr(forge.llm.adapter, "PAUSE_TIMEOUT_S", 0.3)
    server = model_server(
        script({"text": "A few words and then", "fault": {"kind": "stall", "after": 1, "seconds": 60}})
    )
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        with pytest.raises(ModelFault, match="timed out"):
            await under.gateway.call(spender(), Role.BUILDER, prompt())
        [call] = await under.calls()
    assert call.status is CallStatus.FAILED and call.cost_micros > 0


LOCAL = Price(input=0, output=0, cache_read=0, cache_write=0, context_window=4096, overridden=True)


@pytest.mark.parametrize("kind", list(ProviderKind))
@pytest.mark.parametrize("fault", ["clean_cut", "no_finish_reason"])
async def test_stream_without_a_stop_reason_is_a_fault(
    store: Store, model_server: StartModels, kind: ProviderKind, fault: str
):
    server = model_server(script({"text": "A whole sentence that looks complete.", "fault": fault}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, kind=kind)
        await under.choose("scripted:scripted")
        with pytest.raises(ModelFault, match="without a stop reason"):
            await under.gateway.call(spender(), Role.BUILDER, prompt())


@pytest.mark.parametrize("kind", list(ProviderKind))
async def test_repetition_stops_the_call_and_is_cut_off(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    turn = {"text": '{"child": {"name": "x"}}, ', "fault": {"kind": "repetition", "repeats": 5000}}
    server = model_server(script(turn, delay_s=0.01))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url, kind=kind)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt())
        async with asyncio.timeout(PATIENCE_S):
            while server.stats().disconnected == 0:
                await asyncio.sleep(0.02)
        [call] = await under.calls()
    assert reply.stop is StopReason.REPEATED
    assert reply.message.text.startswith('{"child"') and len(reply.message.text) < 1000
    assert (call.status, call.stop) == (CallStatus.SETTLED, StopReason.REPEATED)
    assert call.usage.output > 500, "what was written before is charged"


async def test_repetition_in_a_tool_call_is_cut_off(store: Store, model_server: StartModels):
    call = {"read_file": {"path": "a.py"}}
    server = model_server(script({"text": "Looking.", "tools": [call], "fault": "repetition"}))
    async with open_gateway(store) as under:
        await under.add("scripted", server.url)
        await under.choose("scripted:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt(tools=[READ]))
    assert (reply.stop, reply.message.text) == (StopReason.REPEATED, "Looking.")
    assert len(reply.message.tool_calls[0].arguments) < 1000


async def test_prompt_that_exceeds_the_context_window_is_not_sent(store: Store, model_server: StartModels):
    server = model_server(script({"text": "hello"}))
    async with open_gateway(store) as under:
        await under.add("local", server.url, models=("tiny",), price=LOCAL)
        await under.choose("local:tiny")
        with pytest.raises(ContextFull) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt("flour " * 4600))
    assert server.requests() == []
    assert caught.value.message == (
        "The request has about 6,903 tokens, but the context window of local:tiny is 4,096 tokens."
    )
    assert "forge models price local:tiny --context" in (caught.value.hint or "")


async def test_requested_output_fits_into_the_context_window(store: Store, model_server: StartModels):
    server = model_server(script({"text": "hello"}))
    async with open_gateway(store) as under:
        await under.add("local", server.url, models=("tiny",), price=LOCAL)
        await under.choose("local:tiny")
        for words in (10, 1800):
            await under.gateway.call(
                spender(str(words)), Role.BUILDER, prompt("flour " * words, max_output=16_000)
            )
    short, long = [entry.body["max_tokens"] for entry in server.requests()]
    assert short == 4096 // 4
    assert 256 < long < 4096 - 1800 * 6 // 4


@pytest.mark.parametrize("server_kind", ["llama_cpp", "vllm", "lm_studio", None])
async def test_context_error_of_the_server_names_both_numbers(
    store: Store, model_server: StartModels, server_kind: str | None
):
    server = model_server(script({"text": "hello"}, server=server_kind, context_window=8192))
    async with open_gateway(store) as under:
        await under.add("local", server.url, kind=ProviderKind.OPENAI)
        await under.choose("local:scripted")
        with pytest.raises(ContextFull) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt("flour " * 8000))
    assert len(server.requests()) == 1
    assert caught.value.message == (
        "The request has 12,019 tokens, but the context window of local:scripted is 8,192 tokens."
    )
    assert "forge models price local:scripted --context 8192" in (caught.value.hint or "")


async def test_output_is_lowered_when_the_server_counts_it(store: Store, model_server: StartModels):
    server = model_server(script({"text": "hello"}, server="vllm", context_window=2000))
    async with open_gateway(store) as under:
        await under.add("local", server.url, kind=ProviderKind.OPENAI)
        await under.choose("local:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt("flour " * 1000, max_output=1500))
    assert reply.message.text == "hello"
    assert [entry.status for entry in server.requests()] == [400, 200]


async def test_loading_server_is_a_fault_that_says_so(store: Store, model_server: StartModels):
    server = model_server(script({"text": "hello", "fault": {"kind": "loading", "retry_after_s": 3}}))
    async with open_gateway(store) as under:
        await under.add("local", server.url, kind=ProviderKind.OPENAI)
        await under.choose("local:scripted")
        with pytest.raises(ModelFault) as caught:
            await under.gateway.call(spender(), Role.BUILDER, prompt())
    assert caught.value.message == f"The model server at {server.url}/v1 is still loading the model."
    assert caught.value.retry_after_s == 3


async def test_unreachable_server_is_named(store: Store):
    async with open_gateway(store) as under:
        await under.add("local", "http://127.0.0.1:1", kind=ProviderKind.OPENAI)
        await under.choose("local:scripted")
        with pytest.raises(
            ModelFault, match=r"The model server at http://127\.0\.0\.1:1/v1 cannot be reached"
        ):
            await under.gateway.call(spender(), Role.BUILDER, prompt())


async def test_message_is_continued_by_a_local_server_unless_it_refuses(
    store: Store, model_server: StartModels
):
    """A server of llama.cpp refuses it for a model that thinks."""
    server = model_server(script({"text": "no", "fault": "400"}, {"text": " and the rest."}))
    messages = [
        user_message("Count"),
        AssistantMessage(parts=[Text(text="one two")]),
        user_message("Go on."),
    ]
    async with open_gateway(store) as under:
        await under.add("local", server.url, kind=ProviderKind.OPENAI, server=ServerKind.LLAMA_CPP)
        await under.choose("local:scripted")
        reply = await under.gateway.call(spender(), Role.BUILDER, prompt(messages=messages, continues=True))
    assert reply.message.text == " and the rest."
    sent = [entry.body["messages"][-1] for entry in server.requests()]
    assert [message["role"] for message in sent] == ["assistant", "user"]
