"""Recall: by meaning where there is an embedder that works, by words where there is none."""

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


class Broken:
    name = "broken"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise Unavailable("Its file is gone.", hint="Put it back.")


class Other:
    """Another embedder: its vectors must never be compared with those of the first."""

    name = "other"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        places = [FACTS.index(text) if text in FACTS else 2 for text in texts]
        return [[float(place == number) for number in range(len(FACTS))] for place in places]


async def test_by_meaning_other_words_find_it(env_by_meaning: MemoryEnvironment):
    await env_by_meaning.learn(*FACTS)
    assert (await env_by_meaning.recall("Which food is dangerous for me?"))[0] == FACTS[0]
    assert (await env_by_meaning.recall("What is my job?"))[0] == FACTS[1]
    assert (await env_by_meaning.recall("Does anybody of my family live in Portugal?"))[0] == FACTS[2]
    assert await env_by_meaning.recall("Why is the sky blue?") == []
    [best, *_] = await env_by_meaning.memories.recall(BOT, "peanuts")
    assert (best.by, best.memory.fact) == ("meaning", FACTS[0])
    assert await env_by_meaning.memories.recall_way() == RecallWay(by="meaning", model=NAME)


async def test_by_words_the_same_words_find_it_in_any_form(env_by_words: MemoryEnvironment):
    await env_by_words.learn(*FACTS)
    assert await env_by_words.recall("Do I have an allergy, or two allergies?") == [FACTS[0]]
    assert await env_by_words.recall("LISBON!") == [FACTS[2]]
    assert await env_by_words.recall("What is it that I am?") == []
    [best] = await env_by_words.memories.recall(BOT, "peanut butter")
    assert (best.by, best.memory.fact) == ("words", FACTS[0])
    assert await env_by_words.memories.recall_way() == RecallWay(by="words", hint=INSTALL)


async def test_a_question_can_be_anything(memory_env: MemoryEnvironment):
    await memory_env.learn(*FACTS)
    for question in ("", " ", "\x00", "🦊", "' OR 1=1 --", "peanuts " * 5000, "\ud800", "NEAR(*"):
        assert set(await memory_env.recall(question)) <= set(FACTS)


async def test_only_so_many_come_back(memory_env: MemoryEnvironment):
    await memory_env.learn(*(f"The person saw film number {number} on Monday." for number in range(6)))
    assert len(await memory_env.recall("Which film did the person see on Monday?", limit=3)) == 3


async def test_among_those_that_fit_the_newer_more_important_and_more_used_come_first(
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


async def test_memories_from_before_an_embedder_get_their_vectors_in_passing(store: Store, minilm: MiniLm):
    before = await open_memory_env(store, None)
    await before.learn(*FACTS)
    assert await before.embedders() == [None] * 4
    after = _with(before, minilm)
    assert (await after.recall("What is my job?"))[0] == FACTS[1]
    assert await after.embedders() == [NAME] * 4


async def test_vectors_of_another_embedder_are_made_anew(store: Store, minilm: MiniLm):
    first = await open_memory_env(store, Other())
    await first.learn(*FACTS)
    assert await first.recall("Lisbon") == [FACTS[2]]
    second = _with(first, minilm)
    assert (await second.recall("What is my job?"))[0] == FACTS[1]
    assert await second.embedders() == [NAME] * 4


async def test_a_changed_fact_is_found_by_what_it_says_now(memory_env: MemoryEnvironment):
    await memory_env.learn(*FACTS)
    [memory] = [one for one in await memory_env.all() if one.fact == FACTS[1]]
    await memory_env.memories.change(BOT, memory.id, MemoryChange(fact="Repairs old clocks."))
    assert (await memory_env.recall("clocks"))[0] == "Repairs old clocks."
    assert "Repairs old clocks." not in await memory_env.recall("hospital nurse")


async def test_an_embedder_that_does_not_work_gives_way_to_words_and_says_so(store: Store):
    memory_env = await open_memory_env(store, Broken())
    await memory_env.learn(*FACTS)
    assert await memory_env.recall("peanuts") == [FACTS[0]]
    assert await memory_env.memories.recall_way() == RecallWay(
        by="words", hint="Its file is gone. Put it back."
    )


def _with(memory_env: MemoryEnvironment, embedder: MiniLm) -> MemoryEnvironment:
    """The same memories after another start."""
    return MemoryEnvironment(
        memory_env.store, Memories(memory_env.store, memory_env.events, embedder), memory_env.events
    )
