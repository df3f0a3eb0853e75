"""Call the interview API of the server, waiting for a slow model and for a server that restarts."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from forge.errors import Conflict, ForgeError, Unauthenticated, Unavailable
from forge.interview.cli.display import ProgressLine
from forge.interview.domain.dialogue import Chosen, Confirmed, Mode, Said, WentBack
from forge.interview.domain.state import InterviewSpeaker
from forge.interview.models import Assembled, DraftSummary, SessionView
from forge.terminal.client import Client
from forge.terminal.lookup import choose, is_id

T = TypeVar("T")

WAIT_S = 300.0
"""Longer than the server waits before it responds that Forge is still thinking."""
POLL_S = 0.25
MAX_OUTAGE_S = 60.0
"""How long the server may be unreachable during an interview."""


def list_drafts(client: Client) -> list[DraftSummary]:
    return client.get("/builder/drafts", list[DraftSummary])


def find_session(client: Client, prefix: str) -> str:
    """Return the id of an interview. Only drafts are found by the beginning of their id."""
    if is_id(prefix.lower()):
        return prefix.lower()
    drafts = list_drafts(client)
    return choose(prefix, "draft", drafts, lambda draft: draft.session_id, listed_by="drafts").session_id


def session_path(session_id: str, action: str = "") -> str:
    return f"/builder/sessions/{session_id}{action and f'/{action}'}"


class SessionClient:
    def __init__(self, client: Client) -> None:
        self.client = client
        self._progress = ProgressLine(client)
        self._has_connected = False

    def start(self, body: Mapping[str, Any]) -> SessionView:
        """Start an interview and wait for its first turn."""
        view = self.client.post("/builder/sessions", SessionView, body, {"wait": "false"})
        self._has_connected = True
        return self.wait_for_turn(view)

    def view(self, session_id: str) -> SessionView:
        return self._retry(lambda: self.client.get(session_path(session_id), SessionView))

    def answer(self, view: SessionView, answer: Chosen | Said | Confirmed | WentBack) -> SessionView:
        """Send an answer and return the next turn. Ctrl-C cancels the model call and takes the answer back."""
        body = {"answer": answer.wire(), "turn": view.revision}
        try:
            with self._progress.shown(view):
                answered = self._send_answer(view, body)
        except KeyboardInterrupt:
            return self._cancel(view.session_id)
        return self.wait_for_turn(answered)

    def wait_for_turn(self, view: SessionView) -> SessionView:
        """Poll until nothing is due any more."""
        if view.due is None:
            return view
        try:
            with self._progress.shown(view):
                while view.due is not None:
                    time.sleep(POLL_S)
                    view = self.view(view.session_id)
        except KeyboardInterrupt:
            return self._cancel(view.session_id)
        return view

    def switch(self, view: SessionView, speaker: InterviewSpeaker) -> SessionView:
        path = session_path(view.session_id, "speaker")
        return self.wait_for_turn(self.client.post(path, SessionView, {"speaker": speaker.value}))

    def create(self, view: SessionView, *, dry_run: bool = False) -> Assembled:
        """Create what was agreed on. Idempotent: a repeated call returns the same result."""
        path = session_path(view.session_id, "create-skill" if view.mode is Mode.SKILL else "assemble")
        params = {"dry_run": "true" if dry_run else "false"}
        with self._progress.shown(view):
            return self._retry(lambda: self.client.post(path, Assembled, {}, params, within_s=WAIT_S))

    def _send_answer(self, view: SessionView, body: Mapping[str, Any]) -> SessionView:
        """Send an answer. It names the turn it belongs to, so a retry cannot apply it twice."""
        path = session_path(view.session_id, "answer")
        try:
            return self._retry(lambda: self.client.post(path, SessionView, body, within_s=WAIT_S))
        except Conflict:
            current = self.view(view.session_id)
            if current.revision == view.revision:
                raise
            return current

    def _cancel(self, session_id: str) -> SessionView:
        with suppress(Conflict):  # the turn arrived just before
            return self.client.post(session_path(session_id, "cancel"), SessionView)
        return self.view(session_id)

    def _retry(self, call: Callable[[], T]) -> T:
        """Retry while the server restarts. It then has another key, and perhaps another port."""
        deadline: float | None = None
        while True:
            try:
                result = call()
            except (Unavailable, Unauthenticated):
                deadline = deadline or time.monotonic() + MAX_OUTAGE_S
                if not self._has_connected or time.monotonic() > deadline:
                    raise
                time.sleep(POLL_S)
                with suppress(ForgeError):
                    self.client.find_again()
            else:
                self._has_connected = True
                return result
