"""Full-text search: one door, and what a person types is words, never the syntax of a database.

A word is a run of letters and digits; upper and lower case are the same; there is no stemming, for there is no
language it would be right for. Both databases take the same words out of a text (migration 0006 sees to that).
"""

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, groupby, islice
from typing import Any

import sqlalchemy as sa

from forge.store.engine import Tx

MAX_WORDS = 32
"""More do not narrow a search down."""
LONGEST_WORD = 100
READ = 20_000
"""Characters of a question that are looked at."""
EXCERPT = 160
"""Characters of a message that are shown around its first hit."""
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
"""Where there are no other letters, words are found faster."""
OPENING, CLOSING = "⟦", "⟧"


@dataclass(frozen=True)
class MessageHit:
    id: str
    excerpt: str
    """A piece of the text; the words that were looked for are between ⟦ and ⟧."""
    rank: float
    """The higher, the better; comparable within one answer only."""


@dataclass(frozen=True)
class MemoryHit:
    id: str
    rank: float


_MESSAGES = {
    "sqlite": sa.text(
        """SELECT m.id, m.text, -bm25(chat_words) AS rank
        FROM chat_words JOIN chat_words_rows AS r ON r.number = chat_words.rowid
        JOIN chat_messages AS m ON m.id = r.id JOIN chat_sessions AS s ON s.id = m.session_id
        WHERE chat_words MATCH :query AND s.bot_id = :bot_id
        ORDER BY rank DESC, m.id DESC LIMIT :most"""
    ),
    "postgresql": sa.text(
        """SELECT m.id, m.text, ts_rank_cd(forge_words(m.text), query, 1) AS rank
        FROM chat_messages AS m JOIN chat_sessions AS s ON s.id = m.session_id,
        to_tsquery('pg_catalog.simple', :query) AS query
        WHERE forge_words(m.text) @@ query AND m.status <> 'writing' AND s.bot_id = :bot_id
        ORDER BY rank DESC, m.id DESC LIMIT :most"""
    ),
}

_MEMORIES = {
    "sqlite": sa.text(
        """SELECT m.id, -bm25(memory_words) AS rank
        FROM memory_words JOIN memory_words_rows AS r ON r.number = memory_words.rowid
        JOIN bot_memories AS m ON m.id = r.id
        WHERE memory_words MATCH :query AND m.bot_id = :bot_id
        ORDER BY rank DESC, m.id DESC LIMIT :most"""
    ),
    "postgresql": sa.text(
        """SELECT m.id, ts_rank(forge_words(m.fact), query, 1) AS rank
        FROM bot_memories AS m, to_tsquery('pg_catalog.simple', :query) AS query
        WHERE forge_words(m.fact) @@ query AND m.bot_id = :bot_id
        ORDER BY rank DESC, m.id DESC LIMIT :most"""
    ),
}


def words_of(text: str) -> list[str]:
    """The words of a text, in order, in lower case."""
    read = text[:READ]
    if read.isascii():
        return [word.lower() for word in _ASCII_WORD.findall(read) if len(word) <= LONGEST_WORD]
    runs = groupby(read, key=_is_of_a_word)
    found = (list(dropwhile(_is_mark, run)) for is_word, run in runs if is_word)
    return ["".join(word).lower() for word in found if 0 < len(word) <= LONGEST_WORD]


async def match_messages(tx: Tx, bot_id: str, words: str, limit: int) -> list[MessageHit]:
    """Messages to and from a bot that have all the words; the last may be only begun. Best first."""
    wanted = list(dict.fromkeys(words_of(words)))[:MAX_WORDS]
    if not wanted:
        return []
    terms = [(word, False) for word in wanted[:-1]] + [(wanted[-1], True)]
    found = await tx.execute(_MESSAGES[_kind(tx)], _parameters(tx, bot_id, terms, limit, together=True))
    return await asyncio.to_thread(_hits, found.all(), _pattern(terms))


async def match_memories(tx: Tx, bot_id: str, beginnings: Sequence[str], limit: int) -> list[MemoryHit]:
    """Memories of a bot with a word that begins like any of these. Best first: more hits, and rarer ones."""
    wanted = dict.fromkeys(word for given in beginnings for word in words_of(given))
    terms = [(word, True) for word in islice(wanted, MAX_WORDS)]
    if not terms:
        return []
    found = await tx.execute(_MEMORIES[_kind(tx)], _parameters(tx, bot_id, terms, limit, together=False))
    return [MemoryHit(row.id, row.rank) for row in found]


@lru_cache(4096)
def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or _is_mark(character)


def _is_mark(character: str) -> bool:
    """An accent, a vowel sign: part of the letter before it, and no word without one."""
    return unicodedata.category(character).startswith("M")


def _kind(tx: Tx) -> str:
    return tx.connection.dialect.name


def _parameters(
    tx: Tx, bot_id: str, terms: Sequence[tuple[str, bool]], limit: int, *, together: bool
) -> dict[str, object]:
    if tx.is_postgresql:
        quoted = [f"'{word}'" + (":*" if is_begun else "") for word, is_begun in terms]
        query = (" & " if together else " | ").join(quoted)
    else:
        quoted = [f'"{word}"' + ("*" if is_begun else "") for word, is_begun in terms]
        query = (" AND " if together else " OR ").join(quoted)
    return {"query": query, "bot_id": bot_id, "most": limit}


def _pattern(terms: Sequence[tuple[str, bool]]) -> re.Pattern[str]:
    longest_first = sorted(terms, key=lambda term: -len(term[0]))
    ways = [re.escape(word) + (r"[^\W_]*" if is_begun else "") for word, is_begun in longest_first]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?![^\W_])", re.IGNORECASE)


def _hits(rows: Sequence[sa.Row[Any]], pattern: re.Pattern[str]) -> list[MessageHit]:
    """Long messages take a while, many of them seconds: call it in a thread."""
    return [MessageHit(row.id, _excerpt(row.text, pattern), row.rank) for row in rows]


def _excerpt(text: str, pattern: re.Pattern[str]) -> str:
    """Around the first hit, cut at words, on one line."""
    plain = text.replace(OPENING, " ").replace(CLOSING, " ").replace("\x00", " ")
    first = pattern.search(plain)
    start = _word_start(plain, max(0, first.start() - EXCERPT // 3)) if first else 0
    end = _word_end(plain, start + EXCERPT)
    piece = " ".join(pattern.sub(_marked, plain[start:end]).split())
    return ("… " if start else "") + piece + (" …" if end < len(plain) else "")


def _marked(match: re.Match[str]) -> str:
    return f"{OPENING}{match[0]}{CLOSING}"


def _word_start(text: str, at: int) -> int:
    """The next beginning of a word; not far, for some texts have none."""
    space = re.compile(r"\s").search(text, at, at + EXCERPT // 6) if at else None
    return space.end() if space else at


def _word_end(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = re.compile(r"\s").search(text, at, at + EXCERPT // 6)
    return space.start() if space else at
