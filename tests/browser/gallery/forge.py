"""Interviews: begun, in the middle, at the end."""

from typing import Any

from playwright.sync_api import Page
from tests.browser.gallery.scene import Area, House, Scene
from tests.browser.gallery.words import ARABIC, LONG

PATH = "/api/v1/builder/sessions"
ANSWERS = {
    "ask_question": {"OptionIndex": 0},
    "show_preview": {"Confirm": True},
    "clarify": {"FreeText": "As you think best."},
}


def furnish(house: House) -> None:
    house.made["interview"] = _begin(house, "A patient tutor who explains mathematics")["session_id"]
    house.made["review"] = _to_the_end(house, _begin(house, f"Answers customers. {LONG}."))
    house.made["skill_review"] = _to_the_end(house, _begin(house, "Counts the words of a text", mode="skill"))
    _begin(house, ARABIC)


def _begin(house: House, description: str, **more: str) -> dict[str, Any]:
    return house.call("POST", PATH, {"description": description, "speaker": "guide", **more})


def _to_the_end(house: House, view: dict[str, Any]) -> str:
    while (action := view["turn"]["action"]) in ANSWERS:
        view = house.call("POST", f"{PATH}/{view['session_id']}/answer", {"answer": ANSWERS[action]})
    return view["session_id"]


def _chat(page: Page) -> None:
    page.get_by_text("Chat", exact=True).click()
    page.get_by_role("region", name="Conversation").wait_for()


INTERVIEW = "/forge/$sessionId"

AREA = Area(
    scenes=(
        Scene("forge", "/forge", "/forge", "Drafts"),
        Scene("forge-skill", "/forge", "/forge?mode=skill", "Drafts"),
        Scene("forge-batch", "/forge", "/forge?mode=batch", "Drafts"),
        Scene("interview", INTERVIEW, "/forge/{interview}", "Preview"),
        Scene("interview-chat", INTERVIEW, "/forge/{interview}", "Preview", _chat),
        Scene("interview-review", INTERVIEW, "/forge/{review}", "Create"),
        Scene("interview-skill-review", INTERVIEW, "/forge/{skill_review}", "Create"),
    ),
    furnish=furnish,
)
