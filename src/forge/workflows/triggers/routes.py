"""HTTP route of webhooks: `POST /webhooks/…`.

Public on purpose: senders have no API key of Forge; each webhook is protected by its own secret.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, status

from forge.errors import TooLarge
from forge.http.envelope import Envelope, reply
from forge.kernel.text import NO_NUL
from forge.workflows.models import MAX_PAYLOAD, Ignored, Submitted
from forge.workflows.triggers.delivery import Delivery
from forge.workflows.triggers.webhooks import Webhooks

router = APIRouter(tags=["webhooks"])


def _webhooks(request: Request) -> Webhooks:
    return request.app.state.webhooks


@router.post("/webhooks/{path:path}", status_code=status.HTTP_202_ACCEPTED)
async def receive_webhook(
    path: Annotated[str, NO_NUL], request: Request, webhooks: Annotated[Webhooks, Depends(_webhooks)]
) -> Envelope[Submitted | Ignored]:
    """Start the workflow of a webhook. A repeated delivery returns the run of the first one."""
    body = await request.body()
    if len(body) > MAX_PAYLOAD:
        raise TooLarge(f"The body of a delivery may have at most {MAX_PAYLOAD:,} bytes.")
    headers = {name.lower(): value for name, value in request.headers.items()}
    delivery = Delivery(headers, request.query_params.multi_items(), body)
    return reply(await webhooks.receive(f"/{path}", delivery))
