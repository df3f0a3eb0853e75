"""Read branches of a conversation. Messages form a tree; a branch is a path from the first message to the head."""

from collections.abc import Sequence

from forge.bots.chat import store
from forge.bots.chat.models import Message, Session, Summary, Turn
from forge.bots.chat.store import MessageRow, SessionRow, SessionTotals, TreeNode
from forge.bots.models import MessageStatus
from forge.store.database import Tx


def session_stream(session_id: str) -> str:
    return f"session:{session_id}"


def to_message(row: MessageRow, siblings: Sequence[str] = ()) -> Message:
    return Message(
        id=row.id,
        session_id=row.session_id,
        parent_id=row.parent_id,
        role=row.role,
        text=row.text,
        status=row.status,
        error=row.error,
        created_at=row.created_at,
        finished_at=row.finished_at,
        answer=row.answer,
        siblings=list(siblings) or [row.id],
    )


def to_session(row: SessionRow, tally: SessionTotals) -> Session:
    return Session(
        id=row.id,
        bot_id=row.bot_id,
        title=row.title,
        head_id=row.head_id,
        is_answering=tally.answering > 0,
        messages=tally.messages,
        cost_micros=tally.cost_micros,
        created_at=row.created_at,
        updated_at=row.updated_at,
        origin=row.origin,
    )


async def read_session(tx: Tx, row: SessionRow) -> Session:
    return to_session(row, (await store.count_sessions(tx, [row.id])).get(row.id, SessionTotals()))


async def read_branch(tx: Tx, row: SessionRow) -> list[Message]:
    """Return the branch that is shown, each message with its siblings."""
    rows = await store.list_branch(tx, row.id, row.head_id)
    beside = siblings_of(await store.list_tree(tx, row.id))
    return [to_message(one, beside.get((one.parent_id, one.role.value), ())) for one in rows]


async def read_turn(tx: Tx, session: SessionRow, question: MessageRow, answer: MessageRow) -> Turn:
    """Return session, question and answer with a single query of the tree."""
    places = await store.list_tree(tx, session.id)
    beside = siblings_of(places)
    messages = [
        to_message(one, beside.get((one.parent_id, one.role.value), ())) for one in (question, answer)
    ]
    return Turn(session=to_session(session, totals_of(places)), question=messages[0], answer=messages[1])


async def read_message(tx: Tx, row: MessageRow) -> Message:
    beside = siblings_of(await store.list_tree(tx, row.session_id))
    return to_message(row, beside.get((row.parent_id, row.role.value), ()))


def siblings_of(places: Sequence[TreeNode]) -> dict[tuple[str | None, str], list[str]]:
    """Group message ids by parent and role, oldest first."""
    found: dict[tuple[str | None, str], list[str]] = {}
    for place in places:
        found.setdefault((place.parent_id, place.role.value), []).append(place.id)
    return found


def totals_of(places: Sequence[TreeNode]) -> SessionTotals:
    return SessionTotals(
        messages=len(places),
        cost_micros=sum(place.cost_micros for place in places),
        answering=sum(place.status is MessageStatus.WRITING for place in places),
    )


def newest_leaf(places: Sequence[TreeNode], message_id: str) -> str:
    """Return the leaf below a message, following the newest child."""
    children: dict[str, str] = {}
    for place in places:  # the oldest first, so the newest stays
        if place.parent_id is not None:
            children[place.parent_id] = place.id
    while message_id in children:
        message_id = children[message_id]
    return message_id


async def find_summary(tx: Tx, session_id: str, branch: Sequence[MessageRow]) -> Summary | None:
    """Return the summary that covers most of a branch."""
    places = {row.id: place for place, row in enumerate(branch)}
    fitting = [one for one in await store.list_summaries(tx, session_id) if one.upto_id in places]
    return max(fitting, key=lambda one: places[one.upto_id], default=None)
