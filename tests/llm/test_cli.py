"""`forge models`, against a real server."""

from collections.abc import Iterator

import pytest
from tests.support.models import KEY, ModelServer, open_models
from tests.support.server import Server
from tests.support.terminal import Terminal

from forge.llm.models import Role


@pytest.fixture(scope="module")
def scripted(server: Server) -> Iterator[ModelServer]:
    """A model server that Forge knows as `demo`, with a free model called `actor`."""
    with open_models({"keys": [KEY]}) as running:
        server.call("PUT", "/api/v1/secrets/DEMO_KEY", {"value": KEY})
        provider = {"kind": "anthropic", "base_url": running.url, "key_name": "DEMO_KEY"}
        server.call("PUT", "/api/v1/models/providers/demo", provider)
        server.call("PUT", "/api/v1/models/prices?model=demo:actor", {"input": 3, "output": 15})
        yield running


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


def test_list_shows_roles_providers_and_budgets(forge: Terminal):
    said = forge("models", "list")
    assert said.code == 0
    for words in (
        "builder",
        "claude-opus-4-6",
        "$5 / $25",
        "ANTHROPIC_API_KEY is not set",
        "all accounts today",
    ):
        assert words in said.out, said.out
    view = forge("models", "list", "--json").data
    assert [role["role"] for role in view["roles"]][:3] == ["interviewer", "planner", "builder"]


def test_chain_is_set_and_reset(forge: Terminal):
    said = forge("models", "set", "auditor", "claude-opus-4-6, openai:gpt-5")
    assert (said.code, said.out) == (0, "auditor: anthropic:claude-opus-4-6, openai:gpt-5\n")
    assert "gpt-5" in forge("models", "list").out
    assert forge("models", "reset", "auditor", "--json").data["source"] == "default"


def test_bot_can_have_its_own_models(forge: Terminal, server: Server):
    assert forge("models", "list", "--bot", "atlas").code == 5
    server.call("POST", "/api/v1/bots", {"name": "Atlas"})
    assert forge("models", "set", "bot", "openai:gpt-5", "--bot", "atlas").code == 0
    roles = {role["role"]: role for role in forge("models", "list", "--bot", "atlas", "--json").data["roles"]}
    assert (roles["bot"]["chain"], roles["bot"]["source"]) == (["openai:gpt-5"], "bot")
    assert "gpt-5" not in forge("models", "list").out
    assert forge("models", "reset", "bot", "--bot", "atlas").code == 0


def test_model_without_price_error_has_hint(forge: Terminal):
    said = forge("models", "set", "builder", "claude-nobody")
    assert said.code == 5
    assert "forge models price anthropic:claude-nobody --input 1 --output 5" in said.err


def test_custom_provider_end_to_end(forge: Terminal):
    added = forge("models", "provider", "gate", "--url", "http://127.0.0.1:1/v1", "--key", "GATE_KEY")
    assert (added.code, "gate  openai API at http://127.0.0.1:1/v1" in added.out) == (0, True)
    assert "There is no key for gate" in added.out
    assert "Saved gate." in added.err and "forge secrets set GATE_KEY" in added.err
    assert forge("models", "provider", "gate").code == 1, "it still cannot be asked"
    unknown = forge("models", "price", "gate:qwen/coder:7b", "--input", "0", "--output", "0")
    assert unknown.code == 2 and "--context" in unknown.err
    priced = forge(
        "models", "price", "gate:qwen/coder:7b", "--input", "0", "--output", "0", "--context", "32000"
    )
    assert priced.out == "gate:qwen/coder:7b: $0 in, $0 out per million tokens, context window 32,000.\n", (
        priced.err
    )
    assert "gate:qwen/coder:7b" in forge("models", "list").out
    assert forge("models", "set", "utility", "gate:qwen/coder:7b").code == 0
    assert forge("models", "provider", "gate", "--remove").code == 6
    assert forge("models", "reset", "utility").code == 0
    assert forge("models", "price", "gate:qwen/coder:7b", "--remove").code == 0
    assert forge("models", "provider", "gate", "--remove").out == "Removed gate.\n"


def test_local_server_is_set_up_with_two_commands(forge: Terminal):
    call = {"match": {"latest": "Call the tool"}, "turns": [{"tools": [{"report": {"word": "ready"}}]}]}
    script = {"server": "llama_cpp", "models": ["tiny"], "context_window": 8192, "scenes": {"call": call}}
    with open_models(script) as running:
        added = forge("models", "provider", "llama_cpp", "--url", f"{running.url}/v1")
        assert added.code == 0, added.err
        for words in (
            f"llama_cpp  llama.cpp at {running.url}/v1, 1 at a time",
            "8,192",
            "tool calls   work",
            "JSON schemas followed",
            "forge models set all llama_cpp:tiny",
        ):
            assert words in added.out, added.out
        chosen = forge("models", "set", "all", "llama_cpp:tiny")
        assert chosen.out.splitlines() == [f"{role}: llama_cpp:tiny" for role in Role]
        assert forge("models", "test").code == 0
        again = forge("models", "provider", "llama_cpp", "--json").data
        assert (again["trial"]["model"], again["models"][0]["context_window"]) == ("llama_cpp:tiny", 8192)
        assert forge("models", "price", "llama_cpp:tiny", "--context", "4096").code == 0
        assert "4,096" in forge("models", "price", "llama_cpp:tiny", "--context", "4096").out
    reset = forge("models", "reset", "all", "--json").data
    assert {choice["source"] for choice in reset} == {"default"}
    assert forge("models", "price", "llama_cpp:tiny", "--remove").code == 0
    assert forge("models", "provider", "llama_cpp", "--remove").code == 0


def test_models_test_shows_answer_and_cost(forge: Terminal, scripted: ModelServer):
    said = forge("models", "test", "demo:actor")
    assert said.code == 0
    assert "● ok  demo:actor" in said.out and "$0" in said.out, said.out
    result = forge("models", "test", "demo:actor", "--json").data[0]
    assert (result["ok"], result["cost_micros"] > 0) == (True, True)
    calls = forge("models", "calls")
    assert "demo:actor" in calls.out and "utility" in calls.out
    run = forge("runs", "start", "self_test", "--json").data["id"]
    assert forge("models", "calls", "--run", run[:-1], "--json").data == []
    assert "TODAY BY MODEL" in forge("models", "list").out


def test_failed_models_test_shows_hint(forge: Terminal):
    said = forge("models", "test", "claude-sonnet-4-5")
    assert said.code == 1
    assert "hint: Set it: forge secrets set ANTHROPIC_API_KEY" in said.out


def test_models_test_without_argument_tests_each_used_model_once(forge: Terminal):
    said = forge("models", "test", "--json")
    assert said.code == 1
    assert [result["model"] for result in said.data] == ["claude-sonnet-4-5", "claude-opus-4-6"]


def test_budget_is_set_in_dollars(forge: Terminal):
    assert forge("models", "budget", "run", "2.5").out == "One run: at most $2.50.\n"
    assert forge("models", "budget", "day", "0.25", "--json").data["limit_micros"] == 250_000
    assert forge("models", "budget", "day", "50").out == "Today: at most $50.00.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["set", "king", "claude-sonnet-4-5"], 2),
        (["set", "builder", "two words"], 2),
        (["set", "builder", ""], 2),
        (["set", "builder", "nobody:x"], 5),
        (["set", "bot", "claude-sonnet-4-5", "--bot", "../etc"], 2),
        (["price", "claude-x"], 2),
        (["price", "claude-x", "--input", "1"], 2),
        (["price", "claude-x", "--input", "1", "--output", "1", "--remove"], 2),
        (["price", "claude-x", "--input", "nan", "--output", "1"], 2),
        (["price", "claude-x", "--input", "-1", "--output", "1"], 2),
        (["price", "claude-x", "--remove"], 5),
        (["provider", "own"], 2),
        (["provider", "own", "--kind", "openai"], 2),
        (["provider", "../keys", "--remove"], 5),
        (["provider", "own", "--remove"], 5),
        (["budget", "year", "1"], 2),
        (["budget", "day", "inf"], 2),
        (["budget", "day", "-1"], 2),
        (["calls", "--run", "no-such-run"], 5),
    ],
)
def test_error_has_its_exit_code(forge: Terminal, arguments: list[str], code: int):
    said = forge("models", *arguments)
    assert (said.code, said.out) == (code, "")
    assert said.err and "Traceback" not in said.err


def test_demo_model_is_used_for_roles_without_choice(forge: Terminal):
    assert forge("models", "set", "auditor", "openai:gpt-5").code == 0
    with open_models() as running:
        said = forge("models", "demo", "--url", running.url)
        assert (said.code, "because you chose their models: auditor." in said.out) == (0, True), said.err
        chains = {role["role"]: role["chain"] for role in forge("models", "list", "--json").data["roles"]}
        assert (chains["bot"], chains["auditor"]) == (["demo:scripted"], ["openai:gpt-5"])
    away = forge("models", "demo", "--url", running.url)
    assert (away.code, "forge models serve" in away.err) == (3, True)
    assert forge("models", "demo", "--off").code == 0
    sources = {role["source"] for role in forge("models", "list", "--json").data["roles"]}
    assert sources == {"default", "account"}
    assert forge("models", "reset", "auditor").code == 0
