"""Puts changed values into the text they were read from: what did not change is not touched, and comments go with what
they stand at.

A block of YAML is a row of pieces, each up to the end of its last line, with blank lines and comments between them.
Rows are taken apart, changed and put together again.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from forge.documents.nodes import Node, Shape
from forge.documents.places import LINE_END
from forge.workflows.definition.matching import is_same, match_items
from forge.workflows.definition.notation import lay_out

_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_BLANKS = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_APART = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?=\r\n|\n|\r)")
"""The end of a line that a blank one follows."""
_MISSING = object()


@dataclass(frozen=True)
class _Piece:
    """`gap` are the blank lines above it, `notes` its comments and its indent."""

    gap: str
    notes: str
    text: str


@dataclass(frozen=True)
class _Row:
    pieces: Sequence[_Piece | None]
    """None for one that goes."""
    indent: str
    is_inline: bool
    """The first piece stands behind a dash, or at the beginning of the text."""
    gap: str
    """Above the first."""


class Splicing:
    def __init__(self, text: str) -> None:
        self._text = text
        found = LINE_END.search(text)
        self._newline = found[0] if found else "\n"

    def document(self, root: Node, old: Any, new: Any, sparse: Any) -> str:
        """`old` and `new` are all there is to say, `sparse` is what has to be said of `new`."""
        body = self._mapping(root, "", old, new, sparse)
        return self._text[: root.start] + body + self._text[self._line_end(root.end) :]

    def _mapping(self, node: Node, lead: str, old: Any, new: Any, sparse: Any) -> str:
        """`lead` is all from the end of the line before, if the first key stands on a line of its own."""
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
                text = self._laid_out({name: sparse[name]}, indent)
                row.insert(
                    _place_of(name, [key for key, _ in row], list(new)), (name, _Piece("", indent, text))
                )
        return self._joined(_Row([piece for _, piece in row], indent, not lead, self._split(lead)[0]))

    def _entry(self, key: Node, value: Node, end: int, old: Any, new: Any, sparse: Any) -> str | None:
        """What becomes of a key and its value; None when it goes."""
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
        for match, now, said in zip(matches, new, sparse, strict=True):
            if match is None:
                row.append(_Piece(gap, indent, self._laid_out([said], indent)))
                continue
            text = self._item(starts[match], node.items[match], ends[match], old[match], now, said)
            piece = self._piece(leads[match], indent, text)
            row.append(replace(piece, gap=gap) if match == 0 and row else piece)
        self._keep_notes(row, matches, leads)
        return self._joined(_Row(row, indent, not lead, self._split(lead)[0]))

    def _keep_notes(self, row: list[_Piece], matches: Sequence[int | None], leads: Sequence[str]) -> None:
        """A comment with a blank line below it is about more than the item that goes."""
        for index in set(range(len(leads))) - set(matches):
            gap, notes = self._split(leads[index])
            *apart, _ = _APART.split(notes)
            after = next(
                (at for at, match in enumerate(matches) if match is not None and match > index), None
            )
            if after is not None and any("#" in text for text in apart):
                kept = (self._newline * 2).join(text.strip("\r\n") for text in apart) + self._newline * 2
                row[after] = replace(row[after], gap=gap, notes=kept + row[after].notes)

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
        """Laid out anew, with the comment that stood on its first or its last line."""
        inner = cast("Any", entry[0] if isinstance(entry, list) else next(iter(entry.values())))
        if value.is_flow and isinstance(inner, (dict, list)):
            text = f"{self._text[start:head]} {lay_out(_in_order(inner, value), is_flow=True)}"
        else:
            text = self._laid_out(entry, self._indent(start))
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
        """The blank lines, and the comments with the indent, behind the end of the line before."""
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

    def _laid_out(self, value: Any, indent: str) -> str:
        first, *rest = lay_out(value).split("\n")
        return self._newline.join([first, *(indent + line if line else line for line in rest)])

    def _is_block(self, node: Node) -> bool:
        """With a line for each piece. Keys that stand on a line of their own (`? key`) have no such lines."""
        if node.shape is Shape.SCALAR or node.is_flow or not node.items:
            return False
        keys = node.items[::2] if node.shape is Shape.MAPPING else []
        return all(self._text[key.end : self._line_end(key.end)].lstrip().startswith(":") for key in keys)

    def _line_end(self, offset: int) -> int:
        found = LINE_END.search(self._text, offset)
        return found.start() if found else len(self._text)

    def _colon(self, key: Node) -> int:
        """Behind it."""
        return self._text.index(":", key.end) + 1

    def _line_start(self, offset: int) -> int:
        return max(self._text.rfind("\n", 0, offset), self._text.rfind("\r", 0, offset)) + 1

    def _indent(self, offset: int) -> str:
        return " " * (offset - self._line_start(offset))

    def _begins_line(self, offset: int) -> bool:
        return not self._text[self._line_start(offset) : offset].strip()


def _place_of(name: str, there: Sequence[str], order: Sequence[str]) -> int:
    """Behind the last of those that come before it."""
    earlier = set(order[: order.index(name)])
    return max((index + 1 for index, key in enumerate(there) if key in earlier), default=0)


def _in_order(value: Any, node: Node) -> Any:
    """The keys that were there in the order they had."""
    if not isinstance(value, dict) or node.shape is not Shape.MAPPING:
        return value  # pyright: ignore[reportUnknownVariableType]
    entries = cast("dict[str, Any]", value)
    there = [key.text for key, _ in node.entries() if key.text in entries]
    return {key: entries[key] for key in dict.fromkeys([*there, *entries])}
