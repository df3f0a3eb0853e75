"""Scenes of interviews: new, in progress and at the end."""

from typing import Any

from playwright.sync_api import Page
from tests.browser.gallery.sample_texts import ARABIC, LONG
from tests.browser.gallery.scene import Area, GalleryServer, Scene

PATH = "/api/v1/builder/sessions"
ANSWERS = {
    "ask_question": {"OptionIndex": 0},
    "show_preview": {"Confirm": True},
    "clarify": {"FreeText": "Use the default."},
}


def create_data(gallery: GalleryServer) -> None:
    gallery.ids["interview"] = _start(gallery, "A patient tutor who explains mathematics")["session_id"]
    gallery.ids["review"] = _finish(gallery, _start(gallery, f"Answers customers. {LONG}."))
    gallery.ids["skill_review"] = _finish(
        gallery, _start(gallery, "Counts the words of a text", mode="skill")
    )
    _start(gallery, ARABIC)


def _start(gallery: GalleryServer, description: str, **options: str) -> dict[str, Any]:
    return gallery.call("POST", PATH, {"description": description, "speaker": "guide", **options})


def _finish(gallery: GalleryServer, view: dict[str, Any]) -> str:
    while (action := view["turn"]["action"]) in ANSWERS:
        view = gallery.call("POST", f"{PATH}/{view['session_id']}/answer", {"answer": ANSWERS[action]})
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
    create_data=create_data,
)
