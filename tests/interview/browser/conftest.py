"""Reuse the browser fixtures of the other pages."""

from tests.browser.conftest import browser, session, visit

__all__ = ["browser", "session", "visit"]
