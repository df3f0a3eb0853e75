"""A definition as YAML: in our own style, or into a text that is there already, of which everything else stays as it is."""

from typing import Any, cast

from pydantic import BaseModel

from forge.documents.nodes import NotYaml
from forge.workflows.definition.form import form_of
from forge.workflows.definition.matching import is_same
from forge.workflows.definition.models import Definition, Step
from forge.workflows.definition.notation import lay_out
from forge.workflows.definition.source import Source
from forge.workflows.definition.splicing import Splicing

_TAG = "type"
_EXACT = 1 << 53


def write(definition: Definition, before: str | None) -> str:
    """With `before` its comments, its order and its style stay wherever the definition says the same."""
    spliced = _spliced(definition, before) if before is not None else None
    return compose(sparse(definition)) if spliced is None else spliced


def _spliced(definition: Definition, before: str) -> str | None:
    """None when the text is no definition, or is written in a way that cannot be changed piece by piece."""
    found = _read(before)
    if found is None or found[0].root.is_flow:
        return None
    source, old = found
    splicing = Splicing(source.text)
    text = splicing.document(source.root, old.as_json(), definition.as_json(), sparse(definition))
    again = _read(text)
    return text if again and is_same(again[1].as_json(), definition.as_json()) else None


def _read(text: str) -> tuple[Source, Definition] | None:
    try:
        source = Source.of(text)
    except NotYaml:
        return None
    definition, _ = form_of(source)
    return (source, definition) if definition else None


def sparse(part: BaseModel) -> dict[str, Any]:
    """Without what has its default, as a person writes it. What a step does says its kind once, beside its id."""
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
    """In our own style: what takes several lines stands apart, and so does each step."""
    text, was_tall = "", False
    for key, value in values.items():
        is_steps = key == "steps" and value and isinstance(value, list)
        entry = _steps(cast("list[Any]", value)) if is_steps else lay_out({key: value})
        is_tall = "\n" in entry
        gap = "\n" if text and (is_tall or was_tall) else ""
        text += f"{gap}{entry}\n"
        was_tall = is_tall
    return text


def _steps(steps: list[Any]) -> str:
    return "steps:\n" + "\n\n".join(indented("  " + lay_out([step]), "  ") for step in steps)


def indented(text: str, indent: str) -> str:
    """All lines but the first; empty ones stay empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(indent + line if line else line for line in rest)])
