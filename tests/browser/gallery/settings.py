"""Scenes of Home, login and settings."""

from playwright.sync_api import Page
from tests.browser.gallery.sample_texts import ARABIC, EMOJI, LONG
from tests.browser.gallery.scene import Area, GalleryServer, Scene

SCOPES = (["read"], ["read", "write"], ["read", "write", "admin"])


def create_data(gallery: GalleryServer) -> None:
    for name, scopes in zip((LONG, ARABIC, EMOJI), SCOPES, strict=True):
        gallery.call("POST", "/api/v1/keys", {"name": name[:80], "scopes": scopes})
    for name in ("STRIPE_KEY", "A_NAME_THAT_IS_AS_LONG_AS_NAMES_OF_SECRETS_MAY_WELL_BE_IN_A_LARGE_COMPANY"):
        gallery.call("PUT", f"/api/v1/secrets/{name}", {"value": "not-a-real-key-0001"})


def _press(keys: str):
    return lambda page: page.keyboard.press(keys)


def _click(name: str):
    def click(page: Page) -> None:
        page.get_by_role("button", name=name, exact=True).first.click()
        page.get_by_role("dialog").wait_for()

    return click


AREA = Area(
    scenes=(
        Scene("home", "/", "/", "Needs you"),
        Scene("palette", "/", "/", "Needs you", _press("Control+k")),
        Scene("help", "/", "/", "Needs you", _press("?")),
        Scene("not-found", "/$", "/no/such/page", "Not found", loads_data=False),
        Scene("login", "/login", "/login#token=not-a-token", "Sign in", loads_data=False),
        Scene("account", "/settings", "/settings", "Sign out", loads_data=False),
        Scene("models", "/settings/models", "/settings/models", "scripted:gallery"),
        Scene("model-chain", "/settings/models", "/settings/models", "Roles", _click("Change builder")),
        Scene("model-provider", "/settings/models", "/settings/models", "Roles", _click("Add a provider")),
        Scene("model-key", "/settings/models", "/settings/models", "Roles", _click("Set key of anthropic")),
        Scene("model-test", "/settings/models", "/settings/models", "Roles", _click("Test scripted")),
        Scene("model-budget", "/settings/models", "/settings/models", "Roles", _click("Change run limit")),
        Scene("model-price", "/settings/models", "/settings/models", "Roles", _click("Set a price")),
        Scene("github", "/settings/github", "/settings/github", "Connect to GitHub"),
        Scene("team", "/settings/team", "/settings/team", "Shared with all members"),
        Scene("invite", "/settings/team", "/settings/team", "Members", _click("Invite")),
        Scene("share-provider", "/settings/team", "/settings/team", "Members", _click("Share a provider")),
        Scene("keys", "/settings/keys", "/settings/keys", "API keys"),
        Scene("new-key", "/settings/keys", "/settings/keys", "API keys", _click("Create key")),
        Scene("secrets", "/settings/secrets", "/settings/secrets", "STRIPE_KEY"),
        Scene("new-secret", "/settings/secrets", "/settings/secrets", "Secrets", _click("Add a secret")),
        Scene("registries", "/settings/registries", "/settings/registries", "Registries"),
        Scene("forge-memory", "/settings/memory", "/settings/memory", "memory"),
        Scene("about", "/settings/about", "/settings/about", "Workers"),
    ),
    create_data=create_data,
)
