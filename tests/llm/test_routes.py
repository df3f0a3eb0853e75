"""Models over HTTP, in a complete Forge, on both databases."""

from itertools import product
from typing import Any

import httpx2
import pytest
from tests.support.live_forge import Live, live, settings_for
from tests.support.models import KEY, StartModels

from forge.accounts.models import NewKey
from forge.errors import ConfigError
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope

MODELS = "/api/v1/models"
JSON = {"Content-Type": "application/json"}


def data(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def error(answer: httpx2.Response) -> tuple[int, str]:
    assert answer.json()["errors"][0]["message"]
    return answer.status_code, answer.json()["errors"][0]["code"]


async def test_configured_provider_price_and_role_allow_model_call(
    live_forge: Live, model_server: StartModels
):
    server = model_server()
    async with live_forge.client() as client:
        provider = {"kind": "anthropic", "base_url": server.url, "key_name": "SCRIPTED_KEY"}
        added = data(await client.put(f"{MODELS}/providers/scripted", json=provider))
        local = {"server": None, "parallel": None}
        assert added == {
            "name": "scripted",
            "built_in": False,
            "is_shared": False,
            "has_key": False,
            "last_four": "",
            **local,
            **provider,
        }
        data(await client.put("/api/v1/secrets/SCRIPTED_KEY", json={"value": KEY}))
        said = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, "context_window": 200_000}
        ref = "scripted:actors/one:7b"
        price = data(await client.put(f"{MODELS}/prices", params={"model": ref}, json=said))
        assert price == {**said, "overridden": True, "detected": False, "text_tool_calls": None}
        chosen = data(await client.put(f"{MODELS}/roles/utility", json={"chain": [ref]}))
        assert chosen == {
            "role": "utility",
            "chain": [ref],
            "source": "account",
            "prices": [price],
            "problem": None,
        }
        result = data(await client.post(f"{MODELS}/test", json={"model": ref}))
        assert (result["ok"], bool(result["answer"])) == (True, True), result
        view = data(await client.get(MODELS))
        assert view["today_by_model"] == {ref: result["cost_micros"]}
        assert [p["last_four"] for p in view["providers"] if p["name"] == "scripted"] == [KEY[-4:]]
        [call] = data(await client.get(f"{MODELS}/calls"))
        assert (call["model"], call["stop"], call["status"]) == ("actors/one:7b", "end", "settled")
        assert data(await client.get(f"{MODELS}/calls", params={"run_id": "none"})) == []
        assert error(await client.delete(f"{MODELS}/providers/scripted")) == (409, "conflict")
        assert error(await client.delete(f"{MODELS}/prices", params={"model": ref})) == (409, "conflict")
        assert data(await client.delete(f"{MODELS}/roles/utility"))["source"] == "default"
        data(await client.delete(f"{MODELS}/prices", params={"model": ref}))
        data(await client.delete(f"{MODELS}/providers/scripted"))


async def test_invalid_key_is_a_test_result_with_a_hint(live_forge: Live, model_server: StartModels):
    server = model_server({"keys": [KEY]})
    async with live_forge.client() as client:
        provider = {"kind": "anthropic", "base_url": server.url, "key_name": "WRONG"}
        data(await client.put(f"{MODELS}/providers/scripted", json=provider))
        data(await client.put("/api/v1/secrets/WRONG", json={"value": "sk-wrong-0123456789"}))
        data(await client.put(f"{MODELS}/prices?model=scripted:actor", json={"input": 0, "output": 0}))
        result = data(await client.post(f"{MODELS}/test", json={"model": "scripted:actor"}))
    assert (result["ok"], result["code"], bool(result["hint"])) == (False, "model_key", True)


BAD_INPUT: list[tuple[str, str, Any, tuple[int, str]]] = [
    ("PUT", "/roles/king", {"chain": ["claude-sonnet-4-5"]}, (422, "invalid")),
    ("PUT", "/roles/builder", {"chain": []}, (422, "invalid")),
    ("PUT", "/roles/builder", {"chain": ["claude-sonnet-4-5"] * 6}, (422, "invalid")),
    ("PUT", "/roles/builder", {"chain": ["x" * 300]}, (422, "invalid")),
    ("PUT", "/roles/builder", {"chain": ["a b"]}, (422, "invalid")),
    ("PUT", "/roles/builder", {"chain": ["nobody:x"]}, (404, "model_unknown")),
    ("PUT", "/roles/builder", {"chain": ["claude-nobody"]}, (404, "model_unknown")),
    ("PUT", "/roles/builder?scope=everything", {"chain": ["claude-sonnet-4-5"]}, (422, "invalid")),
    ("GET", "?scope=bot:%00", None, (422, "invalid")),
    ("PUT", "/providers/No", {"kind": "openai", "base_url": "http://x"}, (422, "invalid")),
    ("PUT", "/providers/own", {"kind": "openai"}, (422, "invalid")),
    ("PUT", "/providers/own", {"kind": "magic", "base_url": "http://x"}, (422, "invalid")),
    ("PUT", "/providers/own", {"kind": "openai", "base_url": "file:///etc"}, (422, "invalid")),
    ("PUT", "/providers/own", {"kind": "openai", "base_url": "http://" + "x" * 600}, (422, "invalid")),
    (
        "PUT",
        "/providers/own",
        {"kind": "openai", "base_url": "http://x", "key_name": "a b"},
        (422, "invalid"),
    ),
    ("DELETE", "/providers/own", None, (404, "not_found")),
    ("PUT", "/prices?model=claude-x", {"input": -1, "output": 0}, (422, "invalid")),
    ("PUT", "/prices?model=claude-x", {"input": 1e9, "output": 0}, (422, "invalid")),
    ("PUT", "/prices?model=claude-x", {"input": 1}, (422, "invalid")),
    (
        "PUT",
        "/prices?model=claude-x",
        {"input": 1, "output": 1, "context_window": 10**30},
        (422, "invalid"),
    ),
    ("PUT", "/prices?model=a%00b", {"input": 1, "output": 1}, (422, "invalid")),
    ("PUT", "/prices?model=nobody:x", {"input": 1, "output": 1}, (404, "model_unknown")),
    ("PUT", "/prices", {"input": 1, "output": 1}, (422, "invalid")),
    ("DELETE", "/prices?model=claude-sonnet-4-5", None, (404, "not_found")),
    ("PUT", "/budgets/year", {"limit_usd": 1}, (422, "invalid")),
    ("PUT", "/budgets/day", {"limit_usd": -0.01}, (422, "invalid")),
    ("PUT", "/budgets/day", {"limit_usd": 1e300}, (422, "invalid")),
    ("POST", "/test", {}, (422, "invalid")),
    ("GET", "/calls?run_id=%00", None, (422, "invalid")),
    ("GET", "/calls?cursor=nonsense", None, (400, "malformed")),
]


async def test_invalid_input_is_rejected_with_a_reason(live_forge: Live):
    async with live_forge.client() as client:
        for method, path, body, expected in BAD_INPUT:
            answer = await client.request(method, MODELS + path, json=body)
            assert error(answer) == expected, (method, path, body)


async def test_non_finite_number_is_rejected_as_amount(live_forge: Live):
    async with live_forge.client() as client:
        for number, path in product(
            ("NaN", "Infinity", "-Infinity"), ("/prices?model=claude-x", "/budgets/day")
        ):
            body = f'{{"input": {number}, "output": 1, "limit_usd": {number}}}'
            answer = await client.put(MODELS + path, content=body, headers=JSON)
            assert error(answer) == (422, "invalid"), (number, path)


READ, WRITE, ADMIN = Scope.READ, Scope.WRITE, Scope.ADMIN


@pytest.mark.parametrize("scope", Scope)
async def test_route_requires_its_scope(live_forge: Live, scope: Scope):
    routes: list[tuple[str, str, Any, Scope]] = [
        ("GET", "", None, READ),
        ("GET", "/calls", None, READ),
        ("POST", "/test", {"model": "nobody:x"}, WRITE),
        ("PUT", "/roles/bot", {"chain": ["claude-sonnet-4-5"]}, ADMIN),
        ("DELETE", "/roles/bot", None, ADMIN),
        ("PUT", "/providers/own", {"kind": "openai", "base_url": "http://127.0.0.1:1"}, ADMIN),
        ("DELETE", "/providers/own", None, ADMIN),
        ("PUT", "/prices?model=claude-x", {"input": 1, "output": 1}, ADMIN),
        ("DELETE", "/prices?model=claude-x", None, ADMIN),
        ("PUT", "/budgets/day", {"limit_usd": 1}, ADMIN),
    ]
    owner = Caller(live_forge.account_id, "Owner", frozenset({ADMIN}), CallerMethod.SESSION, "a-session")
    created = await live_forge.forge.accounts.create_key(owner, NewKey(name="k", scopes=[scope]))
    async with live_forge.client(Authorization=f"Bearer {created.key}") as client:
        for method, path, body, needs in routes:
            answer = await client.request(method, MODELS + path, json=body)
            assert (answer.status_code == 403) is (needs not in scope.included), (method, path)


async def test_model_in_settings_without_price_prevents_start(database_url: str, tmp_path: Any):
    settings = settings_for(
        tmp_path / "data", database_url, llm_builder_model="claude-nobody", llm_planner_model="nobody:x"
    )
    with pytest.raises(ConfigError) as caught:
        async with live(settings):
            pass
    assert caught.value.problems == [
        "LLM_BUILDER_MODEL: There is no price for anthropic:claude-nobody.",
        "LLM_PLANNER_MODEL: There is no provider named 'nobody' (in nobody:x).",
    ]
    assert "forge models price" in (caught.value.hint or "")


async def test_custom_price_allows_start(database_url: str, tmp_path: Any):
    async with live(settings_for(tmp_path / "data", database_url)) as first, first.client() as client:
        data(await client.put(f"{MODELS}/prices?model=claude-mine", json={"input": 1, "output": 5}))
    again = settings_for(tmp_path / "data", database_url, llm_builder_model="claude-mine")
    async with live(again) as second, second.client() as client:
        roles = {role["role"]: role for role in data(await client.get(MODELS))["roles"]}
    assert (roles["builder"]["chain"], roles["builder"]["source"]) == (["claude-mine"], "default")
    assert roles["builder"]["prices"][0]["input"] == 1


async def test_default_models_have_prices(live_forge: Live):
    async with live_forge.client() as client:
        roles = data(await client.get(MODELS))["roles"]
    assert [role["role"] for role in roles if None in role["prices"]] == []
