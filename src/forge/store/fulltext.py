"""Full-text search of messages and memories. Queries are plain words, never the syntax of a database.

A word is a run of letters and digits, case-insensitive and without stemming, because texts can be in any language.
Both databases extract the same words from a text (see migration 0006).
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

from forge.store.database import Tx

MAX_WORDS = 32
"""Maximum words of a query; more would not narrow it down."""
MAX_WORD_LENGTH = 100
MAX_QUERY_LENGTH = 20_000
"""Characters of a query that are used."""
EXCERPT_LENGTH = 160
"""Characters of a message shown around its first hit."""
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
"""A faster pattern for ASCII texts."""
HIT_START, HIT_END = "⟦", "⟧"


@dataclass(frozen=True)
class MessageHit:
    id: str
    excerpt: str
    """An excerpt; the words searched for are between ⟦ and ⟧."""
    rank: float
    """Higher is better; comparable only within one result."""


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
    """Return the words of a text, in order, in lower case."""
    read = text[:MAX_QUERY_LENGTH]
    if read.isascii():
        return [word.lower() for word in _ASCII_WORD.findall(read) if len(word) <= MAX_WORD_LENGTH]
    runs = groupby(read, key=_is_word_character)
    found = (list(dropwhile(_is_mark, run)) for is_word, run in runs if is_word)
    return ["".join(word).lower() for word in found if 0 < len(word) <= MAX_WORD_LENGTH]


async def match_messages(tx: Tx, bot_id: str, words: str, limit: int) -> list[MessageHit]:
    """Find messages to and from a bot that contain all the words; the last one can be a prefix. Best first."""
    unique = list(dict.fromkeys(words_of(words)))[:MAX_WORDS]
    if not unique:
        return []
    terms = [(word, False) for word in unique[:-1]] + [(unique[-1], True)]
    found = await tx.execute(_MESSAGES[_kind(tx)], _parameters(tx, bot_id, terms, limit, match_all=True))
    return await asyncio.to_thread(_hits, found.all(), _pattern(terms))


async def match_memories(tx: Tx, bot_id: str, prefixes: Sequence[str], limit: int) -> list[MemoryHit]:
    """Find memories of a bot with a word that starts with one of these prefixes. Best first: more and rarer hits."""
    unique = dict.fromkeys(word for prefix in prefixes for word in words_of(prefix))
    terms = [(word, True) for word in islice(unique, MAX_WORDS)]
    if not terms:
        return []
    found = await tx.execute(_MEMORIES[_kind(tx)], _parameters(tx, bot_id, terms, limit, match_all=False))
    return [MemoryHit(row.id, row.rank) for row in found]


@lru_cache(4096)
def _is_word_character(character: str) -> bool:
    return character.isalnum() or _is_mark(character)


def _is_mark(character: str) -> bool:
    """Return whether it is a combining mark, which belongs to the letter before it and is not a word itself."""
    return unicodedata.category(character).startswith("M")


def _kind(tx: Tx) -> str:
    return tx.connection.dialect.name


def _parameters(
    tx: Tx, bot_id: str, terms: Sequence[tuple[str, bool]], limit: int, *, match_all: bool
) -> dict[str, object]:
    if tx.is_postgresql:
        quoted = [f"'{word}'" + (":*" if is_prefix else "") for word, is_prefix in terms]
        query = (" & " if match_all else " | ").join(quoted)
    else:
        quoted = [f'"{word}"' + ("*" if is_prefix else "") for word, is_prefix in terms]
        query = (" AND " if match_all else " OR ").join(quoted)
    return {"query": query, "bot_id": bot_id, "most": limit}


def _pattern(terms: Sequence[tuple[str, bool]]) -> re.Pattern[str]:
    longest_first = sorted(terms, key=lambda term: -len(term[0]))
    ways = [re.escape(word) + (r"[^\W_]*" if is_prefix else "") for word, is_prefix in longest_first]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?![^\W_])", re.IGNORECASE)


def _hits(rows: Sequence[sa.Row[Any]], pattern: re.Pattern[str]) -> list[MessageHit]:
    """Build excerpts. Many long messages take seconds: call it in a thread."""
    return [MessageHit(row.id, _excerpt(row.text, pattern), row.rank) for row in rows]


def _excerpt(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text around the first hit, cut at words, on one line."""
    plain = text.replace(HIT_START, " ").replace(HIT_END, " ").replace("\x00", " ")
    first = pattern.search(plain)
    start = _word_start(plain, max(0, first.start() - EXCERPT_LENGTH // 3)) if first else 0
    end = _word_end(plain, start + EXCERPT_LENGTH)
    piece = " ".join(pattern.sub(_marked, plain[start:end]).split())
    return ("… " if start else "") + piece + (" …" if end < len(plain) else "")


def _marked(match: re.Match[str]) -> str:
    return f"{HIT_START}{match[0]}{HIT_END}"


def _word_start(text: str, at: int) -> int:
    """Return the next start of a word, if it is near: some texts have no spaces."""
    space = re.compile(r"\s").search(text, at, at + EXCERPT_LENGTH // 6) if at else None
    return space.end() if space else at


def _word_end(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = re.compile(r"\s").search(text, at, at + EXCERPT_LENGTH // 6)
    return space.start() if space else at
