"""`forge bots memories`, against a real server."""

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal


@pytest.fixture(scope="module")
def forge(server: Server) -> Terminal:
    terminal = Terminal(server.data_dir)
    assert terminal("bots", "create", "Atlas").code == 0
    return terminal


@pytest.fixture
def memories(forge: Terminal):
    """Return the command for a bot without memories."""

    def run(verb: str, *arguments: str):
        return forge("bots", "memories", verb, "atlas", *arguments)

    assert run("forget", "--all", "--yes").code == 0
    return run


def test_memory_is_added_changed_pinned_recalled_and_forgotten(memories):
    added = memories(
        "add", "Lives in Lisbon.", "--category", "context", "--importance", "4", "--pin", "--json"
    ).data
    assert (added["fact"], added["category"], added["importance"], added["is_pinned"], added["author"]) == (
        "Lives in Lisbon.",
        "context",
        4,
        True,
        "person",
    )
    id_prefix = added["id"][:-2]
    assert memories("unpin", id_prefix, "--json").data["is_pinned"] is False
    assert memories("pin", added["id"], "--json").data["is_pinned"] is True
    changed = memories("change", id_prefix, "--fact", "Lives in Porto.", "--importance", "5", "--json").data
    assert (changed["fact"], changed["importance"]) == ("Lives in Porto.", 5)
    assert memories("list", "--json").data == [changed]
    assert memories("list", "--category", "decision", "--json").data == []
    assert "📌 Lives in Porto." in memories("list").out
    [match] = memories("recall", "Porto", "--json").data
    assert (match["memory"]["id"], match["by"]) == (added["id"], "meaning")
    recalled = memories("recall", "Porto")
    assert "Lives in Porto." in recalled.out and recalled.err == "Searched by meaning.\n"
    assert "Pinned memories are always included." in memories("recall", "the price of copper").err
    assert memories("forget", id_prefix).out == "Forgotten: Lives in Porto.\n"
    assert memories("list").err == "No memories found.\n"


def test_invalid_commands_fail(memories, forge: Terminal):
    assert memories("add", "  ").code == 2
    assert memories("add", "x" * 1001).code == 2
    assert memories("add", "nul \x00 byte").code == 2
    unknown = memories("change", "0" * 8, "--fact", "x")
    assert unknown.code == 5 and "forge bots memories list atlas" in unknown.err
    assert memories("change", "0" * 8).code == 2
    assert memories("forget").code == 2
    assert memories("forget", "abc", "--all").code == 2
    assert forge("bots", "memories", "list", "nobody").code == 5
    memories("add", "Only once.")
    again = memories("add", "only once")
    assert again.code == 6 and "already" in again.err


def test_forgetting_everything_needs_confirmation(memories, server: Server):
    for fact in ("One thing.", "Another thing."):
        memories("add", fact)
    assert memories("forget", "--all").code == 2
    assert len(memories("list", "--json").data) == 2
    assert memories("forget", "--all", "--yes").out == "Memories deleted: 2.\n"
    assert server.call("GET", "/api/v1/bots/atlas/memories") == []


def test_server_reports_how_it_recalls(server: Server):
    assert server.call("GET", "/api/v1/memories/way") == {
        "by": "meaning",
        "model": "all-MiniLM-L6-v2-int8",
        "hint": None,
    }
