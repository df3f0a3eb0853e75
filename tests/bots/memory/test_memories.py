"""Memories of a bot, on both databases, with and without an embedder."""

from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from tests.bots.memory.environment import BOT, OTHER_BOT, SESSION, MemoryEnvironment
from tests.support.loop_watch import watch_loop

from forge.bots.memory import fact_merger, service
from forge.bots.memory.models import Memory, MemoryCategory, MemoryChange, NewMemory
from forge.bots.tables import bot_memories, bots, chat_sessions
from forge.errors import Conflict, NotFound
from forge.kernel.clock import now
from forge.store.pagination import Cursor


async def add(memory_env: MemoryEnvironment, fact: str, **more: Any) -> Memory:
    return await memory_env.memories.add(BOT, NewMemory(fact=fact, **more))


async def test_memory_is_added_changed_and_forgotten(memory_env: MemoryEnvironment):
    added = await add(memory_env, "Likes tea.", category=MemoryCategory.PREFERENCE, importance=4)
    assert added == Memory(
        id=added.id,
        fact="Likes tea.",
        category=MemoryCategory.PREFERENCE,
        importance=4,
        is_pinned=False,
        author="person",
        created_at=added.created_at,
        updated_at=added.created_at,
    )
    assert await memory_env.all() == [added]
    changed = await memory_env.memories.change(
        BOT, added.id, MemoryChange(fact="Likes green tea.", is_pinned=True)
    )
    assert changed == added.model_copy(
        update={"fact": "Likes green tea.", "is_pinned": True, "updated_at": changed.updated_at}
    )
    assert changed.updated_at > added.updated_at
    assert await memory_env.recall("green tea") == ["Likes green tea."]
    assert await memory_env.memories.forget(BOT, added.id) == changed
    assert await memory_env.all() == []
    assert await memory_env.count_notifications() == 3


async def test_memory_of_another_bot_is_not_accessible(memory_env: MemoryEnvironment):
    mine = await add(memory_env, "Likes tea.")
    for refused in (
        memory_env.memories.change(OTHER_BOT, mine.id, MemoryChange(importance=1)),
        memory_env.memories.forget(OTHER_BOT, mine.id),
    ):
        with pytest.raises(NotFound, match="no memory"):
            await refused
    assert await memory_env.memories.by_ids(OTHER_BOT, [mine.id]) == []
    assert await memory_env.memories.always_sent(OTHER_BOT) == []
    assert await memory_env.memories.recall(OTHER_BOT, "tea") == []
    assert (await memory_env.memories.forget_all(OTHER_BOT)).memories == 0
    assert await memory_env.all() == [mine]


async def test_all_memories_can_be_forgotten_at_once(memory_env: MemoryEnvironment):
    await memory_env.learn("Has a dog.", "Plays chess.")
    assert (await memory_env.memories.forget_all(BOT)).memories == 2
    assert await memory_env.all() == []
    assert await memory_env.recall("dog") == []


async def test_list_is_paginated_and_filtered_by_category(memory_env: MemoryEnvironment):
    for number in range(5):
        kind = MemoryCategory.DECISION if number % 2 else MemoryCategory.FACT
        await add(memory_env, f"Fact number {number}.", category=kind)
    first = await memory_env.memories.find(BOT, limit=3)
    assert [memory.fact for memory in first.items] == [f"Fact number {number}." for number in (4, 3, 2)]
    rest = await memory_env.memories.find(BOT, limit=3, cursor=Cursor.decode(first.next_cursor))
    assert [memory.fact for memory in rest.items] == ["Fact number 1.", "Fact number 0."]
    assert rest.next_cursor is None
    decided = await memory_env.memories.find(BOT, category=MemoryCategory.DECISION)
    assert [memory.fact for memory in decided.items] == ["Fact number 3.", "Fact number 1."]


async def test_duplicate_fact_is_rejected(memory_env: MemoryEnvironment):
    known = await add(memory_env, "Likes tea.")
    with pytest.raises(Conflict, match="already") as refused:
        await add(memory_env, "likes  TEA")
    assert known.id in (refused.value.hint or "")
    assert await memory_env.all() == [known]


async def test_pinned_and_important_memories_are_always_sent(memory_env: MemoryEnvironment):
    for number in range(22):
        await add(memory_env, f"Detail number {number}.", importance=2)
    await add(memory_env, "Matters a lot.", importance=5)
    await add(memory_env, "Is pinned.", importance=1, is_pinned=True)
    standing = [memory.fact for memory in await memory_env.memories.always_sent(BOT)]
    newest = [f"Detail number {number}." for number in range(21, 3, -1)]
    assert standing == ["Is pinned.", "Matters a lot.", *newest]


async def test_memories_are_found_by_id_in_the_given_order(memory_env: MemoryEnvironment):
    one, two = await add(memory_env, "One thing."), await add(memory_env, "Another thing.")
    assert await memory_env.memories.by_ids(BOT, [two.id, "gone", one.id]) == [two, one]
    assert await memory_env.memories.by_ids(BOT, []) == []


async def test_recalls_are_counted(memory_env: MemoryEnvironment):
    one, two = await add(memory_env, "One thing."), await add(memory_env, "Another thing.")
    for ids in ([one.id, two.id], [one.id], []):
        async with memory_env.store.begin() as tx:
            await memory_env.memories.count_recalled(tx, ids)
    found = {memory.fact: memory for memory in await memory_env.all()}
    assert (found["One thing."].recalled, found["Another thing."].recalled) == (2, 1)
    assert isinstance(found["One thing."].last_recalled_at, datetime)
    assert found["One thing."].last_recalled_at.tzinfo is UTC


async def test_deleted_conversation_keeps_its_memories(memory_env: MemoryEnvironment):
    await memory_env.learn("Has a dog.")
    assert [memory.session_id for memory in await memory_env.all()] == [SESSION]
    async with memory_env.store.begin() as tx:
        await tx.execute(sa.delete(chat_sessions))
    assert [memory.session_id for memory in await memory_env.all()] == [None]
    assert await memory_env.learn("Has a cat.") == ["Has a cat."]


async def test_deleted_bot_stores_no_memories(memory_env: MemoryEnvironment):
    await memory_env.learn("Has a dog.")
    async with memory_env.store.begin() as tx:
        await tx.execute(sa.delete(bots).where(bots.c.id == BOT))
    assert await memory_env.learn("Has a cat.") == []
    async with memory_env.store.read() as tx:
        assert (await tx.execute(sa.select(sa.func.count()).select_from(bot_memories))).scalar_one() == 0


async def test_known_fact_is_not_stored_again(memory_env: MemoryEnvironment):
    assert await memory_env.learn("The person has a dog called Rex.", "the person has a dog, called rex") == [
        "The person has a dog called Rex."
    ]
    assert await memory_env.learn("The person has a dog called Rex!") == []
    assert await memory_env.learn("The person has a dog called Max.") == ["The person has a dog called Max."]
    assert await memory_env.count_notifications() == 2


async def test_paraphrase_is_recognized_by_meaning(env_by_meaning: MemoryEnvironment):
    await env_by_meaning.learn("The person's dog is called Rex.", "The person is a vegetarian.")
    assert await env_by_meaning.learn("The person has a dog named Rex.") == []
    assert await env_by_meaning.learn("The person is not a vegetarian.") == [
        "The person is not a vegetarian."
    ]


@pytest.mark.parametrize("category", ["fact", "correction"])
async def test_correction_replaces_fact(memory_env: MemoryEnvironment, category: str):
    await memory_env.learn("The person lives in Berlin.", "The person likes jazz.")
    [old] = [memory for memory in await memory_env.all() if "Berlin" in memory.fact]
    new = "The person lives in Munich, not in Berlin."
    assert await memory_env.learn(new, category=category, importance=4) == [new]
    found = {memory.fact: memory for memory in await memory_env.all()}
    if category == "correction":
        assert set(found) == {new, "The person likes jazz."}
        assert (found[new].id, found[new].importance, found[new].created_at) == (old.id, 4, old.created_at)
    else:
        assert set(found) == {new, old.fact, "The person likes jazz."}
    assert new in await memory_env.recall("Munich")


async def test_correction_does_not_change_manual_or_pinned_memories(memory_env: MemoryEnvironment):
    await add(memory_env, "The person lives in Berlin.")
    await memory_env.learn("The deadline is 10 June.")
    [pinned] = [memory for memory in await memory_env.all() if "June" in memory.fact]
    await memory_env.memories.change(BOT, pinned.id, MemoryChange(is_pinned=True))
    corrections = ["The person lives in Munich, not in Berlin.", "The deadline is 12 June, not 10 June."]
    assert await memory_env.learn(*corrections, category="correction") == corrections
    assert await memory_env.facts() == {
        "The person lives in Berlin.",
        "The deadline is 10 June.",
        *corrections,
    }


async def test_correction_of_an_unknown_fact_is_a_new_memory(memory_env: MemoryEnvironment):
    await memory_env.learn("The person likes jazz.")
    assert await memory_env.learn("The person's sister is Eva, not Ella.", category="correction") == [
        "The person's sister is Eva, not Ella."
    ]
    assert len(await memory_env.all()) == 2


async def test_full_memory_drops_least_important_fact(
    memory_env: MemoryEnvironment, monkeypatch: pytest.MonkeyPatch
):
    for module in (fact_merger, service):
        monkeypatch.setattr(module, "MAX_MEMORIES", 4)
    await add(memory_env, "A person wrote this.", importance=1)
    await memory_env.learn("Old and dull, with pigeons.", "New and dull, with robots.", importance=2)
    await memory_env.age("Old and dull, with pigeons.", 3)
    await memory_env.learn("Very important: nuts.", importance=5)
    assert await memory_env.learn("Chess on Tuesdays.", importance=1) == ["Chess on Tuesdays."]
    assert await memory_env.facts() == {
        "A person wrote this.",
        "New and dull, with robots.",
        "Very important: nuts.",
        "Chess on Tuesdays.",
    }
    with pytest.raises(Conflict, match="already has 4 memories"):
        await add(memory_env, "One more.")
    for memory in await memory_env.all():
        await memory_env.memories.change(BOT, memory.id, MemoryChange(is_pinned=True))
    assert await memory_env.learn("Nothing can go for this.") == []


async def test_dropped_fact_is_not_known(memory_env: MemoryEnvironment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fact_merger, "MAX_MEMORIES", 2)
    await memory_env.learn("Dull, with pigeons.", importance=1)
    await memory_env.learn("Very important: nuts.", importance=5)
    both = ["Chess on Tuesdays.", "Dull, with pigeons."]
    assert await memory_env.learn(*both) == both
    assert await memory_env.facts() == {"Very important: nuts.", "Dull, with pigeons."}


async def test_secret_is_not_stored(memory_env: MemoryEnvironment):
    assert await memory_env.learn(
        "The person's password is hunter2.", "The person uses a password manager."
    ) == ["The person uses a password manager."]


async def test_comparing_many_memories_does_not_block_the_event_loop(env_by_words: MemoryEnvironment):
    words = " ".join(f"слово{number}" for number in range(100))
    at = now()
    common: dict[str, Any] = {
        "bot_id": BOT,
        "category": "fact",
        "importance": 3,
        "is_pinned": False,
        "author": "chat",
    }
    rows = [
        {"id": f"m{n}", "fact": f"{n} {words}", "recalled": 0, "created_at": at, "updated_at": at, **common}
        for n in range(1500)
    ]
    async with env_by_words.store.begin() as tx:
        await tx.execute(sa.insert(bot_memories), rows)
    shares: list[float] = []
    for drink in (
        "tea",
        "coffee",
        "cocoa",
    ):  # a busy machine may delay one of them; comparing in the event loop would delay all
        added = await watch_loop(env_by_words.memories.add(BOT, NewMemory(fact=f"Likes {drink}.")))
        learned = await watch_loop(env_by_words.learn(f"Drinks {drink}.", category="correction"))
        shares.append(max(added.share, learned.share))
    assert min(shares) < 0.5


async def test_rewritten_fact_belongs_to_person(memory_env: MemoryEnvironment):
    await memory_env.learn("Has a dog.")
    [memory] = await memory_env.all()
    assert memory.author == "chat"
    assert (await memory_env.memories.change(BOT, memory.id, MemoryChange(importance=5))).author == "chat"
    assert (
        await memory_env.memories.change(BOT, memory.id, MemoryChange(fact="Has two dogs."))
    ).author == "person"
