"""Statistics of single bots and of all bots."""

from sqlalchemy import event
from tests.bots.chat.rows import add_message, add_session
from tests.bots.environment import DEFAULT, ME, BotEnvironment

from forge.bots.chat.models import Speaker
from forge.bots.models import BotChange, BotFile, BotStatus, MessageStatus, NewBot, Stats
from forge.kernel.ids import new_id
from forge.llm.budgets import BudgetLimits, Budgets, CallEstimate, Spender
from forge.llm.models import CallStatus, Role, Usage
from forge.llm.store import Settlement

USER = BotFile.USER


async def test_statistics_are_counted_per_bot(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Talks"), by="Ada")
    await env.bots.create(ME, NewBot(name="Silent"), by="Ada")
    for status in (MessageStatus.DONE, MessageStatus.WRITING):
        session = await add_session(env.database, created, account=ME)
        question_id = await add_message(env.database, session, Speaker.USER, "Hello?", None)
        await add_message(env.database, session, Speaker.ASSISTANT, "Hel", question_id, status=status)
    budgets = Budgets(env.database, BudgetLimits(10, 50, 200))
    for scope in (f"bot:{created.id}", f"bot:{created.id}", ""):
        spender = Spender(ME, new_id(), scope=scope)
        call = await budgets.reserve(spender, CallEstimate(Role.BOT, "anthropic", DEFAULT, "0", 9000))
        usage = Usage(input=1, output=20, cache_read=300, cache_write=4000)
        await budgets.settle(spender, call, Settlement(CallStatus.SETTLED, usage, 7, created.created_at))
    talks, silent = await env.bots.find_all(ME, words="talks"), await env.bots.view(ME, "silent")
    numbers = {"sessions": 2, "answering": 1, "messages": 4, "tokens": 8642, "spent_micros": 14}
    assert talks == [created.model_copy(update=numbers)]
    assert (silent.sessions, silent.messages, silent.tokens, silent.spent_micros) == (0, 0, 0, 0)
    stats = await env.bots.stats(ME)
    assert (stats.total_sessions, stats.active_sessions, stats.total_messages) == (2, 1, 4)
    assert (stats.tokens, stats.spent_micros) == (8642, 14)


async def test_query_count_is_independent_of_bots(env: BotEnvironment):
    statements: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    engine = env.database._reader.sync_engine
    counts: list[int] = []
    for number in (1, 9):
        for _ in range(number):
            await env.bots.create(ME, NewBot(name="Many"), by="Ada")
        event.listen(engine, "before_cursor_execute", record)
        assert len(await env.bots.find_all(ME)) == sum((1, 9)[: len(counts) + 1])
        event.remove(engine, "before_cursor_execute", record)
        counts.append(len(statements))
        statements.clear()
    assert counts[0] == counts[1]


async def test_totals_exclude_deleted_bots(env: BotEnvironment):
    for name in ("one", "two", "three", "four"):
        await env.bots.create(ME, NewBot(name=name), by="Ada")
    await env.bots.change(ME, "two", BotChange(status=BotStatus.DISABLED), by="Ada")
    await env.bots.change(ME, "three", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    await env.bots.delete(ME, "four")
    assert await env.bots.stats(ME) == Stats(
        total_bots=3,
        active_bots=1,
        disabled_bots=1,
        archived_bots=1,
        total_sessions=0,
        active_sessions=0,
        total_messages=0,
        total_memories=0,
        tokens=0,
        spent_micros=0,
    )
