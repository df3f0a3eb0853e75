"""Takes deliveries of webhooks: recognised by what they are signed with, started once, refused without a trace."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue, SecretStr

from forge.errors import ForgeError, NotFound, Unauthenticated
from forge.kernel.clock import now
from forge.workflows.definition.models import WebhookTrigger
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.models import Submitted, TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.deliveries import Delivery, delivery_key
from forge.workflows.triggers.firing import Firing
from forge.workflows.triggers.launching import Launch, unclear, wants
from forge.workflows.triggers.models import Ignored
from forge.workflows.triggers.signatures import is_from, pretend, signature_of
from forge.workflows.triggers.store import TriggerRow

ResolveSecret = Callable[[str], Awaitable[SecretStr]]
"""By name, as the vault does it."""


@dataclass(frozen=True)
class Webhooks:
    launch: Launch
    resolve_secret: ResolveSecret
    clock: Callable[[], datetime] = field(default=now)

    async def receive(self, path: str, delivery: Delivery) -> Submitted | Ignored:
        """Nothing is started, and nothing is told, before it is known who sent it."""
        async with self.launch.database.read() as tx:
            trigger = await store.find_webhook(tx, path)
        if trigger is None:
            pretend(delivery)
            raise _unknown()
        config = WebhookTrigger.model_validate(trigger.config)
        at = self.clock()
        if not is_from(delivery, config, await self._secret(trigger, config), at):
            raise _not_recognised()
        payload = delivery.payload()
        try:
            if not await wants(trigger, config.when, path, at, payload):
                return Ignored(reason="Its condition (when) does not hold.")
        except ExpressionError as error:
            await self.launch.refuse(trigger, unclear(error), again=False)
            return Ignored(reason="Its condition (when) could not be worked out.")
        return await self._start(trigger, _firing(config, delivery, payload, at))

    async def _start(self, trigger: TriggerRow, firing: Firing) -> Submitted:
        try:
            submitted = await self.launch.start(trigger, firing)
        except ForgeError as error:
            if error.status < 500:
                await self.launch.refuse(trigger, error.message)
            raise
        if submitted is None:
            raise _unknown()
        return submitted

    async def _secret(self, trigger: TriggerRow, config: WebhookTrigger) -> str:
        """Outside nobody learns that it is missing."""
        if config.auth is None:
            return ""
        try:
            return (await self.resolve_secret(config.auth.secret_name)).get_secret_value()
        except ForgeError as error:
            hint = f" {error.hint}" if error.hint else ""
            await self.launch.refuse(
                trigger, f"A delivery cannot be checked. {error.message}{hint}", again=False
            )
            raise _not_recognised() from error


def _firing(
    config: WebhookTrigger, delivery: Delivery, payload: dict[str, JsonValue], at: datetime
) -> Firing:
    is_signed = config.auth is not None and config.auth.type == "hmac_sha256"
    return Firing(
        type=TriggerType.WEBHOOK,
        source=config.path,
        payload=payload,
        about={
            "type": TriggerType.WEBHOOK.value,
            "source": config.path,
            "fired_at": at.isoformat(),
            **delivery.about(),
        },
        dedupe_key=delivery_key(config.path, delivery, signature_of(delivery) if is_signed else None),
    )


def _unknown() -> NotFound:
    return NotFound("There is no webhook at this path.", hint="Is its workflow switched on?")


def _not_recognised() -> Unauthenticated:
    return Unauthenticated(
        "This delivery is not recognised.",
        hint="Sign the body with the secret of the webhook, or show it as a bearer token; and not too late.",
    )
