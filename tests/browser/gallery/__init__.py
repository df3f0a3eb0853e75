"""Screenshots of every page in every state: `python -m tests.browser.gallery FOLDER`.

Accessibility tests use the same scenes, so a page without a scene fails a test.
"""
