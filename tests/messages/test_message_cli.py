"""`forge message` against a running server."""

from collections.abc import Iterator

import pytest
from tests.messages.messaging import SCENES
from tests.support.chat_server import ChatServer, open_chat_server
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal


@pytest.fixture(scope="module")
def chat_server(server: Server) -> Iterator[ChatServer]:
    with open_chat_server(server, SCENES) as opened:
        for name in ("Ada", "Bob"):
            opened.make_bot(name)
        yield opened


@pytest.fixture
def forge(server: Server, chat_server: ChatServer) -> Terminal:
    return Terminal(server.data_dir)


def test_wait_prints_the_reply(forge: Terminal):
    more = ("--to", "bob", "--from", "ada", "--type", "question", "--wait", "--timeout", "100")
    result = forge("message", "send", *more, "When does the tide turn?")
    assert (result.code, result.out.strip()) == (0, "It turns at six.")
    history = forge("message", "history", "ada", "bob")
    question_at, answer_at = history.out.index("When does"), history.out.index("It turns")
    assert question_at < answer_at and "Ada (ada, sent by Owner)" in history.out
    assert forge("message", "history", "bob", "--limit", "1", "--json").data[0]["body"] == "It turns at six."


def test_message_without_wait_is_shown_later(forge: Terminal):
    sent = forge("message", "send", "--to", "ada", "--json", "-", stdin='{"tide": [1, 2]}').data["message"]
    assert sent["body"] == {"tide": [1, 2]}
    page = wait_until(
        lambda: found if "answered" in (found := forge("message", "show", sent["id"]).out) else None,
        what="the delivery",
    )
    assert "Owner" in page and '"tide"' in page
    assert forge("message", "show", sent["id"][:-1], "--json").data["id"] == sent["id"]
    again = forge("message", "send", "--to", "ada", "--reply-to", sent["id"][:-1], "--json", "And now?").data
    assert again["message"]["reply_to"] == sent["id"]
    missing = forge("message", "show", "not/there")
    assert (missing.code, "forge message history BOT" in missing.err) == (5, True)


def test_failed_send_has_an_exit_code(forge: Terminal, server: Server):
    late = forge("message", "send", "--to", "bob", "--wait", "--timeout", "1", "Tell it slowly")
    assert late.code == 1 and "No reply yet" in late.err
    server.call("PATCH", "/api/v1/bots/ada", {"status": "disabled"})
    disabled = forge("message", "send", "--to", "ada", "--wait", "Hello")
    server.call("PATCH", "/api/v1/bots/ada", {"status": "active"})
    assert disabled.code == 1 and "ada is disabled" in disabled.err
    assert forge("message", "send", "Hello").code == 2
    assert forge("message", "send", "--channel", "news", "--wait", "Hello").code == 2
    assert forge("message", "send", "--to", "unknown", "Hello").code == 5


def test_bot_subscribes_to_a_channel(forge: Terminal):
    assert "bob" in forge("message", "subscribe", "bob", "news").out
    sent = forge("message", "send", "--channel", "news", "--type", "information", "A new release")
    assert "Sent to 1 bot." in sent.out
    (channel,) = forge("message", "channels", "--json").data
    assert (channel["name"], channel["bots"], channel["messages"]) == ("news", ["bob"], 1)
    assert "A new release" in forge("message", "channel-history", "news").out
    invalid = forge("message", "subscribe", "bob", "#news")
    assert (invalid.code, "name: must begin with a lowercase letter or digit" in invalid.err) == (2, True)
    assert forge("message", "unsubscribe", "bob", "news").code == 0
    assert forge("message", "unsubscribe", "bob", "news").code == 5
    assert "none" in forge("message", "channels").out
