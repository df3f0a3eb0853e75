"""Parse and validate `boundaries.json`: the layers of a project and their rules.

Every mistake is an error with its line, as a silently skipped rule would be worse than no rule.
"""

import json
from collections import Counter
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Self, cast

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from forge.kernel.validation import ValidationProblem, first_problem

MAX_BYTES = 256 << 10
"""The file is written by hand; a larger one is hostile."""

_MAX_NESTED = 64


class InvalidBoundaries(Exception):
    """The problem of an invalid file, and its line."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_rule(value: object) -> object:
    return {"pattern": value} if isinstance(value, str) else value


def _as_date(value: object) -> object:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not a valid date; use a date such as 2027-01-31") from None


Text = Annotated[str, Field(min_length=1)]
Globs = Annotated[list[Text], BeforeValidator(_as_list)]


class Rule(_Strict):
    """A forbidden pattern, import or layer; exactly one of the three is set."""

    pattern: Text | None = None
    imported: Text | None = Field(default=None, alias="import")
    layer: Text | None = None
    reason: str = ""
    indirect: bool = False
    """Whether indirect imports count."""

    @property
    def text(self) -> str:
        """The name of the rule in known_violations and messages."""
        return self.pattern or self.imported or self.layer or ""

    @model_validator(mode="after")
    def _check_one_target(self) -> Self:
        targets = [value for value in (self.pattern, self.imported, self.layer) if value is not None]
        if len(targets) != 1:
            raise ValueError("needs exactly one of `pattern`, `import` and `layer`")
        if self.indirect and self.pattern is not None:
            raise ValueError("`indirect` is only valid for `import` and `layer` rules")
        return self


class Layer(_Strict):
    name: Text
    description: str = ""
    glob: Annotated[Globs, Field(min_length=1)]
    exclude: Globs = []
    forbidden: list[Annotated[Rule, BeforeValidator(_as_rule)]] = []
    allow_type_checking: bool | None = None
    """None: use the setting of the whole file."""


class KnownViolation(_Strict):
    layer: Text
    file: Text
    """A base name, a path or a glob."""
    pattern: Text
    """The text of the rule, or the imported module."""
    expires: Annotated[date | None, BeforeValidator(_as_date)] = None
    reason: str = ""


class Boundaries(_Strict):
    schema_: str | None = Field(default=None, alias="$schema")
    comment: str | list[str] | None = Field(default=None, alias="$comment")
    description: str = ""
    layers: list[Layer]
    order: list[Text] = []
    """From highest to lowest; `a | b` are independent, `a : b` may import each other, `(a)` is optional."""
    containers: Globs = []
    """Folders inside which the order applies separately."""
    exhaustive: bool = False
    """Every file of the containers must be in a layer."""
    exclude: Globs = []
    allow_type_checking: bool = False
    known_violations: list[KnownViolation] = []

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        names = [layer.name for layer in self.layers]
        if duplicate := first_duplicate(names):
            raise ValueError(f"the layer {duplicate!r} is defined twice")
        if self.exhaustive and not self.containers:
            raise ValueError("`exhaustive` requires `containers`")
        known = {*names, *(name for rank in self.ranks for name in rank.optional)}
        for name, source in self._layer_references():
            if name not in known:
                raise ValueError(f"{source} refers to the unknown layer {name!r}")
        return self

    def _layer_references(self) -> list[tuple[str, str]]:
        rules = [rule for layer in self.layers for rule in layer.forbidden]
        return [
            *((name, "`order`") for rank in self.ranks for name in rank.names),
            *((rule.layer, "a rule") for rule in rules if rule.layer is not None),
            *((known.layer, "`known_violations`") for known in self.known_violations),
        ]

    @property
    def ranks(self) -> list["Rank"]:
        return read_order(self.order)


class Rank(_Strict):
    """The layers of one level in the order."""

    names: tuple[str, ...]
    optional: frozenset[str]
    is_independent: bool


def first_duplicate(names: list[str]) -> str | None:
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)


def read_order(order: list[str]) -> list[Rank]:
    """Parse `order`. Raises ValueError if it is inconsistent."""
    ranks = [_read_rank(text) for text in order]
    names = [name for rank in ranks for name in rank.names]
    if duplicate := first_duplicate(names):
        raise ValueError(f"`order` has the layer {duplicate!r} twice")
    return ranks


def _read_rank(text: str) -> Rank:
    if "|" in text and ":" in text:
        raise ValueError(f"{text!r} mixes `|` (independent) and `:` (may import each other)")
    pieces = [piece.strip() for piece in text.replace(":", "|").split("|")]
    names = [piece.removeprefix("(").removesuffix(")").strip() for piece in pieces]
    if not all(names):
        raise ValueError(f"{text!r} has a layer without a name")
    optional = frozenset(
        n for n, p in zip(names, pieces, strict=True) if p.startswith("(") and p.endswith(")")
    )
    return Rank(names=tuple(names), optional=optional, is_independent=":" not in text)


def read_boundaries(data: bytes) -> Boundaries:
    """Parse boundaries.json. Raises InvalidBoundaries if anything in it is invalid."""
    if len(data) > MAX_BYTES:
        raise InvalidBoundaries(f"is larger than {MAX_BYTES >> 10} KiB", 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidBoundaries("is not UTF-8", data[: error.start].count(b"\n") + 1) from None
    try:
        value: object = json.loads(text, object_pairs_hook=_reject_duplicate_keys)
    except json.JSONDecodeError as error:
        raise InvalidBoundaries(
            f"is not valid JSON: {error.msg}, column {error.colno}", error.lineno
        ) from None
    except RecursionError:
        raise InvalidBoundaries("is nested too deeply", 1) from None
    except _DuplicateKey as error:
        raise InvalidBoundaries(str(error)[:300], _last_line_of(error.key, text)) from None
    except ValueError as error:
        raise InvalidBoundaries(str(error)[:300], None) from None
    try:
        return Boundaries.model_validate(value)
    except ValidationError as error:
        problem = first_problem(error)
        raise InvalidBoundaries(_format_problem(problem), LineIndex(text).of(*problem.path)) from None


class _DuplicateKey(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(f"has the key {key!r} twice in one object")
        self.key = key


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if (duplicate := first_duplicate([name for name, _ in pairs])) is not None:
        raise _DuplicateKey(duplicate)
    return dict(pairs)


def _last_line_of(key: str, text: str) -> int | None:
    at = max(text.rfind(json.dumps(key, ensure_ascii=is_ascii)) for is_ascii in (True, False))
    return text.count("\n", 0, at) + 1 if at >= 0 else None


def _format_problem(problem: ValidationProblem) -> str:
    """Format a problem: `layers[1].forbidden[0].pattern: Input should be a valid string`."""
    path = ""
    for part in problem.path:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    message = "unknown key" if problem.kind == "extra_forbidden" else problem.message
    return f"{path.lstrip('.')}: {message}" if path else message


class LineIndex:
    """Find the line of a value. Parses the JSON as YAML, whose nodes have lines; slow, so only on demand."""

    def __init__(self, text: str) -> None:
        self._text = text

    def of(self, *path: int | str) -> int | None:
        """Return the line of a value; None if the JSON is not valid YAML, for example because of tabs."""
        node = self._root
        for part in path[:_MAX_NESTED]:
            found = _child_node(node, part)
            if found is None:
                break
            node = found
        return int(node.start_mark.line) + 1 if node is not None else None

    @cached_property
    def _root(self) -> Any:
        try:
            return cast(Any, yaml).compose(self._text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError):
            return None


def _child_node(node: Any, part: int | str) -> Any:
    if isinstance(node, yaml.MappingNode):
        pairs = cast(list[tuple[Any, Any]], node.value)
        return next((value for key, value in pairs if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        values = cast(list[Any], node.value)
        return values[part] if part < len(values) else None
    return None
