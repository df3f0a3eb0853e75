"""Every page of Forge in every state that it has, to be looked at: `python -m tests.browser.gallery FOLDER`.

The scenes are also what accessibility is checked on, so a page without a scene fails a test.
"""
