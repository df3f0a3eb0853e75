"""The HTTP of messages and channels. Translates only."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.ids import Id
from forge.http.paging import CursorParam, Limit
from forge.kernel.text import NO_NUL
from forge.messages.models import (
    BotMessage,
    BotRef,
    Channel,
    ChannelName,
    NewChannel,
    NewMessage,
    Sent,
    Which,
)
from forge.messages.service import Messages

router = APIRouter(prefix="/api/v1", tags=["messages"])

Name = Annotated[ChannelName, Path(description="The name of a channel.")]
Listener = Annotated[BotRef, Path(description="The id or the slug of a bot.")]
Word = Annotated[str, NO_NUL] | None
Who = Annotated[Word, Query(max_length=64, description="The slug or id of a bot.")]


def _messages(request: Request) -> Messages:
    return request.app.state.messages


Service = Annotated[Messages, Depends(_messages)]


@router.post("/messages", status_code=status.HTTP_202_ACCEPTED)
async def send_message(
    caller: Writer, body: NewMessage, messages: Service, response: Response
) -> Envelope[Sent]:
    """Send to a bot or to a channel. Answers at once with 202; with `wait` with 200 when there is a reply, or none will
    come, and with 202 when there was none in time."""
    sent = await messages.send(caller.account_id, body, by=caller.name)
    if body.wait and not sent.is_late:
        response.status_code = status.HTTP_200_OK
    return reply(sent, message=f"/api/v1/messages/{sent.message.id}")


def _which(
    bot: Who = None,
    other: Annotated[
        Word, Query(alias="with", max_length=64, description="Only between `bot` and this one.")
    ] = None,
    channel: Annotated[Word, Query(max_length=64)] = None,
    conversation: Annotated[Word, Query(max_length=64)] = None,
) -> Which:
    return Which(bot=bot, other=other, channel=channel, conversation=conversation)


@router.get("/messages")
async def list_messages(
    caller: Reader,
    messages: Service,
    which: Annotated[Which, Depends(_which)],
    cursor: CursorParam,
    limit: Limit = 50,
) -> Envelope[list[BotMessage]]:
    """The newest first."""
    return reply_page(await messages.find(caller.account_id, which, cursor=cursor, limit=limit))


@router.get("/messages/{message_id}")
async def get_message(caller: Reader, message_id: Id, messages: Service) -> Envelope[BotMessage]:
    return reply(await messages.get(caller.account_id, message_id))


@router.get("/message-channels")
async def list_channels(caller: Reader, messages: Service) -> Envelope[list[Channel]]:
    """All there are, by name, with the bots that listen."""
    return reply(await messages.channels(caller.account_id))


@router.post("/message-channels", status_code=status.HTTP_201_CREATED)
async def create_channel(caller: Writer, body: NewChannel, messages: Service) -> Envelope[Channel]:
    """Before anybody listens or speaks. The first who does either makes it as well."""
    return reply(await messages.create_channel(caller.account_id, body.name))


@router.delete("/message-channels/{name}")
async def delete_channel(caller: Writer, name: Name, messages: Service) -> Envelope[None]:
    """Nobody listens any more; what was said stays."""
    await messages.delete_channel(caller.account_id, name)
    return reply(None)


@router.put("/message-channels/{name}/bots/{bot}")
async def subscribe(caller: Writer, name: Name, bot: Listener, messages: Service) -> Envelope[Channel]:
    """From now on this bot gets what is said there."""
    return reply(await messages.subscribe(caller.account_id, name, bot))


@router.delete("/message-channels/{name}/bots/{bot}")
async def unsubscribe(caller: Writer, name: Name, bot: Listener, messages: Service) -> Envelope[Channel]:
    return reply(await messages.unsubscribe(caller.account_id, name, bot))
