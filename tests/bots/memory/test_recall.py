"""Recall by meaning with a working embedder, and by words without."""

from collections.abc import Sequence

from tests.bots.memory.environment import BOT, MemoryEnvironment, open_memory_env

from forge.bots.memory.embedder import INSTALL, NAME, MiniLm
from forge.bots.memory.models import MemoryChange, NewMemory, RecallWay
from forge.bots.memory.service import Memories
from forge.errors import Unavailable
from forge.store.database import Store

FACTS = (
    "Is allergic to peanuts.",
    "Works as a nurse in a hospital.",
    "Her brother lives in Lisbon.",
    "Prefers short answers.",
)


class BrokenEmbedder(MiniLm):
    name = "broken"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise Unavailable("Its file is gone.", hint="Put it back.")


class OtherEmbedder(MiniLm):
    """Makes vectors that must not be compared with those of MiniLM."""

    name = "other"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        places = [FACTS.index(text) if text in FACTS else 2 for text in texts]
        return [[float(place == number) for number in range(len(FACTS))] for place in places]


async def test_paraphrase_is_found_by_meaning(env_by_meaning: MemoryEnvironment):
    await env_by_meaning.learn(*FACTS)
    assert (await env_by_meaning.recall("Which food is dangerous for me?"))[0] == FACTS[0]
    assert (await env_by_meaning.recall("What is my job?"))[0] == FACTS[1]
    assert (await env_by_meaning.recall("Does anybody of my family live in Portugal?"))[0] == FACTS[2]
    assert await env_by_meaning.recall("Why is the sky blue?") == []
    [best, *_] = await env_by_meaning.memories.recall(BOT, "peanuts")
    assert (best.by, best.memory.fact) == ("meaning", FACTS[0])
    assert await env_by_meaning.memories.recall_way() == RecallWay(by="meaning", model=NAME)


async def test_inflected_words_are_found_by_words(env_by_words: MemoryEnvironment):
    await env_by_words.learn(*FACTS)
    assert await env_by_words.recall("Do I have an allergy, or two allergies?") == [FACTS[0]]
    assert await env_by_words.recall("LISBON!") == [FACTS[2]]
    assert await env_by_words.recall("What is it that I am?") == []
    [best] = await env_by_words.memories.recall(BOT, "peanut butter")
    assert (best.by, best.memory.fact) == ("words", FACTS[0])
    assert await env_by_words.memories.recall_way() == RecallWay(by="words", hint=INSTALL)


async def test_any_question_is_accepted(memory_env: MemoryEnvironment):
    await memory_env.learn(*FACTS)
    for question in ("", " ", "\x00", "🦊", "' OR 1=1 --", "peanuts " * 5000, "\ud800", "NEAR(*"):
        assert set(await memory_env.recall(question)) <= set(FACTS)


async def test_number_of_results_is_limited(memory_env: MemoryEnvironment):
    await memory_env.learn(*(f"The person saw film number {number} on Monday." for number in range(6)))
    assert len(await memory_env.recall("Which film did the person see on Monday?", limit=3)) == 3


async def test_newer_important_and_used_memories_rank_higher(
    memory_env: MemoryEnvironment,
):
    same = [f"The person saw the film {name} on Monday." for name in ("Alpha", "Bravo", "Gamma")]
    question = "Which film was seen on Monday?"
    for fact in same:
        await memory_env.memories.add(BOT, NewMemory(fact=fact))
    for values in ({"importance": 5}, {"recalled": 10}):
        await memory_env.set(same[1], **values)
    await memory_env.age(same[0], 400)
    assert (await memory_env.recall(question))[0] == same[1]
    assert set(await memory_env.recall(question)) == set(same)


async def test_missing_vectors_are_computed_on_recall(store: Store, minilm: MiniLm):
    before = await open_memory_env(store, None)
    await before.learn(*FACTS)
    assert await before.embedders() == [None] * 4
    after = _reopen(before, minilm)
    assert (await after.recall("What is my job?"))[0] == FACTS[1]
    assert await after.embedders() == [NAME] * 4


async def test_vectors_of_another_embedder_are_recomputed(store: Store, minilm: MiniLm):
    first = await open_memory_env(store, OtherEmbedder())
    await first.learn(*FACTS)
    assert await first.recall("Lisbon") == [FACTS[2]]
    second = _reopen(first, minilm)
    assert (await second.recall("What is my job?"))[0] == FACTS[1]
    assert await second.embedders() == [NAME] * 4


async def test_changed_fact_is_found_by_its_new_text(memory_env: MemoryEnvironment):
    await memory_env.learn(*FACTS)
    [memory] = [one for one in await memory_env.all() if one.fact == FACTS[1]]
    await memory_env.memories.change(BOT, memory.id, MemoryChange(fact="Repairs old clocks."))
    assert (await memory_env.recall("clocks"))[0] == "Repairs old clocks."
    assert "Repairs old clocks." not in await memory_env.recall("hospital nurse")


async def test_broken_embedder_falls_back_to_words_with_a_hint(store: Store):
    memory_env = await open_memory_env(store, BrokenEmbedder())
    await memory_env.learn(*FACTS)
    assert await memory_env.recall("peanuts") == [FACTS[0]]
    assert await memory_env.memories.recall_way() == RecallWay(
        by="words", hint="Its file is gone. Put it back."
    )


def _reopen(memory_env: MemoryEnvironment, embedder: MiniLm) -> MemoryEnvironment:
    """Return the same memories after a restart with another embedder."""
    return MemoryEnvironment(
        memory_env.store, Memories(memory_env.store, memory_env.events, embedder), memory_env.events
    )
