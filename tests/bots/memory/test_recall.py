"""Recall: by meaning where there is an embedder that works, by words where there is none."""

from collections.abc import Sequence

from tests.bots.memory.brain import BOT, Brain, open_brain

from forge.bots.memory.embedder import INSTALL
from forge.bots.memory.minilm import NAME, MiniLm
from forge.bots.memory.models import MemoryChange, NewMemory, RecallWay
from forge.bots.memory.service import Memories
from forge.errors import Unavailable
from forge.store.engine import Store

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


async def test_by_meaning_other_words_find_it(wise: Brain):
    await wise.learn(*FACTS)
    assert (await wise.recall("Which food is dangerous for me?"))[0] == FACTS[0]
    assert (await wise.recall("What is my job?"))[0] == FACTS[1]
    assert (await wise.recall("Does anybody of my family live in Portugal?"))[0] == FACTS[2]
    assert await wise.recall("Why is the sky blue?") == []
    [best, *_] = await wise.memories.recall(BOT, "peanuts")
    assert (best.by, best.memory.fact) == ("meaning", FACTS[0])
    assert await wise.memories.way() == RecallWay(by="meaning", model=NAME)


async def test_by_words_the_same_words_find_it_in_any_form(wordy: Brain):
    await wordy.learn(*FACTS)
    assert await wordy.recall("Do I have an allergy, or two allergies?") == [FACTS[0]]
    assert await wordy.recall("LISBON!") == [FACTS[2]]
    assert await wordy.recall("What is it that I am?") == []
    [best] = await wordy.memories.recall(BOT, "peanut butter")
    assert (best.by, best.memory.fact) == ("words", FACTS[0])
    assert await wordy.memories.way() == RecallWay(by="words", hint=INSTALL)


async def test_a_question_can_be_anything(brain: Brain):
    await brain.learn(*FACTS)
    for question in ("", " ", "\x00", "🦊", "' OR 1=1 --", "peanuts " * 5000, "\ud800", "NEAR(*"):
        assert set(await brain.recall(question)) <= set(FACTS)


async def test_only_so_many_come_back(brain: Brain):
    await brain.learn(*(f"The person saw film number {number} on Monday." for number in range(6)))
    assert len(await brain.recall("Which film did the person see on Monday?", limit=3)) == 3


async def test_among_those_that_fit_the_newer_more_important_and_more_used_come_first(brain: Brain):
    same = [f"The person saw the film {name} on Monday." for name in ("Alpha", "Bravo", "Gamma")]
    question = "Which film was seen on Monday?"
    for fact in same:
        await brain.memories.add(BOT, NewMemory(fact=fact))
    for values in ({"importance": 5}, {"recalled": 10}):
        await brain.set(same[1], **values)
    await brain.age(same[0], 400)
    assert (await brain.recall(question))[0] == same[1]
    assert set(await brain.recall(question)) == set(same)


async def test_memories_from_before_an_embedder_get_their_vectors_in_passing(store: Store, minilm: MiniLm):
    before = await open_brain(store, None)
    await before.learn(*FACTS)
    assert await before.embedders() == [None] * 4
    after = _with(before, minilm)
    assert (await after.recall("What is my job?"))[0] == FACTS[1]
    assert await after.embedders() == [NAME] * 4


async def test_vectors_of_another_embedder_are_made_anew(store: Store, minilm: MiniLm):
    first = await open_brain(store, Other())
    await first.learn(*FACTS)
    assert await first.recall("Lisbon") == [FACTS[2]]
    second = _with(first, minilm)
    assert (await second.recall("What is my job?"))[0] == FACTS[1]
    assert await second.embedders() == [NAME] * 4


async def test_a_changed_fact_is_found_by_what_it_says_now(brain: Brain):
    await brain.learn(*FACTS)
    [memory] = [one for one in await brain.all() if one.fact == FACTS[1]]
    await brain.memories.change(BOT, memory.id, MemoryChange(fact="Repairs old clocks."))
    assert (await brain.recall("clocks"))[0] == "Repairs old clocks."
    assert "Repairs old clocks." not in await brain.recall("hospital nurse")


async def test_an_embedder_that_does_not_work_gives_way_to_words_and_says_so(store: Store):
    brain = await open_brain(store, Broken())
    await brain.learn(*FACTS)
    assert await brain.recall("peanuts") == [FACTS[0]]
    assert await brain.memories.way() == RecallWay(by="words", hint="Its file is gone. Put it back.")


def _with(brain: Brain, embedder: MiniLm) -> Brain:
    """The same memories after another start."""
    return Brain(brain.store, Memories(brain.store, brain.events, embedder), brain.events)
