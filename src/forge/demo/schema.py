"""Fills a JSON schema with the smallest plausible value, for requests that want an answer in a form."""

from typing import Any, cast

from forge.demo.conversation import JsonObject

MAX_DEPTH = 12
FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def fill_schema(schema: JsonObject) -> Any:
    return _value(schema, schema, "answer", 0)


def _value(schema: JsonObject, root: JsonObject, name: str, depth: int) -> Any:
    schema = _resolved(schema, root)
    if depth > MAX_DEPTH:
        return None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _value(_simplest(options, root), root, name, depth + 1)
    return _of_type(schema, root, name, depth)


def _resolved(schema: JsonObject, root: JsonObject) -> JsonObject:
    """References followed, `allOf` merged."""
    for _ in range(MAX_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        target: Any = root
        for key in reference.removeprefix("#").strip("/").split("/"):
            target = target.get(key, {}) if key else target
        schema = {**cast(JsonObject, target), **{key: item for key, item in schema.items() if key != "$ref"}}
    for part in schema.get("allOf", []):
        schema = {**schema, **_resolved(part, root)}
    return schema


def _simplest(options: list[JsonObject], root: JsonObject) -> JsonObject:
    resolved = [_resolved(option, root) for option in options]
    return next((option for option in resolved if option.get("type") != "null"), resolved[0])


def _of_type(schema: JsonObject, root: JsonObject, name: str, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in cast("list[str]", kind) if each != "null"), "null")
    match kind or ("object" if "properties" in schema else "string"):
        case "object":
            return _object(schema, root, depth)
        case "array":
            return [_value(item, root, name, depth + 1) for item in _items(schema)]
        case "string":
            return _string(schema, name)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case _:
            return None


def _items(schema: JsonObject) -> list[JsonObject]:
    first = cast("list[JsonObject]", schema.get("prefixItems", []))
    return first + [schema.get("items") or {}] * (schema.get("minItems", 0) - len(first))


def _object(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    return {name: _value(properties.get(name, {}), root, name, depth + 1) for name in required}


def _string(schema: JsonObject, name: str) -> str:
    text = FORMATS.get(schema.get("format", ""), f"scripted {name.replace('_', ' ')}")
    return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]


def _number(schema: JsonObject) -> int | float:
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    highest = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = schema.get("multipleOf", 1)
    if lowest is not None:
        value = lowest if lowest % step == 0 else lowest + step - lowest % step
        return value + step if value == schema.get("exclusiveMinimum") else value
    if highest is not None and highest <= 0:
        return highest - step
    return 0
