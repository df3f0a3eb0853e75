"""Receive webhook deliveries: verify them and start each one once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue, SecretStr

from forge.errors import ForgeError, NotFound, Unauthenticated
from forge.kernel.clock import now
from forge.workflows.definition.models import WebhookTrigger
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.models import Ignored, Submitted, TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.delivery import (
    SAME_BODY_WINDOW,
    Delivery,
    delivery_key,
    is_authentic,
    is_identified_by_body,
    signature_of,
    simulate_check,
)
from forge.workflows.triggers.launcher import (
    TriggerLauncher,
    TriggerRequest,
    condition_error,
    condition_holds,
)
from forge.workflows.triggers.store import TriggerRow

ResolveSecret = Callable[[str, str], Awaitable[SecretStr]]
"""Return a secret of an account by name."""


@dataclass(frozen=True)
class Webhooks:
    launcher: TriggerLauncher
    resolve_secret: ResolveSecret
    clock: Callable[[], datetime] = field(default=now)

    async def receive(self, path: str, delivery: Delivery) -> Submitted | Ignored:
        """Verify a delivery and start its workflow. Unverified deliveries leave no trace."""
        async with self.launcher.database.read() as tx:
            trigger = await store.find_webhook(tx, path)
        if trigger is None:
            simulate_check(delivery)
            raise _unknown()
        config = WebhookTrigger.model_validate(trigger.config)
        at = self.clock()
        if not is_authentic(delivery, config, await self._secret(trigger, config), at):
            raise _not_verified()
        payload = delivery.payload()
        try:
            if not await condition_holds(trigger, config.when, path, at, payload):
                return Ignored(reason="The condition (when) is false.")
        except ExpressionError as error:
            await self.launcher.refuse(trigger, condition_error(error), repeat=False)
            return Ignored(reason="The condition (when) could not be evaluated.")
        return await self._start(trigger, _trigger_request(config, delivery, payload, at))

    async def _start(self, trigger: TriggerRow, trigger_request: TriggerRequest) -> Submitted:
        try:
            submitted = await self.launcher.start(trigger, trigger_request)
        except ForgeError as error:
            if error.status < 500:
                await self.launcher.refuse(trigger, error.message)
            raise
        if submitted is None:
            raise _unknown()
        return submitted

    async def _secret(self, trigger: TriggerRow, config: WebhookTrigger) -> str:
        """Return the secret. If it is missing, the owner is notified, but the sender only gets an authentication error."""
        if config.auth is None:
            return ""
        try:
            return (await self.resolve_secret(trigger.account_id, config.auth.secret_name)).get_secret_value()
        except ForgeError as error:
            hint = f" {error.hint}" if error.hint else ""
            await self.launcher.refuse(
                trigger, f"A delivery could not be verified. {error.message}{hint}", repeat=False
            )
            raise _not_verified() from error


def _trigger_request(
    config: WebhookTrigger, delivery: Delivery, payload: dict[str, JsonValue], at: datetime
) -> TriggerRequest:
    is_signed = config.auth is not None and config.auth.type == "hmac_sha256"
    return TriggerRequest(
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
        dedupe_since=at - SAME_BODY_WINDOW if is_identified_by_body(delivery) else None,
    )


def _unknown() -> NotFound:
    return NotFound("There is no webhook at this path.", hint="Check that its workflow is enabled.")


def _not_verified() -> Unauthenticated:
    return Unauthenticated(
        "The delivery could not be verified.",
        hint="Sign the body with the webhook's secret or send the secret as a bearer token; timestamps must be recent.",
    )
