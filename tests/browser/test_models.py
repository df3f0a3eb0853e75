"""Models, providers, prices and budgets in the browser, with calls of the scripted model server."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import PHONE, Visitor
from tests.support.models import KEY, ModelServer, open_models

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def scripted() -> Iterator[ModelServer]:
    with open_models({"keys": [KEY]}) as scripted_server:
        yield scripted_server


def item(page: Page, list_name: str, name: str):
    return page.get_by_role("list", name=list_name).get_by_role("listitem", name=name, exact=True)


def add_provider(page: Page, name: str, url: str, secret: str) -> None:
    page.get_by_role("button", name="Add a provider").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("radio", name=re.compile("Anthropic")).check(force=True)
    page.get_by_label("Base URL", exact=True).fill(url)
    page.get_by_label("Secret that holds the key", exact=True).fill(secret)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def set_key(page: Page, provider: str, key: str) -> None:
    page.get_by_role("button", name=f"Set key of {provider}").click()
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_provider_key_price_and_model_can_be_configured(visit: Visit, scripted: ModelServer):
    page = visit().page
    page.goto(page.url + "settings/models")
    onboarding = page.get_by_role("region", name="No model is configured")
    expect(onboarding).to_contain_text("forge models serve")

    add_provider(page, "demo", scripted.url, "DEMO_KEY")
    demo = item(page, "Providers", "demo")
    expect(demo).to_contain_text("no key")
    set_key(page, "demo", "sk-wrong-key")
    expect(demo).to_contain_text("key set")

    page.get_by_role("button", name="Change utility").click()
    page.get_by_label("Model", exact=True).fill("demo:scripted")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no price for demo:scripted.")
    page.get_by_role("button", name="Set a price for demo:scripted").click()
    page.get_by_label("Input", exact=True).fill("3")
    page.get_by_label("Output", exact=True).fill("15")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("Model", exact=True).wait_for()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(item(page, "Roles", "utility")).to_contain_text("$3 in, $15 out")
    expect(onboarding).to_have_count(0)

    page.get_by_role("button", name="Test utility").click()
    expect(page.get_by_role("alert")).to_contain_text("rejected the API key")
    page.keyboard.press("Escape")
    set_key(page, "demo", KEY)
    page.get_by_role("button", name="Test demo").click()
    outcome = page.get_by_role("dialog")
    expect(outcome).to_contain_text("This answer comes from a script")
    expect(outcome).to_contain_text(re.compile(r"\$0\.00\d+"))
    page.keyboard.press("Escape")

    calls = page.get_by_role("table", name="Recent calls")
    expect(calls.get_by_role("row", name=re.compile("demo:scripted"))).to_have_count(2)
    expect(page.get_by_role("progressbar", name=re.compile("^Your daily limit"))).to_have_attribute(
        "aria-label", re.compile(r"\$0\.00\d+ of \$50")
    )
    assert KEY not in page.content()


def test_budget_can_be_changed_and_price_added_and_removed(visit: Visit):
    page = visit(viewport=PHONE).page
    page.goto(page.url + "settings/models")
    page.get_by_role("button", name="Change your daily limit").click()
    page.get_by_label("Limit in dollars").fill("7.5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("of $7.50")).to_be_visible()

    page.get_by_role("button", name="Set a price").click()
    page.get_by_label("Model", exact=True).fill("openai:own-model")
    page.get_by_label("Input", exact=True).fill("0.5")
    page.get_by_label("Output", exact=True).fill("2")
    page.get_by_role("button", name="Save").click()
    price = item(page, "Your prices", "openai:own-model")
    expect(price).to_contain_text("$0.5 in, $2 out, $0.5 cache read")
    price.get_by_role("button", name="Remove").click()
    expect(price).to_have_count(0)


def test_model_chain_can_be_reordered_and_reset(visit: Visit):
    page = visit().page
    page.goto(page.url + "settings/models")
    page.get_by_role("button", name="Change auditor").click()
    page.get_by_role("button", name="Add a fallback").click()
    page.get_by_label("Fallback 1", exact=True).fill("openai:gpt-5")
    page.get_by_role("button", name="Move Fallback 1 up").click()
    page.get_by_role("button", name="Save").click()
    auditor = item(page, "Roles", "auditor")
    expect(auditor.get_by_role("listitem")).to_contain_text(
        ["openai:gpt-5", "anthropic:claude-sonnet-4-5fallback"]
    )
    page.get_by_role("button", name="Change auditor").click()
    page.get_by_role("button", name="Reset to default").click()
    expect(auditor.get_by_role("listitem")).to_contain_text(["claude-sonnet-4-5default"])
