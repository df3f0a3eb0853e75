"""Interviews in a browser led by a scripted model."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Visitor
from tests.browser.test_accessibility import problems
from tests.interview.browser.steps import TUTOR, begin, choose, create_button, question
from tests.support.chat_server import MODEL
from tests.support.interview_scripts import ask, interview_script, ready
from tests.support.models import KEY, open_models
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

NAME_QUESTION = ask("What shall the tutor be called?", "Euler", "Gauss", field="name", phase="basics")
SLOW_QUESTION: dict[str, Any] = {
    "tools": [
        {
            "answer": ask(
                "And " + "very " * 200 + "slowly: how should it talk?",
                "Warm",
                "Dry",
                field="tone",
                phase="personality",
            )
        }
    ],
    "delay_s": 0.2,
}
TONE_QUESTION = ask("How should the tutor talk?", "Warm", "Dry", field="tone", phase="personality")


@pytest.fixture(scope="module")
def model(server: Server) -> Iterator[None]:
    """Choose the model for the role without setting its key."""
    script = interview_script(
        [NAME_QUESTION, TONE_QUESTION, SLOW_QUESTION, ready(name="Euler", tone="warm", model="default")]
    )
    with open_models(script) as models:
        provider = {"kind": "anthropic", "base_url": models.url, "key_name": "SCRIPTED_KEY"}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        server.call("PUT", "/api/v1/models/roles/interviewer", {"chain": [MODEL]})
        yield


def interviewer(page: Page):
    return page.get_by_role("region", name="Interviewer")


@pytest.mark.usefixtures("model")
def test_model_set_up_during_the_interview_takes_over(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    visitor.open("/forge")
    expect(page.get_by_text("No model configured")).to_be_visible()
    begin(visitor)
    expect(interviewer(page)).to_contain_text("Built-in questions")
    interviewer(page).get_by_role("button", name="Set up a model").click()
    dialog = page.get_by_role("dialog", name="Set up a model")
    dialog.get_by_label("Key").fill(KEY)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(interviewer(page)).to_contain_text("talker asks")
    choose(page)
    expect(question(page)).to_have_text("How should the tutor talk?")
    expect(interviewer(page)).to_contain_text("$")
    interviewer(page).get_by_role("button", name="Built-in questions").click()
    expect(interviewer(page)).to_contain_text("You chose Forge's own questions.")
    choose(page)
    expect(question(page)).not_to_contain_text("slowly")
    visitor.open("/forge")
    expect(page.get_by_text("talker asks")).to_be_visible()
    assert server.call("GET", "/api/v1/builder/drafts")[0]["question_count"] == 2


@pytest.mark.usefixtures("model")
def test_streamed_text_appears_and_can_be_cancelled(visit: Visit, server: Server):
    server.call("PUT", "/api/v1/secrets/SCRIPTED_KEY", {"value": KEY})
    visitor = visit()
    page = visitor.page
    visitor.open("/forge")
    page.get_by_label("What should your bot do").fill(TUTOR)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile("/forge/.+"))
    expect(question(page)).to_have_text("What shall the tutor be called?")
    choose(page)
    expect(question(page)).to_have_text("How should the tutor talk?")
    choose(page, "Warm")
    expect(page.get_by_text("talker is thinking…")).to_be_visible()
    expect(page.get_by_text("And very very very")).to_be_visible()
    assert problems(page) == []
    page.reload()
    expect(page.get_by_text("talker is thinking…")).to_be_visible()
    page.keyboard.press("Escape")
    expect(question(page)).to_have_text("How should the tutor talk?")
    expect(page.get_by_role("complementary", name="Preview")).to_contain_text("Euler")
    interviewer(page).get_by_role("button", name="Built-in questions").click()
    expect(interviewer(page)).to_contain_text("You chose Forge's own questions.")
    for _ in range(12):
        if create_button(page).is_visible():
            break
        choose(page)
    expect(page.get_by_label("Name")).to_have_value("Euler")
