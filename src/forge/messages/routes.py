"""HTTP routes for messages and channels."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Id, Limit, OptionalLimit
from forge.kernel.text import NO_NUL
from forge.messages.models import (
    BotMessage,
    BotRef,
    Channel,
    ChannelName,
    MessageQuery,
    NewChannel,
    NewMessage,
    Sent,
)
from forge.messages.service import Messages

router = APIRouter(prefix="/api/v1", tags=["messages"])

Name = Annotated[ChannelName, Path(description="Channel name.")]
Bot = Annotated[BotRef, Path(description="Bot slug or id.")]
QueryText = Annotated[str, NO_NUL] | None
BotFilter = Annotated[QueryText, Query(max_length=64, description="Bot slug or id.")]


def _messages(request: Request) -> Messages:
    return request.app.state.messages


Service = Annotated[Messages, Depends(_messages)]


@router.post("/messages", status_code=status.HTTP_202_ACCEPTED)
async def send_message(
    caller: Writer, body: NewMessage, messages: Service, response: Response
) -> Envelope[Sent]:
    """Send a message to a bot or a channel.

    Returns 202 immediately. With `wait`, returns 200 once the delivery has ended, or 202 on timeout.
    """
    sent = await messages.send(caller.account_id, body, by=caller.name)
    if body.wait and not sent.is_late:
        response.status_code = status.HTTP_200_OK
    return reply(sent, message=f"/api/v1/messages/{sent.message.id}")


def _query(
    bot: BotFilter = None,
    other: Annotated[
        QueryText, Query(alias="with", max_length=64, description="Only messages between `bot` and this bot.")
    ] = None,
    channel: Annotated[QueryText, Query(max_length=64)] = None,
    conversation: Annotated[QueryText, Query(max_length=64)] = None,
) -> MessageQuery:
    return MessageQuery(bot=bot, other=other, channel=channel, conversation=conversation)


@router.get("/messages")
async def list_messages(
    caller: Reader,
    messages: Service,
    query: Annotated[MessageQuery, Depends(_query)],
    cursor: CursorParam,
    limit: Limit = 50,
) -> Envelope[list[BotMessage]]:
    """List messages, newest first."""
    return reply_page(await messages.find(caller.account_id, query, cursor=cursor, limit=limit))


@router.get("/messages/{message_id}")
async def get_message(caller: Reader, message_id: Id, messages: Service) -> Envelope[BotMessage]:
    return reply(await messages.get(caller.account_id, message_id))


@router.get("/message-channels")
async def list_channels(
    caller: Reader, messages: Service, limit: OptionalLimit = None
) -> Envelope[list[Channel]]:
    """List channels by name, with their subscribers."""
    return reply((await messages.channels(caller.account_id))[:limit])


@router.post("/message-channels", status_code=status.HTTP_201_CREATED)
async def create_channel(caller: Writer, body: NewChannel, messages: Service) -> Envelope[Channel]:
    """Create a channel. Subscribing to a channel or sending to it also creates it."""
    return reply(await messages.create_channel(caller.account_id, body.name))


@router.delete("/message-channels/{name}")
async def delete_channel(caller: Writer, name: Name, messages: Service) -> Envelope[None]:
    """Delete a channel and its subscriptions. Its messages are kept."""
    await messages.delete_channel(caller.account_id, name)
    return reply(None)


@router.put("/message-channels/{name}/bots/{bot}")
async def subscribe(caller: Writer, name: Name, bot: Bot, messages: Service) -> Envelope[Channel]:
    """Subscribe a bot to a channel."""
    return reply(await messages.subscribe(caller.account_id, name, bot))


@router.delete("/message-channels/{name}/bots/{bot}")
async def unsubscribe(caller: Writer, name: Name, bot: Bot, messages: Service) -> Envelope[Channel]:
    return reply(await messages.unsubscribe(caller.account_id, name, bot))
