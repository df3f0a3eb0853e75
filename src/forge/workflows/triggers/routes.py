"""Where other servers deliver: `POST /webhooks/…`. Translates only.

Public on purpose: senders have no key of Forge. Who may start something is said by the secret of each webhook.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, status

from forge.errors import TooLarge
from forge.http.envelope import Envelope, reply
from forge.kernel.text import NO_NUL
from forge.workflows.models import MAX_PAYLOAD, Submitted
from forge.workflows.triggers.deliveries import Delivery
from forge.workflows.triggers.models import Ignored
from forge.workflows.triggers.webhooks import Webhooks

router = APIRouter(tags=["webhooks"])


def _webhooks(request: Request) -> Webhooks:
    return request.app.state.webhooks


@router.post("/webhooks/{path:path}", status_code=status.HTTP_202_ACCEPTED)
async def receive_webhook(
    path: Annotated[str, NO_NUL], request: Request, webhooks: Annotated[Webhooks, Depends(_webhooks)]
) -> Envelope[Submitted | Ignored]:
    """Answers when the run is there; a worker takes it up. The same delivery again has the same run."""
    body = await request.body()
    if len(body) > MAX_PAYLOAD:
        raise TooLarge(f"A delivery may have {MAX_PAYLOAD:,} bytes at most.")
    headers = {name.lower(): value for name, value in request.headers.items()}
    delivery = Delivery(headers, request.query_params.multi_items(), body)
    return reply(await webhooks.receive(f"/{path}", delivery))
