"""Waits for what Forge is doing in an interview, as long as a request may wait."""

import asyncio

from forge.errors import NotFound
from forge.interview.drafts import Draft, Drafts, interview_stream

PATIENCE_S = 290.0


async def wait_until_said(drafts: Drafts, account_id: str, draft: Draft) -> Draft:
    """The draft once nothing is due; or as it is, when that takes too long."""
    try:
        async with (
            asyncio.timeout(PATIENCE_S),
            drafts.events.news(interview_stream(draft.row.session_id)) as batches,
        ):
            async for _ in batches:
                draft = await drafts.find(account_id, draft.row.session_id)
                if draft.state.due is None:
                    return draft
    except TimeoutError:
        pass  # the run goes on; whoever asks again finds what it said
    except NotFound:
        return await drafts.find(account_id, draft.row.session_id)  # deleted meanwhile: says so
    return draft
