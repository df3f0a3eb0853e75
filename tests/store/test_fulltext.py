"""Full-text search finds the same on both databases, and takes whatever a person types as words."""

from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from tests.support.loop_watch import watch_loop

from forge.bots.tables import bot_memories, bots, chat_messages, chat_sessions
from forge.kernel.clock import now
from forge.store.database import Store
from forge.store.fulltext import MAX_QUERY_LENGTH, match_memories, match_messages, words_of

MESSAGES = {
    "m1": "My sister Anna moved to Lisbon in May.",
    "m2": "Write to anna@example.com, or call 555-0199 before 3.14 is published.",
    "m3": "The path is /srv/data_dir/report-final.txt and the page https://example.com/a/b?q=1",
    "m4": "Größe, ÉCOLE и Москва: naïve words with accents",
    "m5": "Don't forget “the quoted\u2013word” … and CamelCase",
    "m6": "Lisbon lisbon LISBON",
    "m7": "emoji 🦊fox🦊 between",
}


EXPECTED: dict[str, set[str]] = {
    "lisbon": {"m1", "m6"},
    "LISBON sister": {"m1"},
    "lisbon tokyo": set(),
    "anna": {"m1", "m2"},
    "anna@example.com": {"m2"},
    "example": {"m2", "m3"},
    "com example": {"m2", "m3"},
    "555-0199": {"m2"},
    "0199": {"m2"},
    "3.14": {"m2"},
    "report-final.txt": {"m3"},
    "final": {"m3"},
    "data dir": {"m3"},
    "data_dir": {"m3"},
    "https://example.com/a": {"m3"},
    "größe": {"m4"},
    "GRÖSSE": set(),
    "grosse": set(),
    "école": {"m4"},
    "москва": {"m4"},
    "naive": set(),
    "don't": {"m5"},
    "quoted": {"m5"},
    "quoted word": {"m5"},
    "camel": {"m5"},
    "case": set(),
    "fox": {"m7"},
    "lisb": {"m1", "m6"},
    "lisb sister": set(),
    "": set(),
    "?!*": set(),
    "🦊": set(),
    "fox emoji": {"m7"},
}

BOTH, NEITHER = {"m1", "m6"}, set[str]()
ODD = {
    'lisbon"': BOTH,
    "'lisbon'": BOTH,
    "lisbon*": BOTH,
    "text:lisbon": NEITHER,
    "NEAR(lisbon sister)": NEITHER,
    "lisbon AND": NEITHER,
    "lisbon NOT sister": NEITHER,
    "-lisbon": BOTH,
    "lisbon & !sister | (": {"m1"},
    "lisbon <-> sister:*": {"m1"},
    "^lisbon": BOTH,
    "lisbon\x00": BOTH,
    "lisbon\\": BOTH,
    "lisbon :query %s ?": NEITHER,
    "'; DROP TABLE chat_messages; --": NEITHER,
    "\ud800lisbon": BOTH,
    "\ufe0f lisbon": BOTH,
    "x" * 50_000: NEITHER,
    "lisbon " * 10_000: BOTH,
    " ".join(f"w{number}" for number in range(10_000)): NEITHER,
}


@pytest.fixture
async def searchable(store: Store) -> Store:
    await add_bot(store, "b1", "s1")
    for id, text in MESSAGES.items():
        await add_message(store, "s1", id, text)
    return store


async def add_bot(store: Store, bot_id: str, session_id: str) -> None:
    at = now()
    common: dict[str, Any] = {"account_id": "a", "created_at": at, "updated_at": at}
    async with store.begin() as tx:
        await tx.execute(
            sa.insert(bots).values(id=bot_id, slug=bot_id, status="active", identity={}, **common)
        )
        await tx.execute(
            sa.insert(chat_sessions).values(
                id=session_id, bot_id=bot_id, title="", is_titled=False, standing=[], **common
            )
        )


async def add_message(store: Store, session_id: str, id: str, text: str, status: str = "done") -> None:
    row = {"id": id, "session_id": session_id, "role": "user", "text": text, "status": status}
    async with store.begin() as tx:
        await tx.execute(sa.insert(chat_messages).values(**row, tries=0, cost_micros=0, created_at=now()))


async def change_message(store: Store, id: str, **values: Any) -> None:
    async with store.begin() as tx:
        await tx.execute(sa.update(chat_messages).where(chat_messages.c.id == id).values(**values))


async def add_memory(store: Store, bot_id: str, id: str, fact: str) -> None:
    row = {"id": id, "bot_id": bot_id, "fact": fact, "category": "fact", "author": "person"}
    more = {"importance": 3, "is_pinned": False, "recalled": 0, "created_at": now(), "updated_at": now()}
    async with store.begin() as tx:
        await tx.execute(sa.insert(bot_memories).values(**row, **more))


async def find_messages(store: Store, words: str, bot_id: str = "b1", limit: int = 50) -> list[str]:
    async with store.read() as tx:
        return [hit.id for hit in await match_messages(tx, bot_id, words, limit)]


async def find_memories(store: Store, *beginnings: str, bot_id: str = "b1") -> list[str]:
    async with store.read() as tx:
        return [hit.id for hit in await match_memories(tx, bot_id, beginnings, 50)]


async def test_both_databases_find_the_same_messages(searchable: Store):
    assert {words: set(await find_messages(searchable, words)) for words in EXPECTED} == EXPECTED


async def test_query_syntax_is_treated_as_text(searchable: Store):
    assert {words[:40]: set(await find_messages(searchable, words)) for words in ODD} == {
        words[:40]: ids for words, ids in ODD.items()
    }


async def test_best_hit_is_first(searchable: Store):
    assert await find_messages(searchable, "lisbon") == ["m6", "m1"]


async def test_hits_are_marked_in_excerpts(searchable: Store):
    long = "before " * 100 + "the ⟦needle⟧ in a\nhaystack of needles " + "after " * 100
    await add_message(searchable, "s1", "m8", long)
    async with searchable.read() as tx:
        [hit] = await match_messages(tx, "b1", "haystack need", 10)
        [short] = await match_messages(tx, "b1", "sister", 10)
    assert short.excerpt == "My ⟦sister⟧ Anna moved to Lisbon in May."
    assert hit.excerpt.startswith("… before before") and hit.excerpt.endswith(" after …")
    assert "before the ⟦needle⟧ in a ⟦haystack⟧ of ⟦needles⟧ after" in hit.excerpt
    assert len(hit.excerpt) < 250


async def test_excerpts_of_long_messages_do_not_block_the_loop(store: Store):
    await add_bot(store, "b1", "s1")
    wanted = " ".join(f"lisbon{number}" for number in range(30))
    for number in range(40):
        await add_message(store, "s1", f"m{number}", f"{'lisbo baab ' * 9000} {wanted}")
    assert (await watch_loop(find_messages(store, wanted))).share < 0.5


async def test_message_is_found_when_it_is_finished(store: Store):
    await add_bot(store, "b1", "s1")
    await add_message(store, "s1", "m1", "half", status="writing")
    assert await find_messages(store, "half") == []
    await change_message(store, "m1", text="half an")
    assert await find_messages(store, "half") == []
    await change_message(store, "m1", text="half an answer", status="done")
    assert await find_messages(store, "answer") == ["m1"]
    await change_message(store, "m1", cost_micros=5)
    assert await find_messages(store, "answer") == ["m1"]
    await change_message(store, "m1", status="writing")
    assert await find_messages(store, "answer") == []
    await change_message(store, "m1", text="another answer", status="stopped")
    assert await find_messages(store, "half") == []
    assert await find_messages(store, "another") == ["m1"]


async def test_deleted_text_is_not_found(searchable: Store):
    async with searchable.begin() as tx:
        await tx.execute(sa.delete(chat_messages).where(chat_messages.c.id == "m6"))
    assert await find_messages(searchable, "lisbon") == ["m1"]
    async with searchable.begin() as tx:
        await tx.execute(sa.delete(bots).where(bots.c.id == "b1"))
    assert await find_messages(searchable, "lisbon") == []
    await add_bot(searchable, "b1", "s1")
    await add_message(searchable, "s1", "m1", "Lisbon again")
    assert await find_messages(searchable, "again") == ["m1"]


async def test_messages_and_memories_of_other_bots_are_not_found(searchable: Store):
    await add_bot(searchable, "b2", "s2")
    await add_message(searchable, "s2", "other", "Lisbon too")
    await add_memory(searchable, "b2", "k1", "Lives in Lisbon")
    assert await find_messages(searchable, "lisbon", "b2") == ["other"]
    assert await find_messages(searchable, "too") == []
    assert await find_memories(searchable, "lisbon") == []
    assert await find_memories(searchable, "lisbon", bot_id="b2") == ["k1"]


async def test_text_of_unique_words_is_indexed(store: Store):
    await add_bot(store, "b1", "s1")
    worst = " ".join(
        chr(0x20000 + number % 40_000) + chr(0x4E00 + number % 20_000) for number in range(400_000)
    )
    await add_message(store, "s1", "m1", "needle " + worst)
    await add_message(store, "s1", "m2", "y" * 900_000 + " needle")
    assert await find_messages(store, "needle") == ["m1"]


async def test_memories_are_found_by_prefix_and_ranked_by_hits(store: Store):
    await add_bot(store, "b1", "s1")
    facts = {
        "k1": "Is allergic to nuts",
        "k2": "Likes nuts and figs",
        "k3": "Has an allergy to figs and to pollen",
    }
    for id, fact in facts.items():
        await add_memory(store, "b1", id, fact)
    await add_memory(store, "b1", "k4", "Plays the cello")
    assert set(await find_memories(store, "allerg", "nuts")) == {"k1", "k2", "k3"}
    assert (await find_memories(store, "allerg", "nuts"))[0] == "k1"
    assert await find_memories(store, "cell", "zebra") == ["k4"]
    assert await find_memories(store, "", "?", "-") == []
    async with store.begin() as tx:
        await tx.execute(sa.update(bot_memories).where(bot_memories.c.id == "k4").values(fact="Plays chess"))
        await tx.execute(sa.delete(bot_memories).where(bot_memories.c.id == "k1"))
    assert await find_memories(store, "cello") == []
    assert await find_memories(store, "chess") == ["k4"]
    assert set(await find_memories(store, "allerg")) == {"k3"}


async def test_sqlite_index_stays_consistent(searchable: Store):
    if not searchable.is_sqlite:
        pytest.skip("PostgreSQL keeps its indexes by itself")
    await change_message(searchable, "m1", text="something else", status="failed")
    async with searchable.begin() as tx:
        await tx.execute(sa.delete(chat_messages).where(chat_messages.c.id == "m3"))
        await tx.execute(sa.text("INSERT INTO chat_words (chat_words, rank) VALUES ('integrity-check', 1)"))
        for table in ("chat_words_rows", "chat_messages"):
            count = (await tx.execute(sa.text(f"SELECT count(*) FROM {table}"))).scalar_one()
            assert count == len(MESSAGES) - 1


@given(st.text())
def test_words_are_letters_and_digits_of_any_script(text: str):
    for word in words_of(text):
        assert word in text.lower() or word in text
        assert not set(word) & set(" \"'*:&|!()<>-^\\\x00")


@given(st.text(st.characters(max_codepoint=127)))
def test_words_are_extracted_beside_other_scripts(text: str):
    assert words_of(f"{text} é") == [*words_of(text), "é"]


def test_query_length_is_limited():
    assert words_of("word " * 100_000) == ["word"] * (MAX_QUERY_LENGTH // 5)
