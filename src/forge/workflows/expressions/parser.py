"""Translate expressions to CEL.

Extensions of Forge are translated here: pipes, step ids with hyphens, `default` and `has` on missing values. Each static
path (`steps.gather.output[0]`) becomes a variable, so that only referenced values are passed to CEL and a missing one can
be named. Bodies of macros such as `map` are wrapped, so that they can be counted.
"""

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from inspect import Parameter, signature

from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.functions import MACROS, NATIVE, OWN
from forge.workflows.expressions.tokenizer import Kind, Token, plain_text, split_tokens

Path = tuple[str | int, ...]


class Use(StrEnum):
    VALUE = "v"
    OR_NULL = "o"
    """Null if the value is missing."""
    EXISTS = "h"
    RANGE = "r"
    """The range of a macro; for a map its keys, in order."""


@dataclass
class Slot:
    """A static path in an expression and the CEL variable that replaces it."""

    name: str
    path: Path
    use: Use
    column: int
    count: int = 0


@dataclass(frozen=True)
class Parsed:
    source: str
    """The expression in CEL, with a variable for each slot."""
    slots: tuple[Slot, ...]
    functions: frozenset[str]

    @property
    def only(self) -> Slot | None:
        """The slot, if the expression consists of nothing else."""
        return next((slot for slot in self.slots if slot.name == self.source and slot.use is Use.VALUE), None)


def format_path(path: Path) -> str:
    """Format a path as written in an expression."""
    first, *others = path
    return str(first) + "".join(map(_segment, others))


def _segment(segment: str | int) -> str:
    if isinstance(segment, str) and segment.replace("-", "_").isidentifier():
        return f".{segment}"
    return f"[{segment!r}]"


MAX_EXPRESSION = 4000
MAX_NESTING = 32
MAX_MACROS = 16
MAX_LOCAL_USES = 64
"""How often macro variables may be used, because each use may copy the whole value."""
MAX_WHOLE = 2**63 - 1

_LITERALS = {"true", "false", "null"}
_TYPES = {"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "timestamp", "duration"}
_OPERATORS = ("||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%")


def parse(text: str, start: int = 0, *, closed: bool = False, doubles: bool = False) -> tuple[Parsed, int]:
    """Parse the expression at `start` and return it with its end, see `split_tokens`. `doubles`: read integers as doubles."""
    tokens = split_tokens(text, start, closed=closed)
    end = tokens[-1].at
    if end - start > MAX_EXPRESSION:
        raise ExpressionError(
            f"The expression has {end - start:,} characters; the maximum is {MAX_EXPRESSION:,}.",
            column=start + 1,
        )
    parser = _Parser(tokens, doubles=doubles)
    source = parser.read()
    used = frozenset(parser.functions)
    return Parsed(source, tuple(parser.slots.values()), used), end


@dataclass
class _Operand:
    """A value and the selectors after it. It starts with a variable if it has a `path`, else with `text`, which is CEL."""

    text: str = ""
    path: Path | None = None
    column: int = 1
    selectors: list[str] = field(default_factory=list[str])
    """Selectors, in CEL."""


class _Parser:
    def __init__(self, tokens: list[Token], *, doubles: bool) -> None:
        self._tokens = tokens
        self._at = 0
        self._doubles = doubles
        self._depth = 0
        self._locals: list[str] = []
        self._local_uses = 0
        self.slots: dict[tuple[Use, Path], Slot] = {}
        self.functions: set[str] = set()
        self.macros = 0

    def read(self) -> str:
        if self._token().kind is Kind.END:
            raise self._error("The expression is empty.")
        source = self._expression()
        if self._token().kind is not Kind.END:
            raise self._error(
                f"Unexpected {self._token().text!r}: an operator is missing, or this is superfluous."
            )
        return source

    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._token()
        self._at += token.kind is not Kind.END
        return token

    def _takes(self, *signs: str) -> bool:
        is_next = self._token().is_sign(*signs)
        self._at += is_next
        return is_next

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            found = repr(self._token().text) if self._token().text else "the end"
            raise self._error(f"Expected {sign!r}, found {found}.")

    def _name(self) -> Token:
        if self._token().kind is not Kind.NAME:
            raise self._error("Expected a name.")
        return self._take()

    def _error(self, message: str, *, token: Token | None = None, hint: str | None = None) -> ExpressionError:
        return ExpressionError(message, column=(token or self._token()).at + 1, hint=hint)

    def _expression(self) -> str:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._error(f"The expression is nested more than {MAX_NESTING} levels deep.")
        text = self._terms()
        if self._takes("?"):
            if_true = self._expression()
            self._expect(":")
            text = f"{text} ? {if_true} : {self._expression()}"
        self._depth -= 1
        return text

    def _terms(self) -> str:
        text = self._term()
        while self._token().is_sign(*_OPERATORS) or self._is_in():
            text += f" {self._take().text} {self._term()}"
        return text

    def _is_in(self) -> bool:
        return self._token().kind is Kind.NAME and self._token().text == "in"

    def _term(self) -> str:
        prefix = ""
        while self._token().is_sign("-", "!"):
            prefix += self._take().text + " "
        return prefix + self._rendered(self._postfix())

    def _postfix(self) -> _Operand:
        operand = self._primary()
        while True:
            if self._takes("."):
                name = self._name()
                if self._takes("("):
                    operand = self._method(operand, name)
                else:
                    operand.selectors.append(json.dumps(name.text))
            elif self._takes("["):
                operand.selectors.append(self._index())
            elif self._takes("|"):
                operand = self._piped(operand)
            else:
                return operand

    def _index(self) -> str:
        doubles, self._doubles = self._doubles, False
        text = self._expression()
        self._doubles = doubles
        self._expect("]")
        return text

    def _piped(self, operand: _Operand) -> _Operand:
        name = self._name()
        if name.text in MACROS or name.text == "has":
            raise self._error(f"{name.text} is called with a dot, not with a pipe.", token=name)
        has_arguments = self._takes("(")
        return self._call(name, operand, self._arguments(")") if has_arguments else [])

    def _method(self, operand: _Operand, name: Token) -> _Operand:
        if name.text in MACROS:
            return self._macro(operand, name)
        return self._call(name, operand, self._arguments(")"))

    def _primary(self) -> _Operand:
        token = self._take()
        match token.kind:
            case Kind.TEXT:
                return _Operand(token.text)
            case Kind.NUMBER:
                return _Operand(f"({token.text})")
            case Kind.WHOLE:
                return _Operand(f"({self._whole(token)})")
            case Kind.NAME:
                return self._named(token)
            case _:
                return self._bracketed(token)

    def _whole(self, token: Token) -> str:
        number = int(token.text, 16 if token.text[:2] in ("0x", "0X") else 10)
        if number > MAX_WHOLE:
            raise self._error("This number is too large: integers have 64 bits.", token=token)
        return f"{number}.0" if self._doubles else str(number)

    def _bracketed(self, token: Token) -> _Operand:
        if token.is_sign("("):
            text = self._expression()
            self._expect(")")
            return _Operand(f"({text})")
        if token.is_sign("["):
            return _Operand(f"[{', '.join(self._arguments(']'))}]")
        if token.is_sign("{") and self._token().is_sign("{"):
            raise self._error(
                "Unexpected double braces.", token=token, hint="Write the expression without braces."
            )
        if token.is_sign("{"):
            return _Operand(self._map())
        found = f"before {token.text!r}" if token.text else "at the end"
        raise self._error(f"Expected a value {found}.", token=token)

    def _arguments(self, closing: str) -> list[str]:
        found: list[str] = []
        while not self._takes(closing):
            if found:
                self._expect(",")
                if closing == "]" and self._takes(closing):
                    break
            found.append(self._expression())
        return found

    def _map(self) -> str:
        entries: list[str] = []
        while not self._takes("}"):
            if entries:
                self._expect(",")
                if self._takes("}"):
                    break
            doubles, self._doubles = self._doubles, False
            key = self._expression()
            self._doubles = doubles
            self._expect(":")
            entries.append(f"{key}: {self._expression()}")
        return f"{{{', '.join(entries)}}}"

    def _named(self, token: Token) -> _Operand:
        name = token.text
        if self._takes("("):
            return self._has(token) if name == "has" else self._function(token)
        if name in self._locals:
            self._local_uses += 1
            if self._local_uses > MAX_LOCAL_USES:
                raise self._error(
                    f"Macro variables may be used at most {MAX_LOCAL_USES} times in total.", token=token
                )
            return _Operand(_local(name))
        if name in _LITERALS or (name in _TYPES and not self._token().is_sign(".", "[")):
            return _Operand(name)
        if name == "in":
            raise self._error("Expected a value before 'in'.", token=token)
        return _Operand(path=self._path(name), column=token.at + 1)

    def _path(self, root: str) -> Path:
        path: list[str | int] = [root]
        while True:
            match self._tokens[self._at : self._at + 3]:
                case [dot, name, *after] if dot.is_sign(".") and name.kind is Kind.NAME:
                    if after and after[0].is_sign("("):
                        return tuple(path)
                    path.append(name.text)
                    self._at += 2
                case [opening, index, closing] if opening.is_sign("[") and closing.is_sign("]"):
                    segment = _static_index(index)
                    if segment is None:
                        return tuple(path)
                    path.append(segment)
                    self._at += 3
                case _:
                    return tuple(path)

    def _function(self, name: Token) -> _Operand:
        arguments = self._arguments(")")
        if name.text in MACROS:
            raise self._error(f"{name.text} is called on a list: x.{name.text}(item, …)", token=name)
        if name.text == "default":
            raise self._error("default is called on a value: x.default(y) or x | default(y)", token=name)
        return self._call(name, None, arguments)

    def _call(self, name: Token, operand: _Operand | None, arguments: list[str]) -> _Operand:
        count = len(arguments) + (operand is not None)
        if name.text in OWN:
            self._check_count(name, count)
        elif name.text not in NATIVE:
            close = get_close_matches(name.text, OWN.keys() | NATIVE | MACROS, n=1)
            hint = (
                f"Did you mean {close[0]}?"
                if close
                else f"Functions: {', '.join(sorted(OWN.keys() | NATIVE))}."
            )
            raise self._error(f"There is no function {name.text}.", token=name, hint=hint)
        if operand is not None and name.text == "default":
            return self._default(operand, arguments[0])
        called = self._use(name.text) if name.text in OWN else name.text
        before = "" if operand is None else self._rendered(operand) + "."
        return _Operand(f"{before}{called}({', '.join(arguments)})")

    def _check_count(self, name: Token, count: int) -> None:
        wanted = signature(OWN[name.text]).parameters.values()
        least = sum(parameter.default is Parameter.empty for parameter in wanted)
        if not least <= count <= len(wanted):
            raise self._error(
                f"Wrong number of arguments for {name.text}.",
                token=name,
                hint=f"It takes {_span(least - 1, len(wanted) - 1)} in addition to the value it is called on.",
            )

    def _default(self, operand: _Operand, otherwise: str) -> _Operand:
        if operand.path is not None and not operand.selectors:
            value = self._rendered(operand, Use.OR_NULL)
            return _Operand(f"({value} != null ? {value} : ({otherwise}))")
        before = self._safe_lookup("reach", operand) if operand.selectors else operand.text
        return _Operand(f"{before}.{self._use('default')}({otherwise})")

    def _has(self, name: Token) -> _Operand:
        operand = self._postfix()
        self._expect(")")
        if operand.path is not None and not operand.selectors and len(operand.path) > 1:
            return _Operand(self._rendered(operand, Use.EXISTS))
        if not operand.selectors:
            raise self._error("has expects a field or item: has(trigger.name)", token=name)
        return _Operand(self._safe_lookup("has", operand))

    def _safe_lookup(self, function: str, operand: _Operand) -> str:
        """Render a call of `reach` or `has`, which follow the path as far as it exists."""
        root = _Operand(operand.text, operand.path, operand.column)
        return f"{self._use(function)}({self._rendered(root, Use.OR_NULL)}, [{', '.join(operand.selectors)}])"

    def _macro(self, operand: _Operand, name: Token) -> _Operand:
        self.macros += 1
        if self.macros > MAX_MACROS:
            raise self._error(f"The expression has more than {MAX_MACROS} macros.", token=name)
        number, variable = self.macros, self._name()
        self._locals.append(variable.text)
        bodies: list[str] = []
        while not self._takes(")"):
            self._expect(",")
            bodies.append(self._expression())
        self._locals.pop()
        if not 1 <= len(bodies) <= 1 + (name.text == "map"):
            raise self._error(
                f"{name.text} takes a variable and an expression: x.{name.text}(item, …)", token=name
            )
        is_path = operand.path is not None and not operand.selectors
        over = self._rendered(operand, Use.RANGE if is_path else Use.VALUE)
        if name.text in ("map", "filter"):
            return _Operand(self._collected(number, over, _local(variable.text), bodies, name.text))
        return _Operand(f"{over}.{name.text}({_local(variable.text)}, {self._counted(bodies[0])})")

    def _collected(self, number: int, over: str, item: str, bodies: list[str], macro: str) -> str:
        """Collect the results of `map` and `filter` in Python, because CEL copies the whole list for each item it adds.

        Each macro has its own list, by number, so that one that fails and is replaced by a default leaves no results behind.
        """
        if macro == "filter":
            body = f"({bodies[0]}) ? {self._use('put')}({number}, {item}) : true"
        elif len(bodies) == 2:
            body = f"({bodies[0]}) ? {self._use('keep')}({number}, {bodies[1]}) : true"
        else:
            body = f"{self._use('keep')}({number}, {bodies[0]})"
        loop = f"{over}.all({item}, {self._counted(body)})"
        return f"{self._use('collected')}({self._use('collect')}({number}), {loop})"

    def _counted(self, body: str) -> str:
        return f"{self._use('tick')}() ? ({body}) : false"

    def _use(self, name: str) -> str:
        self.functions.add(name)
        return own_name(name)

    def _rendered(self, operand: _Operand, use: Use = Use.VALUE) -> str:
        text = operand.text if operand.path is None else self._slot(operand.path, operand.column, use)
        return text + "".join(f"[{segment}]" for segment in operand.selectors)

    def _slot(self, path: Path, column: int, use: Use) -> str:
        slot = self.slots.setdefault((use, path), Slot(f"__{use}{len(self.slots)}", path, use, column))
        slot.count += 1
        return slot.name


def own_name(function: str) -> str:
    """Return the name of a Forge function in CEL, prefixed so that it cannot clash with functions of CEL."""
    return f"__f_{function}"


def _local(name: str) -> str:
    return f"__l_{name}"


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _static_index(token: Token) -> str | int | None:
    if token.kind is Kind.TEXT:
        return plain_text(token)
    if token.kind is Kind.WHOLE and token.text.isdigit() and len(token.text) < 10:
        return int(token.text)
    return None
