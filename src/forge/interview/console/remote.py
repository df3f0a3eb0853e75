"""The interview on the server: what is asked of it, with patience for a model that thinks and a server that restarts."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from forge.errors import Conflict, ForgeError, Unauthenticated, Unavailable
from forge.interview.console.whispers import Whispers
from forge.interview.domain.dialogue import Chosen, Confirmed, Mode, Said, WentBack
from forge.interview.domain.state import InterviewSpeaker
from forge.interview.models import Assembled, SessionView
from forge.terminal.client import Client

T = TypeVar("T")

WAIT_S = 300.0
"""Longer than the server itself waits before it answers that Forge is still thinking."""
POLL_S = 0.25
PATIENCE_S = 60.0
"""How long a server may be away in the middle of an interview."""


class Remote:
    def __init__(self, client: Client, whispers: Whispers) -> None:
        self.client = client
        self._whispers = whispers
        self._was_there = False

    def start(self, wanted: Mapping[str, Any]) -> SessionView:
        """The first turn, waited for like every other."""
        begun = self.client.post("/builder/sessions", SessionView, wanted, {"wait": "false"})
        self._was_there = True
        return self.settled(begun)

    def view(self, session_id: str) -> SessionView:
        return self._patiently(lambda: self.client.get(f"/builder/sessions/{session_id}", SessionView))

    def answer(self, view: SessionView, answer: Chosen | Said | Confirmed | WentBack) -> SessionView:
        """The next turn. Ctrl-C stops Forge's thinking and takes the answer back."""
        body = {"answer": answer.wire(), "turn": view.revision}
        try:
            with self._whispers.shown(is_slow=self._listen(view)):
                answered = self._answered(view, body)
        except KeyboardInterrupt:
            return self._cancel(view.session_id)
        return self.settled(answered)

    def settled(self, view: SessionView) -> SessionView:
        """Once Forge has said something."""
        if view.due is None:
            return view
        self._listen(view)
        try:
            with self._whispers.shown():
                while view.due is not None:
                    time.sleep(POLL_S)
                    view = self.view(view.session_id)
        except KeyboardInterrupt:
            return self._cancel(view.session_id)
        return view

    def switch(self, view: SessionView, speaker: InterviewSpeaker) -> SessionView:
        path = f"/builder/sessions/{view.session_id}/speaker"
        return self.settled(self.client.post(path, SessionView, {"speaker": speaker.value}))

    def make(self, view: SessionView, *, dry_run: bool = False) -> Assembled:
        """What was agreed on; the same, when it was made already."""
        verb = "create-skill" if view.mode is Mode.SKILL else "assemble"
        path = f"/builder/sessions/{view.session_id}/{verb}"
        params = {"dry_run": "true" if dry_run else "false"}
        with self._whispers.shown(is_slow=self._listen(view)):
            return self._patiently(lambda: self.client.post(path, Assembled, {}, params, within_s=WAIT_S))

    def _listen(self, view: SessionView) -> bool:
        """False for the guide, who answers at once: there is nothing to hear."""
        is_slow = view.spoken_by.speaker is InterviewSpeaker.MODEL or view.mode is Mode.SKILL
        if is_slow:
            self._whispers.listen(view.session_id)
        return is_slow

    def _answered(self, view: SessionView, body: Mapping[str, Any]) -> SessionView:
        """An answer says which turn it is for, so it can be sent once more without being taken twice."""
        path = f"/builder/sessions/{view.session_id}/answer"
        try:
            return self._patiently(lambda: self.client.post(path, SessionView, body, within_s=WAIT_S))
        except Conflict:
            found = self.view(view.session_id)
            if found.revision == view.revision:
                raise
            return found

    def _cancel(self, session_id: str) -> SessionView:
        with suppress(Conflict):  # it was said a moment before
            return self.client.post(f"/builder/sessions/{session_id}/cancel", SessionView)
        return self.view(session_id)

    def _patiently(self, call: Callable[[], T]) -> T:
        """A server that was started again has another key, and perhaps another port."""
        given_up_at: float | None = None
        while True:
            try:
                found = call()
            except (Unavailable, Unauthenticated):
                given_up_at = given_up_at or time.monotonic() + PATIENCE_S
                if not self._was_there or time.monotonic() > given_up_at:
                    raise
                time.sleep(POLL_S)
                with suppress(ForgeError):
                    self.client.find_again()
            else:
                self._was_there = True
                return found
