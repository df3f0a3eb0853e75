"""Reuse the fixtures of the browser tests."""

from tests.browser.conftest import browser, session, visit

__all__ = ["browser", "session", "visit"]
