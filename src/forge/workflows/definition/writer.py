"""Write a definition as YAML, from scratch or by changing existing text.

When existing text is changed, unchanged values stay as they are, with their comments and style. A block of YAML is
treated as a row of pieces, each up to the end of its last line, with blank lines and comments between them. Rows are
split, changed and joined again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import BaseModel

from forge.documents.problems import LINE_END
from forge.documents.yaml_nodes import Node, Shape, YamlError
from forge.workflows.definition.models import Definition, Step
from forge.workflows.definition.source import Source
from forge.workflows.definition.structure import parse_structure
from forge.workflows.definition.yaml_values import format_yaml

_TAG = "type"
_EXACT = 1 << 53


def write(definition: Definition, before: str | None) -> str:
    """Write a definition. With `before`, comments, order and style are kept where nothing changed."""
    spliced = _spliced(definition, before) if before is not None else None
    return compose(sparse(definition)) if spliced is None else spliced


def _spliced(definition: Definition, before: str) -> str | None:
    """Change existing text; None if it is not a definition or cannot be changed piece by piece."""
    found = _read(before)
    if found is None or found[0].root.is_flow:
        return None
    source, old = found
    splicer = Splicer(source.text)
    text = splicer.document(source.root, old.as_json(), definition.as_json(), sparse(definition))
    again = _read(text)
    return text if again and is_same(again[1].as_json(), definition.as_json()) else None


def _read(text: str) -> tuple[Source, Definition] | None:
    try:
        source = Source.of(text)
    except YamlError:
        return None
    definition, _ = parse_structure(source)
    return (source, definition) if definition else None


def sparse(part: BaseModel) -> dict[str, Any]:
    """Return the values that differ from their defaults. The type of a step is not repeated in its config."""
    values: dict[str, Any] = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        is_tag = name == _TAG and not field.is_required()
        if not is_tag and not field.is_required() and is_same(_plain(value), _plain(field.default)):
            continue
        values[field.alias or name] = _plain(value)
    if isinstance(part, Step):
        values["config"].pop(_TAG)
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return sparse(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return str(value) if isinstance(value, str) else value


def compose(values: dict[str, Any]) -> str:
    """Format from scratch, with blank lines around multi-line entries and between steps."""
    text, was_tall = "", False
    for key, value in values.items():
        is_steps = key == "steps" and value and isinstance(value, list)
        entry = _steps(cast("list[Any]", value)) if is_steps else format_yaml({key: value})
        is_tall = "\n" in entry
        gap = "\n" if text and (is_tall or was_tall) else ""
        text += f"{gap}{entry}\n"
        was_tall = is_tall
    return text


def _steps(steps: list[Any]) -> str:
    return "steps:\n" + "\n\n".join(indented("  " + format_yaml([step]), "  ") for step in steps)


def indented(text: str, indent: str) -> str:
    """Indent all non-empty lines but the first."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(indent + line if line else line for line in rest)])


_Comparison = Callable[[Any, Any], bool]


def is_same(one: Any, other: Any) -> bool:
    """Compare JSON values: 1 equals 1.0 but not true, and the order of keys is ignored."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def match_items(old: Sequence[Any], new: Sequence[Any]) -> list[int | None]:
    """Return the index of the old item for each new item, or None for items that were added."""
    matches: list[int | None] = [None] * len(new)
    if _all_have_ids(old) and _all_have_ids(new):
        places = {item["id"]: index for index, item in reversed(list(enumerate(old)))}
        matches = [places.get(item["id"]) for item in new]
        comparisons: tuple[_Comparison, ...] = (_has_same_config,)
    else:
        comparisons = (is_same, _is_alike)
    for is_match in comparisons:
        _match(matches, old, new, is_match)
    return matches


def _match(matches: list[int | None], old: Sequence[Any], new: Sequence[Any], is_match: _Comparison) -> None:
    free = [index for index in range(len(old)) if index not in set(matches)]
    for place, item in enumerate(new):
        if matches[place] is None and free:
            found = next((index for index in free if is_match(old[index], item)), None)
            if found is not None:
                free.remove(found)
                matches[place] = found


def _all_have_ids(items: Sequence[Any]) -> bool:
    return all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in items)  # pyright: ignore[reportUnknownMemberType]


def _has_same_config(old: Any, new: Any) -> bool:
    """Return whether only the id of a step was changed."""
    return is_same(old.get("config"), new.get("config"))


def _is_alike(old: Any, new: Any) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return old.get("type") == new.get("type")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return False


_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_BLANKS = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_APART = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?=\r\n|\n|\r)")
"""The end of a line before a blank one."""
_MISSING = object()


@dataclass(frozen=True)
class _Piece:
    """An entry of a block. `gap`: the blank lines above it, `notes`: its comments and indent."""

    gap: str
    notes: str
    text: str


@dataclass(frozen=True)
class _Row:
    pieces: Sequence[_Piece | None]
    """None for an entry that is removed."""
    indent: str
    is_inline: bool
    """The first piece follows a dash or is at the start of the text."""
    gap: str
    """The blank lines above the first piece."""


class Splicer:
    def __init__(self, text: str) -> None:
        self._text = text
        found = LINE_END.search(text)
        self._newline = found[0] if found else "\n"

    def document(self, root: Node, old: Any, new: Any, sparse: Any) -> str:
        """Change a document from `old` to `new`. `sparse` is `new` without default values."""
        body = self._mapping(root, "", old, new, sparse)
        return self._text[: root.start] + body + self._text[self._line_end(root.end) :]

    def _mapping(self, node: Node, lead: str, old: Any, new: Any, sparse: Any) -> str:
        """Change a mapping. `lead` is the text between the previous line and its first key."""
        pairs = list(node.entries())
        indent = self._indent(node.start)
        ends = [self._line_end(max(value.end, self._colon(key))) for key, value in pairs]
        leads = [lead, *self._between(ends, [key.start for key, _ in pairs[1:]])]
        row: list[tuple[str, _Piece | None]] = []
        for (key, value), before, end in zip(pairs, leads, ends, strict=True):
            text = self._entry(key, value, end, old, new, sparse)
            row.append((key.text, None if text is None else self._piece(before, indent, text)))
        there = {key.text for key, _ in pairs}
        for name in sparse:
            if name not in there and not is_same(old.get(name, _MISSING), new[name]):
                text = self._formatted({name: sparse[name]}, indent)
                row.insert(
                    _insert_position(name, [key for key, _ in row], list(new)),
                    (name, _Piece("", indent, text)),
                )
        return self._joined(_Row([piece for _, piece in row], indent, not lead, self._split(lead)[0]))

    def _entry(self, key: Node, value: Node, end: int, old: Any, new: Any, sparse: Any) -> str | None:
        """Return the new text of a key and its value; None if it is removed."""
        name = key.text
        if is_same(old.get(name, _MISSING), new.get(name, _MISSING)):
            return self._text[key.start : end]
        if name not in sparse:
            return None
        colon, was, now = self._colon(key), old.get(name), new[name]
        if now and type(was) is type(now) and self._is_block(value) and self._begins_line(value.start):
            head = self._line_end(colon)
            row = self._mapping if value.shape is Shape.MAPPING else self._list
            body = row(value, self._text[head : value.start], was, now, sparse[name])
            return self._text[key.start : head] + body
        return self._replaced(key.start, colon, value, end, {name: sparse[name]})

    def _list(self, node: Node, lead: str, old: Any, new: Any, sparse: Any) -> str:
        indent = self._indent(node.start)
        ends = [self._line_end(item.end) for item in node.items]
        starts = [node.start, *self._dashes(ends, node.items[1:])]
        leads = [lead, *self._between(ends, starts[1:])]
        has_ids = isinstance(new[0], dict) and "id" in new[0]
        gap = self._split(leads[1])[0] if len(leads) > 1 else self._newline if has_ids else ""
        matches = match_items(old, new)
        row: list[_Piece] = []
        for match, now, sparse_item in zip(matches, new, sparse, strict=True):
            if match is None:
                row.append(_Piece(gap, indent, self._formatted([sparse_item], indent)))
                continue
            text = self._item(starts[match], node.items[match], ends[match], old[match], now, sparse_item)
            piece = self._piece(leads[match], indent, text)
            row.append(replace(piece, gap=gap) if match == 0 and row else piece)
        self._keep_notes(row, matches, leads)
        return self._joined(_Row(row, indent, not lead, self._split(lead)[0]))

    def _keep_notes(self, row: list[_Piece], matches: Sequence[int | None], leads: Sequence[str]) -> None:
        """Keep comments above a removed item if a blank line separates them: they are about more than the item."""
        for index in set(range(len(leads))) - set(matches):
            gap, notes = self._split(leads[index])
            *apart, _ = _APART.split(notes)
            after = next(
                (at for at, match in enumerate(matches) if match is not None and match > index), None
            )
            if after is not None and any("#" in text for text in apart):
                kept_comments = (self._newline * 2).join(
                    text.strip("\r\n") for text in apart
                ) + self._newline * 2
                row[after] = replace(row[after], gap=gap, notes=kept_comments + row[after].notes)

    def _item(self, start: int, item: Node, end: int, old: Any, new: Any, sparse: Any) -> str:
        if is_same(old, new):
            return self._text[start:end]
        between = self._text[start + 1 : item.start]
        is_table = item.shape is Shape.MAPPING and isinstance(old, dict) and isinstance(new, dict)
        if is_table and new and self._is_block(item) and not between.strip():
            head = min(self._line_end(start), item.start)
            body = self._mapping(
                item, self._text[head : item.start] if between.strip(" ") else "", old, new, sparse
            )
            return self._text[start : item.start if not between.strip(" ") else head] + body
        return self._replaced(start, start + 1, item, end, [sparse])

    def _replaced(self, start: int, head: int, value: Node, end: int, entry: Any) -> str:
        """Format an entry from scratch, keeping the comment on its first or last line."""
        inner = cast("Any", entry[0] if isinstance(entry, list) else next(iter(entry.values())))
        if value.is_flow and isinstance(inner, (dict, list)):
            text = f"{self._text[start:head]} {format_yaml(_in_order(inner, value), is_flow=True)}"
        else:
            text = self._formatted(entry, self._indent(start))
        first, *rest = text.split(self._newline)
        return self._newline.join([first + self._comment(head, value, end), *rest])

    def _comment(self, head: int, value: Node, end: int) -> str:
        behind_head = _COMMENT.match(self._text, head, max(value.start, head))
        if behind_head:
            return behind_head[0]
        if value.shape is Shape.SCALAR and self._text[value.start : value.start + 1] in ("|", ">"):
            found = _COMMENT.search(self._text, value.start, self._line_end(value.start))
        else:
            found = _COMMENT.match(self._text, max(value.end, head), end)
        return found[0] if found else ""

    def _joined(self, row: _Row) -> str:
        text = ""
        for piece in row.pieces:
            if piece is None:
                continue
            if text:
                text += self._newline + piece.gap + piece.notes + piece.text
            elif row.is_inline:
                text = (piece.notes if not row.indent else "") + piece.text
            else:
                text = self._newline + row.gap + piece.notes + piece.text
        return text

    def _piece(self, lead: str, indent: str, text: str) -> _Piece:
        gap, notes = self._split(lead)
        return _Piece(gap, notes or indent, text)

    def _split(self, lead: str) -> tuple[str, str]:
        """Split the text between two pieces into blank lines, and comments with indent."""
        line_end = LINE_END.match(lead)
        if line_end is None:
            return "", ""
        blanks = _BLANKS.match(lead, line_end.end())
        end = blanks.end() if blanks else line_end.end()
        return lead[line_end.end() : end], lead[end:]

    def _between(self, ends: Sequence[int], starts: Iterable[int]) -> list[str]:
        return [self._text[end:start] for end, start in zip(ends, starts, strict=False)]

    def _dashes(self, ends: Sequence[int], items: Iterable[Node]) -> list[int]:
        return [self._text.rfind("-", end, item.start + 1) for end, item in zip(ends, items, strict=False)]

    def _formatted(self, value: Any, indent: str) -> str:
        first, *rest = format_yaml(value).split("\n")
        return self._newline.join([first, *(indent + line if line else line for line in rest)])

    def _is_block(self, node: Node) -> bool:
        """Return whether each entry is on its own line. Explicit keys (`? key`) are not supported."""
        if node.shape is Shape.SCALAR or node.is_flow or not node.items:
            return False
        keys = node.items[::2] if node.shape is Shape.MAPPING else []
        return all(self._text[key.end : self._line_end(key.end)].lstrip().startswith(":") for key in keys)

    def _line_end(self, offset: int) -> int:
        found = LINE_END.search(self._text, offset)
        return found.start() if found else len(self._text)

    def _colon(self, key: Node) -> int:
        """Return the offset after the colon of a key."""
        return self._text.index(":", key.end) + 1

    def _line_start(self, offset: int) -> int:
        return max(self._text.rfind("\n", 0, offset), self._text.rfind("\r", 0, offset)) + 1

    def _indent(self, offset: int) -> str:
        return " " * (offset - self._line_start(offset))

    def _begins_line(self, offset: int) -> bool:
        return not self._text[self._line_start(offset) : offset].strip()


def _insert_position(name: str, there: Sequence[str], order: Sequence[str]) -> int:
    """Return the position after the last key that precedes `name` in the order."""
    earlier = set(order[: order.index(name)])
    return max((index + 1 for index, key in enumerate(there) if key in earlier), default=0)


def _in_order(value: Any, node: Node) -> Any:
    """Return a mapping in the key order of the node; new keys come last."""
    if not isinstance(value, dict) or node.shape is not Shape.MAPPING:
        return value  # pyright: ignore[reportUnknownVariableType]
    entries = cast("dict[str, Any]", value)
    there = [key.text for key, _ in node.entries() if key.text in entries]
    return {key: entries[key] for key in dict.fromkeys([*there, *entries])}
