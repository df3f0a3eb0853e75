"""Recognize SQL statements in any case by their grammar, as opposed to English sentences.

Sentences such as "Select one from the list" start with the same words, but lack the rest of the grammar: a list of columns,
a condition with an operator, an assignment, a list of values. So the first clauses are parsed, in one pass over the tokens.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forge.audits.facts.sql.words import CLAUSES, KEYWORDS, PLAIN_ENGLISH, TYPES, UNLIKELY_NAMES

_MAX_TOKENS = 400
_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/
    |(?P<value>'[^']*'|\d[\w.]*)
    |(?P<hole>\$\w+|%s|%d|%\(\w+\)s|(?<!:):\w+|\?|@\w+|\{[^{}]*\})
    |(?P<word>(?:[^\W\d][\w$]*|"[^"]*"|`[^`]*`)(?:\.(?:[^\W\d][\w$]*|"[^"]*"|`[^`]*`|\*|\{[^{}]*\}))*)
    |(?P<sign><=|>=|<>|!=|\|\||::|->>|->|@>|<@|&&|[=<>*(),;+\-/%\[\]~^|&])
    |(?P<other>\S)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    low: str

    @property
    def is_name(self) -> bool:
        """Whether the token may name a table or column, and is not a common English word."""
        if self.kind == "hole":
            return True
        return self.kind == "word" and self.low not in KEYWORDS and self.low not in PLAIN_ENGLISH

    @property
    def is_operand(self) -> bool:
        return self.is_name or self.kind == "value"

    @property
    def is_surely_a_name(self) -> bool:
        return self.kind == "word" and any(sign in self.text for sign in '_."`')


END = Token("end", "", "")


@dataclass(slots=True)
class Reader:
    tokens: Sequence[Token]
    at: int = 0

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else END

    def next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def take(self, *words: str) -> bool:
        """Consume a sequence of words if all match."""
        if any(self.peek(ahead).low != word for ahead, word in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def take_any(self, *words: str) -> bool:
        if self.peek().low not in words:
            return False
        self.at += 1
        return True

    def name(self) -> bool:
        if not self.peek().is_name:
            return False
        self.at += 1
        return True

    def group(self) -> list[Token] | None:
        """Consume a parenthesized group and return its tokens, or None."""
        if not self.take("("):
            return None
        inside, depth = list[Token](), 1
        while self.peek() is not END:
            token = self.next()
            depth += {"(": 1, ")": -1}.get(token.low, 0)
            if not depth:
                break
            inside.append(token)
        return inside

    @property
    def is_at_end(self) -> bool:
        return self.peek() is END


def read_tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup is not None:
            tokens.append(Token(found.lastgroup, found[0], found[0].lower()))
        if len(tokens) == _MAX_TOKENS:
            break
    return tokens


_OPERATORS = frozenset(
    [
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "||",
        "::",
        "->>",
        "->",
        "@>",
        "<@",
        "&&",
        "+",
        "-",
        "/",
        "%",
        "~",
        "*",
        "^",
        "&",
        "[",
    ]
)
_SENTENCE = PLAIN_ENGLISH | {"a"}
_AFTER = {
    "is": frozenset(("null", "not", "true", "false", "distinct", "unknown")),
    "not": frozenset(("in", "like", "ilike", "between", "exists", "null")),
}


def has_statement_shape(text: str) -> bool:
    reader = Reader(read_tokens(text))
    while reader.take("("):
        pass
    if reader.take("explain"):
        reader.take_any("analyze", "verbose")
    verb = reader.next()
    read = _STATEMENTS.get(verb.low)
    is_sentence = verb.text[:1].isupper() and verb.text[1:].islower()
    return read is not None and read(reader, is_sentence)


def _select(reader: Reader, is_sentence: bool) -> bool:
    reader.take_any("distinct", "all")
    columns = _columns(reader)
    if not reader.take("from"):
        return not is_sentence and _is_value(columns)
    is_list = _is_list(columns)
    if not is_list and any(token.low in _SENTENCE for token in columns):
        return False
    inner = reader.group()
    if inner is not None:
        return bool(inner) and inner[0].low in ("select", "values", "with")
    table = reader.peek()
    if not reader.name():
        return False
    is_clear = is_list and _is_clear(columns)
    if reader.is_at_end:
        return is_clear or (is_list and not is_sentence and _are_likely([*columns, table]))
    return _goes_on(reader, is_clear=is_clear)


def _columns(reader: Reader) -> list[Token]:
    """Return the tokens before the top-level `from`."""
    columns, depth = list[Token](), 0
    while not reader.is_at_end and (depth > 0 or reader.peek().low != "from"):
        token = reader.next()
        depth += {"(": 1, ")": -1}.get(token.low, 0)
        columns.append(token)
    return columns


def _is_list(columns: Sequence[Token]) -> bool:
    """Return whether the tokens are a comma-separated list of columns and values."""
    reader = Reader(columns)
    while True:
        if not _is_term(reader):
            return False
        while reader.peek().low in _OPERATORS:
            reader.next()
            if not _is_term(reader):
                return False
        if reader.take("as") and not reader.name():
            return False
        if reader.is_at_end:
            return True
        if not reader.take(","):
            return False


def _is_term(reader: Reader) -> bool:
    if reader.take("*") or reader.group():
        return True
    if not (reader.peek().is_operand or reader.peek(1).low == "("):
        return False
    reader.next()
    reader.group()
    return True


def _is_clear(columns: Sequence[Token]) -> bool:
    """Return whether a list is clearly SQL: `*`, `count(id)`, `a as b`. "file(s)" is a word."""
    shown = [token.low for token in columns]
    is_call = any(second == "(" and third not in ("s", "es") for second, third in pairwise(shown[1:]))
    return is_call or any(low in ("*", "as", "::", "||") or low.endswith(".*") for low in shown)


def _is_value(columns: Sequence[Token]) -> bool:
    """Return whether the tokens are one value, as in `select 1` or `select now()`."""
    if len(columns) == 1:
        return columns[0].text == "1"
    reader = Reader(columns)
    is_call = reader.name() and reader.group() is not None and len(columns) > 2
    return is_call and reader.is_at_end and columns[2].low not in ("s", "es")


def _are_likely(names: Sequence[Token]) -> bool:
    """Return whether names look like tables and columns, if there is no other evidence."""
    words = [token for token in names if token.kind == "word"]
    if any(token.is_surely_a_name for token in words):
        return True
    return bool(words) and all(token.low not in UNLIKELY_NAMES and token.text.islower() for token in words)


def _goes_on(reader: Reader, *, is_clear: bool) -> bool:
    """Return whether the rest after a table is an alias or clause."""
    if reader.take("as"):
        reader.name()
    elif reader.peek().is_name and reader.peek().low not in UNLIKELY_NAMES:
        reader.next()
    if reader.is_at_end:
        return is_clear
    while reader.take(","):
        if not reader.name():
            return False
        reader.name()
    if reader.is_at_end:
        return is_clear
    return _is_clause(reader)


def _is_clause(reader: Reader) -> bool:
    token = reader.next()
    if token.low in (";", ")"):
        return True
    if token.low == "where":
        return _is_condition(reader)
    if token.low in ("order", "group"):
        return reader.take("by") and (reader.peek().is_operand)
    if token.low in ("limit", "offset"):
        return reader.peek().kind in ("value", "hole")
    if token.low in ("union", "except", "intersect"):
        reader.take_any("all", "distinct")
        reader.take("(")
        return reader.take("select")
    if token.low == "for":
        return reader.take_any("update", "share")
    if token.low in ("join", "inner", "left", "right", "full", "cross", "natural"):
        return _is_join(reader, token)
    return token.low in CLAUSES and reader.peek().is_operand


def _is_join(reader: Reader, first: Token) -> bool:
    if first.low != "join":
        reader.take("outer")
        if not reader.take("join"):
            return False
    reader.take("lateral")
    if reader.group() is None and not reader.name():
        return False
    if first.low in ("cross", "natural"):
        return True
    reader.take("as")
    reader.name()
    return reader.take_any("on", "using")


def _is_condition(reader: Reader) -> bool:
    while reader.take_any("(", "not"):
        pass
    if reader.take("exists"):
        return reader.peek().low == "("
    first = reader.next()
    if not first.is_operand and reader.peek().low != "(":
        return False
    reader.group()
    then = reader.next()
    if then.low in _OPERATORS:
        return reader.peek().kind != "end"
    if then.low in _AFTER:
        return reader.peek().low in _AFTER[then.low]
    if then.low == "in":
        return reader.peek().low == "(" or reader.peek().kind == "hole"
    if then.low in ("like", "ilike", "between"):
        return reader.peek().kind in ("value", "hole")
    return then in (END,) or then.low in ("and", "or", "order", "limit", ";", ")")


def _insert(reader: Reader, is_sentence: bool) -> bool:
    if reader.take("or"):
        reader.next()
    reader.take("ignore")
    if not reader.take("into") or not reader.name():
        return False
    if reader.take("as"):
        reader.name()
    columns = reader.group()
    if columns is not None and not _is_list(columns):
        return False
    if reader.take_any("values", "value"):
        return reader.peek().low == "(" or reader.peek().kind == "hole"
    if reader.take("default", "values") or reader.take_any("select", "with", "returning", "on"):
        return True
    if reader.take("set"):
        return _is_assignment(reader)
    return columns is not None and len(columns) > 2 and reader.is_at_end


def _update(reader: Reader, is_sentence: bool) -> bool:
    reader.take_any("only", "ignore")
    if not reader.name():
        return False
    reader.take("as")
    reader.name()
    return reader.take("set") and _is_assignment(reader)


def _is_assignment(reader: Reader) -> bool:
    return (reader.group() is not None or reader.name()) and reader.take("=")


def _delete(reader: Reader, is_sentence: bool) -> bool:
    if not reader.take("from"):
        return False
    reader.take("only")
    table = reader.peek()
    if not reader.name():
        return False
    if reader.is_at_end:
        return table.is_surely_a_name and not is_sentence
    reader.take("as")
    if reader.peek().is_name:
        reader.next()
    return not reader.is_at_end and _is_clause(reader)


def _create(reader: Reader, is_sentence: bool) -> bool:
    reader.take("or", "replace")
    while reader.take_any(
        "temp", "temporary", "unlogged", "global", "local", "unique", "materialized", "virtual"
    ):
        pass
    kind = reader.next().low
    reader.take("concurrently")
    is_careful = reader.take("if", "not", "exists")
    if not reader.name():
        return False
    if kind == "table":
        return _is_table(reader)
    if kind == "index":
        return reader.take("on") and reader.name() and reader.peek().low in ("(", "using")
    if kind == "view":
        return reader.take("as") and reader.peek().low in ("select", "with", "(")
    if kind == "trigger":
        return reader.take_any("before", "after", "instead")
    if kind in ("function", "procedure"):
        return reader.group() is not None and reader.take_any("returns", "as", "language")
    if kind == "type":
        return reader.take("as") and reader.peek().low in ("enum", "(", "range")
    is_other = kind in ("schema", "extension", "database", "sequence", "role", "user")
    return is_other and (is_careful or reader.peek().low == ";")


def _is_table(reader: Reader) -> bool:
    if reader.take("as"):
        return reader.peek().low in ("select", "with", "(")
    if reader.take("using"):
        return reader.name()
    columns = reader.group()
    if not columns:
        return False
    second = columns[1].low if len(columns) > 1 else ""
    return columns[0].kind == "hole" or second in TYPES or columns[0].low in ("like", "primary", "constraint")


def _alter(reader: Reader, is_sentence: bool) -> bool:
    if not reader.take("table"):
        return False
    reader.take("if", "exists")
    reader.take("only")
    if not reader.name():
        return False
    what = reader.next().low
    if what in ("add", "drop", "alter", "rename", "modify", "change"):
        if reader.take_any("column", "constraint", "primary", "foreign", "unique", "index", "to"):
            return True
        return reader.peek().is_name and reader.peek(1).low in TYPES
    return (what == "owner" and reader.take("to")) or (what in ("enable", "disable") and reader.take("row"))


def _drop(reader: Reader, is_sentence: bool) -> bool:
    reader.take("materialized")
    kind = reader.next().low
    if kind not in (
        "table",
        "index",
        "view",
        "schema",
        "database",
        "trigger",
        "function",
        "type",
        "sequence",
    ):
        return False
    is_careful = reader.take("if", "exists")
    name = reader.peek()
    if not reader.name():
        return False
    if is_careful or reader.take_any("cascade", ";", "restrict"):
        return True
    return (
        reader.is_at_end
        and not is_sentence
        and (name.is_surely_a_name or kind == "table")
        and _are_likely([name])
    )


def _truncate(reader: Reader, is_sentence: bool) -> bool:
    name = reader.peek(1)
    if not (reader.take("table") and reader.name()):
        return False
    is_end = reader.is_at_end and not is_sentence and _are_likely([name])
    return is_end or reader.take_any("cascade", ";", "restart")


def _with(reader: Reader, is_sentence: bool) -> bool:
    reader.take("recursive")
    if not reader.name():
        return False
    reader.group()
    if not reader.take("as"):
        return False
    reader.take("not")
    reader.take("materialized")
    return reader.take("(") and reader.peek().low in (
        "select",
        "insert",
        "update",
        "delete",
        "values",
        "with",
        "(",
    )


def _merge(reader: Reader, is_sentence: bool) -> bool:
    if not (reader.take("into") and reader.name()):
        return False
    reader.take("as")
    reader.name()
    return reader.take("using")


def _pragma(reader: Reader, is_sentence: bool) -> bool:
    return reader.peek().is_surely_a_name and reader.name() and reader.peek().low in ("=", "(", ";", "")


_STATEMENTS: dict[str, Callable[[Reader, bool], bool]] = {
    "select": _select,
    "insert": _insert,
    "replace": _insert,
    "update": _update,
    "delete": _delete,
    "create": _create,
    "alter": _alter,
    "drop": _drop,
    "truncate": _truncate,
    "with": _with,
    "merge": _merge,
    "pragma": _pragma,
}
