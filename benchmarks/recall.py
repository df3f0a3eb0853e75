"""How well a question finds the one memory that answers it, by meaning and by words, and the cost of a question."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

import sqlalchemy as sa

from benchmarks.bench import Bench
from benchmarks.recall_set import FACTS, UNANSWERED
from benchmarks.report import Result, compare, missing
from forge.bots.memory.embedder import MiniLm, find_embedder
from forge.bots.memory.extraction import ExtractedFact
from forge.bots.memory.models import MemoryCategory
from forge.bots.memory.service import Memories
from forge.bots.tables import bots
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.store.database import Store
from forge.store.schema import migrate
from forge.telemetry import Metrics

BOT = "bot"
LIMIT = 10


def measure(bench: Bench) -> Iterator[Result]:
    embedder = find_embedder()
    if embedder is None:
        yield missing("recall", "found first", "of questions", "words", "the extra `recall` is not installed")
        return
    meaning = asyncio.run(_recall(bench.new_database("sqlite"), embedder))
    for kind in ("sqlite", "postgresql"):
        words = asyncio.run(_recall(bench.new_database(kind), None))
        yield from _compare(meaning, words, f"by words on {kind}")


def _compare(meaning: "Recalled", words: "Recalled", against: str) -> Iterator[Result]:
    for asked, questions in (("paraphrased question", (1,)), ("any question", (1, 2))):
        for where, places in (("first", 1), ("among the first 5", 5)):
            shares = meaning.missed(questions, places), words.missed(questions, places)
            yield compare("recall", f"{asked}, not found {where}", "of questions", "less", against, [shares])
    strays = meaning.strays(), words.strays()
    yield compare("recall", "memories sent with an unrelated question", "memories", "less", against, [strays])
    times = median(meaning.times_ms), median(words.times_ms)
    yield compare("recall", "a question", "ms", "less", against, [times])


@dataclass
class Recalled:
    found: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Return the facts found for each question, best first."""
    times_ms: list[float] = field(default_factory=list[float])

    def missed(self, which: tuple[int, ...], places: int) -> float:
        """Return the share of questions whose fact is not among the first `n`."""
        asked = [(row[0], row[number]) for row in FACTS for number in which]
        return sum(fact not in self.found[question][:places] for fact, question in asked) / len(asked)

    def strays(self) -> float:
        """Return the average number of memories that are sent with an unrelated question."""
        return sum(len(self.found[question]) for question in UNANSWERED) / len(UNANSWERED)


async def _recall(url: str, embedder: MiniLm | None) -> Recalled:
    store = Store(url)
    await migrate(store)
    memories = Memories(store, EventLog(store, Metrics(version="bench")), embedder)
    await _fill(store, memories)
    await memories.recall(BOT, "the first one loads the model")
    recalled = Recalled()
    for question in [*(question for row in FACTS for question in row[1:]), *UNANSWERED]:
        began = time.perf_counter()
        matches = await memories.recall(BOT, question, limit=LIMIT)
        recalled.times_ms.append((time.perf_counter() - began) * 1000)
        recalled.found[question] = [match.memory.fact for match in matches]
    await store.close()
    return recalled


async def _fill(store: Store, memories: Memories) -> None:
    at = now()
    row = {"id": BOT, "account_id": "a", "slug": BOT, "status": "active", "identity": {}}
    facts = [ExtractedFact(fact=fact, category=MemoryCategory.FACT, importance=3) for fact, *_ in FACTS]
    async with store.begin() as tx:
        await tx.execute(sa.insert(bots).values(**row, created_at=at, updated_at=at))
    prepared = await memories.prepare(facts)
    async with store.begin() as tx:
        await memories.add_extracted(tx, BOT, None, prepared)
