"""Scenes of bots: list, chat, files, memory and messages."""

from playwright.sync_api import Page
from tests.browser.gallery.sample_texts import ARABIC, EMOJI, LONG, NAMES, UNBROKEN
from tests.browser.gallery.scene import Area, GalleryServer, Scene
from tests.support.chat_server import ChatServer

ANSWER = f"""\
A **willow** needs water; a [hornbeam](https://example.org) tolerates pruning. {LONG}.

```python
def area(width: int, height: int) -> int:
    return width * height  # in metres; this line is wider than a phone to test scrolling of code blocks
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


def create_data(gallery: GalleryServer) -> None:
    for name in NAMES:
        gallery.call("POST", "/api/v1/bots", {"name": name[:60], "description": name})
    for number in range(12):
        gallery.call("POST", "/api/v1/bots", {"name": f"Helper {number}", "tags": ["many"]})
    bot = {"name": "Iris", "description": "Knows gardens. And what grows there.", "tags": ["green"]}
    slug = gallery.ids["bot"] = gallery.call("POST", "/api/v1/bots", bot)["slug"]
    gallery.call("POST", f"/api/v1/bots/{slug}/skills", {"skill_name": "greeter"})
    _chat(gallery, slug)
    _add_memories(gallery, slug)
    _send_messages(gallery, slug)


def _chat(gallery: GalleryServer, slug: str) -> None:
    chat_server = ChatServer(gallery.server, gallery.models)
    session_id = chat_server.ask(slug, f"Which tree? {UNBROKEN}")["session_id"]
    chat_server.ask(slug, f"Something broken. {EMOJI}", session_id=session_id)
    gallery.ids["session"] = session_id
    for _ in range(3):
        chat_server.ask(slug, "Which other tree?")


def _add_memories(gallery: GalleryServer, slug: str) -> None:
    path = f"/api/v1/bots/{slug}/memories"
    for number, text in enumerate((LONG, UNBROKEN, ARABIC, EMOJI, "Likes willows.")):
        gallery.call("POST", path, {"fact": text, "importance": number + 1, "is_pinned": number == 0})


def _send_messages(gallery: GalleryServer, slug: str) -> None:
    gallery.call("POST", "/api/v1/message-channels", {"name": "garden-talk"})
    gallery.call("PUT", f"/api/v1/message-channels/garden-talk/bots/{slug}")
    for recipient, body in (({"to": slug}, "Which tree?"), ({"channel": "garden-talk"}, {"word": UNBROKEN})):
        gallery.call("POST", "/api/v1/messages", {**recipient, "body": body, "message_type": "information"})


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
    create_data=create_data,
    script=SCRIPT,
)
