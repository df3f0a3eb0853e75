"""Bots: on the shelf, talked to, written, and talking to each other."""

from playwright.sync_api import Page
from tests.browser.gallery.scene import Area, House, Scene
from tests.browser.gallery.words import ARABIC, EMOJI, LONG, NAMES, UNBROKEN
from tests.support.chat_server import ChatServer

ANSWER = f"""\
A **willow** wants water; a [hornbeam](https://example.org) bears shears. {LONG}.

```python
def area(width: int, height: int) -> int:
    return width * height  # in metres, and the line goes on for longer than a phone is wide, on purpose
```

| tree | height in metres |
|------|-----------------:|
| willow | 12 |
| {UNBROKEN[:40]} | 4 |

{ARABIC}

- [x] measured
- [ ] planted
"""
SCRIPT = {
    "titling": {
        "match": {"system": "Give the conversation"},
        "turns": [{"text": "Trees for a small garden"}],
    },
    "trees": {"match": {"latest": "tree"}, "turns": [{"text": ANSWER}]},
    "refused": {"match": {"latest": "broken"}, "turns": [{"text": "no", "fault": "400"}]},
}


def furnish(house: House) -> None:
    for name in NAMES:
        house.call("POST", "/api/v1/bots", {"name": name[:60], "description": name})
    for number in range(12):
        house.call("POST", "/api/v1/bots", {"name": f"Helper {number}", "tags": ["many"]})
    given = {"name": "Iris", "description": "Knows gardens. And what grows there.", "tags": ["green"]}
    slug = house.made["bot"] = house.call("POST", "/api/v1/bots", given)["slug"]
    house.call("POST", f"/api/v1/bots/{slug}/skills", {"skill_name": "greeter"})
    _talk(house, slug)
    _remember(house, slug)
    _write(house, slug)


def _talk(house: House, slug: str) -> None:
    chat_server = ChatServer(house.server, house.models)
    session_id = chat_server.ask(slug, f"Which tree? {UNBROKEN}")["session_id"]
    chat_server.ask(slug, f"Something broken. {EMOJI}", session_id=session_id)
    house.made["session"] = session_id
    for _ in range(3):
        chat_server.ask(slug, "Which other tree?")


def _remember(house: House, slug: str) -> None:
    path = f"/api/v1/bots/{slug}/memories"
    for number, fact in enumerate((LONG, UNBROKEN, ARABIC, EMOJI, "Likes willows.")):
        house.call("POST", path, {"fact": fact, "importance": number + 1, "is_pinned": number == 0})


def _write(house: House, slug: str) -> None:
    house.call("POST", "/api/v1/message-channels", {"name": "garden-talk"})
    house.call("PUT", f"/api/v1/message-channels/garden-talk/bots/{slug}")
    for to, body in (({"to": slug}, "Which tree?"), ({"channel": "garden-talk"}, {"word": UNBROKEN})):
        house.call("POST", "/api/v1/messages", {**to, "body": body, "message_type": "information"})


def _attach(page: Page) -> None:
    page.get_by_role("button", name="Attach").click()
    page.get_by_role("dialog").wait_for()


def _open_menu(page: Page) -> None:
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menu").wait_for()


def _add(page: Page) -> None:
    page.get_by_role("button", name="Add").click()
    page.get_by_label("What the bot should know").wait_for()


FRAME = "/bots/$slug"
CHAT = f"{FRAME}/chat/{{-$sessionId}}"

AREA = Area(
    scenes=(
        Scene("bots", "/bots", "/bots", "Iris"),
        Scene("new-bot", "/bots", "/bots?new=true", "Only a name is required"),
        Scene("bot", FRAME, "/bots/{bot}", "Iris"),
        Scene("bot-chat", CHAT, "/bots/{bot}/chat", "where do we start"),
        Scene("bot-conversation", CHAT, "/bots/{bot}/chat/{session}", "Retry"),
        Scene("bot-soul", f"{FRAME}/soul", "/bots/{bot}/soul", "SOUL.md"),
        Scene("bot-soul-version", f"{FRAME}/soul", "/bots/{bot}/soul?version=1", "SOUL.md"),
        Scene("bot-soul-difference", f"{FRAME}/soul", "/bots/{bot}/soul?version=1&with=0", "SOUL.md"),
        Scene("bot-menu", f"{FRAME}/settings", "/bots/{bot}/settings", "Archive and delete", _open_menu),
        Scene("bot-memory", f"{FRAME}/memory", "/bots/{bot}/memory", "Likes willows."),
        Scene("bot-new-memory", f"{FRAME}/memory", "/bots/{bot}/memory", "Likes willows.", _add),
        Scene("bot-skills", f"{FRAME}/skills", "/bots/{bot}/skills", "greeter"),
        Scene("bot-attach", f"{FRAME}/skills", "/bots/{bot}/skills", "greeter", _attach),
        Scene("bot-messages", f"{FRAME}/messages", "/bots/{bot}/messages", "#garden-talk"),
        Scene("bot-settings", f"{FRAME}/settings", "/bots/{bot}/settings", "Archive and delete"),
    ),
    furnish=furnish,
    script=SCRIPT,
)
