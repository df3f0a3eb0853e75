"""Whether a text is a statement of SQL: code of another language, and not a sentence with the same words in it."""

import re

from forge.audits.facts.sql_shape import has_statement_shape

_MOST = 20_000
"""Characters of a text that are looked at."""

_HEAD = r"\s*(?:(?:--[^\n]*\n|/\*[^*]*\*/)\s*){0,20}\(*\s*(?:EXPLAIN\s+(?:ANALYZE\s+)?)?"
_STATEMENTS = (
    r"SELECT\b.*?\bFROM\b",
    r"INSERT\s+(?:OR\s+\w+\s+|IGNORE\s+)?INTO\b",
    r"(?:REPLACE|MERGE)\s+INTO\b",
    r"UPDATE\b.+?\bSET\b",
    r"DELETE\s+FROM\b",
    r"TRUNCATE\s+TABLE\b",
    r"(?:CREATE|ALTER|DROP)\s+(?:\w+\s+){0,3}?"
    r"(?:TABLE|INDEX|VIEW|SCHEMA|DATABASE|TRIGGER|FUNCTION|PROCEDURE|SEQUENCE|EXTENSION|TYPE|ROLE|USER)\b",
    r"WITH\s+(?:RECURSIVE\s+)?[\w\"`.]+\s*(?:\([^)]*\)\s*)?AS\s+(?:(?:NOT\s+)?MATERIALIZED\s*)?\(",
)
_ASKED = (
    *_STATEMENTS,
    r"SELECT\s+(?:\d|\*|[\w.]+\s*\(|@@|[$:?%'\"]|DISTINCT\b|CURRENT_)",
    r"PRAGMA\s+\w+",
)
_IN_CAPITALS = re.compile(_HEAD + "(?:" + "|".join(_STATEMENTS) + ")", re.DOTALL)
_IN_ANY_CASE = re.compile(_HEAD + "(?:" + "|".join(_ASKED) + ")", re.DOTALL | re.IGNORECASE)
_VERB = re.compile(
    rb"[\s(]*(?:--|/\*|(?:EXPLAIN|SELECT|INSERT|REPLACE|MERGE|UPDATE|DELETE|TRUNCATE|CREATE|ALTER|DROP|WITH|PRAGMA)\b)",
    re.IGNORECASE,
)
_RUNS_SQL = re.compile(
    r"\$?(?:exec(?:ute\w*)?|fetch\w*|query\w*|raw\w*|text|prepare\w*|sql\w*|read_?sql\w*|run_?sql\w*|mogrify|scalars?"
    r"|run|all|get|each|any|one|none|many|cursor|stream)$",
    re.IGNORECASE,
)
_HOLDS_SQL = re.compile(
    r"(?:.*[_$])?(?:sql|query|stmt|statement)$|.*(?:Sql|SQL|Query|Stmt|Statement)$", re.IGNORECASE
)
_TAG = re.compile(r"(?:sql|SQL|.*[sS]ql|\$?queryRaw\w*|\$?executeRaw\w*)$")


def may_begin_sql(text: bytes) -> bool:
    """Cheap, and true of everything that `is_sql` is true of."""
    return _VERB.match(text) is not None


def is_sql(text: str, *, is_asked: bool) -> bool:
    """By its first words, in capitals or where it is asked of a database or called a query; else by its whole shape."""
    shown = text[:_MOST]
    pattern = _IN_ANY_CASE if is_asked else _IN_CAPITALS
    return pattern.match(shown) is not None or has_statement_shape(shown)


def runs_sql(function: str) -> bool:
    """The last name of a function that takes statements."""
    return _RUNS_SQL.match(function) is not None


def holds_sql(name: str) -> bool:
    """The name of a variable, a field or an argument that a statement is given to."""
    return _HOLDS_SQL.match(name) is not None


def is_sql_tag(tag: str) -> bool:
    """Before a template of a script: all of it is SQL then, pieces of statements included."""
    return _TAG.match(tag) is not None
