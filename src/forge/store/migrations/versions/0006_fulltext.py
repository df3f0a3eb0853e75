"""Full-text search over messages and memories.

SQLite: an FTS5 table beside each, without a copy of the text, kept by triggers. FTS5 wants a number for each row that
never changes, and the rows have none (VACUUM may renumber a table whose key is a text), so a small table hands them
out. A later migration that makes one of these tables anew has to make its triggers anew as well.

PostgreSQL: an index over what `forge_words` says of a text. Punctuation becomes spaces first: PostgreSQL's parser would
keep addresses, paths and numbers whole, SQLite's takes them apart, and both should find the same.

Only the beginning of a text counts, because PostgreSQL refuses to take in more than 1 MB of different words.
"""

# ruff: noqa: S608 - what is put into these statements is written here

import string

from alembic import op

revision = "0006"
down_revision = "0005"

MAX_INDEXED = 200_000
"""Characters of a text that are searched."""
PUNCTUATION = string.punctuation + (
    "\u00a1\u00ab\u00b7\u00bb\u00bf\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u2039\u203a"
    "\u3001\u3002\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)
EMOJI = "".join(map(chr, [*range(0x1F300, 0x1F650), *range(0x1F680, 0x1F700), *range(0x1F900, 0x1FB00)]))
"""SQLite takes those that are younger than its tables for letters."""


def upgrade():
    if op.get_bind().dialect.name == "postgresql":
        _postgresql()
    else:
        _sqlite("chat_words", "chat_messages", "text", finished="{row}.status <> 'writing'")
        _sqlite("memory_words", "bot_memories", "fact", finished="1")


def _postgresql():
    signs = PUNCTUATION.replace("'", "''").replace("%", "%%")
    spaces = " " * len(PUNCTUATION)
    _run(
        f"""CREATE FUNCTION forge_words(text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT to_tsvector('pg_catalog.simple'::regconfig, translate(left($1, {MAX_INDEXED}), '{signs}', '{spaces}'))
        $$"""
    )
    _run(
        "CREATE INDEX ix_chat_messages_words ON chat_messages USING gin (forge_words(text)) WHERE status <> 'writing'"
    )
    _run("CREATE INDEX ix_bot_memories_words ON bot_memories USING gin (forge_words(fact))")


def _sqlite(words: str, table: str, column: str, *, finished: str):
    rows, texts = f"{words}_rows", f"{words}_texts"
    new, old = finished.format(row="new"), finished.format(row="old")
    is_other = f"new.{column} IS NOT old.{column}"
    add = f"""
        INSERT INTO {rows} (id) VALUES (new.id);
        INSERT INTO {words} (rowid, text)
            SELECT number, substr(new.{column}, 1, {MAX_INDEXED}) FROM {rows} WHERE id = new.id;"""
    remove = f"""
        INSERT INTO {words} ({words}, rowid, text)
            SELECT 'delete', number, substr(old.{column}, 1, {MAX_INDEXED}) FROM {rows} WHERE id = old.id;
        DELETE FROM {rows} WHERE id = old.id;"""
    _run(f"CREATE TABLE {rows} (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
    _run(
        f"""CREATE VIEW {texts} AS SELECT {rows}.number, substr({table}.{column}, 1, {MAX_INDEXED}) AS text
            FROM {rows} JOIN {table} ON {table}.id = {rows}.id"""
    )
    tokenize = f"unicode61 remove_diacritics 0 separators '{EMOJI}'"
    _run(
        f"""CREATE VIRTUAL TABLE {words} USING fts5
            (text, content='{texts}', content_rowid='number', tokenize="{tokenize}")"""
    )
    _run(f"CREATE TRIGGER {words}_insert AFTER INSERT ON {table} WHEN {new} BEGIN {add} END")
    _run(f"CREATE TRIGGER {words}_delete AFTER DELETE ON {table} WHEN {old} BEGIN {remove} END")
    _run(
        f"""CREATE TRIGGER {words}_before BEFORE UPDATE ON {table}
            WHEN ({old}) AND ({is_other} OR NOT ({new})) BEGIN {remove} END"""
    )
    _run(
        f"""CREATE TRIGGER {words}_after AFTER UPDATE ON {table}
            WHEN ({new}) AND ({is_other} OR NOT ({old})) BEGIN {add} END"""
    )
    _run(f"INSERT INTO {rows} (id) SELECT id FROM {table} AS old WHERE {old}")
    _run(f"INSERT INTO {words} ({words}) VALUES ('rebuild')")


def _run(statement: str):
    """As the driver takes it: `:` means nothing in here."""
    op.get_bind().exec_driver_sql(statement)
