"""Webhook deliveries: signed, sent once, and recorded."""

import asyncio
import hmac
import json
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal
from urllib.parse import urlencode

import httpx2

from forge.demo.github.bare_repository import ZERO
from forge.demo.github.push_payload import push_payload
from forge.demo.github.views import hook_view, organization_view, repository_view, user_view
from forge.demo.github.world import Account, Delivery, Hook, JsonObject, Repository, World

TIMEOUT_S = 10.0
MAX_PAYLOAD = 25_000_000
MAX_TAGS = 3
"""Pushes of more tags at once are not reported."""
MAX_KEPT_BODY = 10_000
Mishap = Literal["drop", "duplicate", "reorder"]


class Webhooks:
    def __init__(self, world: World) -> None:
        self.mishaps: list[Mishap] = []
        """What happens to the next deliveries: not sent, sent twice, or sent after the one that follows."""
        self.timeout_s = TIMEOUT_S
        self._world = world
        self._client = httpx2.AsyncClient(trust_env=False)
        self._late: defaultdict[int, list[Delivery]] = defaultdict(list)
        """Deliveries that wait for the next one, by hook."""
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def reporting(self, repository: Repository, pusher: Account) -> AsyncGenerator[None]:
        """Report every ref that changes inside the block as a push."""
        async with repository.writing:
            before = await repository.git.refs()
            try:
                yield
            finally:
                await self._report(repository, pusher, before, await repository.git.refs())

    async def _report(
        self, repository: Repository, pusher: Account, before: dict[str, str], after: dict[str, str]
    ) -> None:
        changed = [ref for ref in before | after if before.get(ref) != after.get(ref)]
        if changed:
            repository.pushed_at = repository.updated_at = self._world.now()
        if sum(ref.startswith("refs/tags/") for ref in changed) > MAX_TAGS:
            changed = [ref for ref in changed if not ref.startswith("refs/tags/")]
        for ref in changed:
            new = after.get(ref, ZERO)
            payload = await push_payload(self._world, repository, pusher, ref, before, new)
            for hook in repository.hooks.values():
                if hook.is_active and ("push" in hook.events or "*" in hook.events):
                    self.send(hook, repository, "push", payload)

    def ping(self, hook: Hook, repository: Repository, sender: Account) -> None:
        payload: JsonObject = {
            "zen": "Practicality beats purity.",
            "hook_id": hook.id,
            "hook": hook_view(self._world, repository, hook),
            "repository": repository_view(self._world, repository, sender) | {"custom_properties": {}},
            "sender": user_view(self._world, sender),
        }
        self.send(hook, repository, "ping", payload)

    def send(self, hook: Hook, repository: Repository, event: str, payload: JsonObject) -> None:
        if repository.owner.is_organization:
            payload = payload | {"organization": organization_view(self._world, repository.owner)}
        delivery = Delivery(self._world.new_id(), str(uuid.uuid4()), event, payload, self._world.now())
        mishap = self.mishaps.pop(0) if self.mishaps and event != "ping" else None
        if mishap == "reorder":
            self._late[hook.id].append(delivery)
        elif mishap != "drop":
            copies = [replace(delivery, id=self._world.new_id())] if mishap == "duplicate" else []
            for each in (delivery, *copies, *self._late.pop(hook.id, [])):
                self._start(hook, repository, each)

    def redeliver(self, hook: Hook, repository: Repository, delivery: Delivery) -> None:
        self._start(hook, repository, replace(delivery, id=self._world.new_id(), is_redelivery=True))

    async def settle(self) -> None:
        """Wait until no delivery is under way."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self._client.aclose()

    def _start(self, hook: Hook, repository: Repository, delivery: Delivery) -> None:
        task = asyncio.create_task(self._deliver(hook, repository, delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, hook: Hook, repository: Repository, delivery: Delivery) -> None:
        body = json.dumps(delivery.payload, separators=(",", ":"), ensure_ascii=False).encode()
        if len(body) > MAX_PAYLOAD:
            return
        if hook.content_type == "form":
            body = urlencode({"payload": body}).encode()
        async with hook.sending:
            delivery.delivered_at = self._world.now()
            delivery.request_headers = _headers(hook, repository, delivery, body)
            hook.deliveries.append(delivery)
            started = time.monotonic()
            try:
                async with asyncio.timeout(self.timeout_s):
                    response = await self._client.post(
                        hook.url, content=body, headers=delivery.request_headers, timeout=None
                    )
            except TimeoutError:
                delivery.status = "timed out"
            except httpx2.HTTPError:
                delivery.status = "failed to connect to host"
            else:
                delivery.status_code = response.status_code
                delivery.status = (
                    "OK" if response.is_success else f"Invalid HTTP Response: {response.status_code}"
                )
                delivery.response_headers = dict(response.headers)
                delivery.response_body = response.text[:MAX_KEPT_BODY]
            delivery.duration_s = round(time.monotonic() - started, 2)


def _headers(hook: Hook, repository: Repository, delivery: Delivery, body: bytes) -> dict[str, str]:
    is_form = hook.content_type == "form"
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/x-www-form-urlencoded" if is_form else "application/json",
        "User-Agent": "GitHub-Hookshot/f0de5e1",
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-ID": str(repository.id),
        "X-GitHub-Hook-Installation-Target-Type": "repository",
    }
    if hook.secret:
        for name, method in (("X-Hub-Signature", "sha1"), ("X-Hub-Signature-256", "sha256")):
            headers[name] = f"{method}={hmac.new(hook.secret.encode(), body, method).hexdigest()}"
    return headers
