"""Waits for what Forge is doing in an interview, as long as a request may wait."""

import asyncio
from contextlib import aclosing

from forge.errors import NotFound
from forge.events.log import EventLog
from forge.interview.drafts import Draft, Drafts, interview_stream

PATIENCE_S = 290.0


async def wait_until_said(drafts: Drafts, events: EventLog, account_id: str, draft: Draft) -> Draft:
    """The draft once nothing is due; or as it is, when that takes too long."""
    stream = interview_stream(draft.row.session_id)
    try:
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(events.hub.follow(stream, await events.last_seq(stream))) as follower,
        ):
            async for _ in follower:
                draft = await drafts.find(account_id, draft.row.session_id)
                if draft.state.due is None:
                    return draft
    except TimeoutError:
        pass  # the run goes on; whoever asks again finds what it said
    except NotFound:
        return await drafts.find(account_id, draft.row.session_id)  # deleted meanwhile: says so
    return draft
