"""What people may write in other ways, brought into the one form before it is looked at closely."""

from typing import Any, cast

from forge.workflows.definition.source import Fault

LANGUAGES = {
    "js": "javascript",
    "node": "javascript",
    "type_script": "javascript",
    "typescript": "javascript",
    "ts": "javascript",
    "py": "python",
    "python3": "python",
}
_CONDITIONS = ("condition", "when")


def loosen(data: dict[str, Any]) -> list[Fault]:
    """Changes the data in place. What contradicts itself is told."""
    if isinstance(data.get("triggers"), (str, dict)):
        data["triggers"] = [data["triggers"]]
    triggers = _items(data.get("triggers"))
    for index, trigger in enumerate(triggers):
        if isinstance(trigger, str):
            triggers[index] = {"type": trigger}
        elif isinstance(trigger, dict):
            _bare(cast("dict[str, Any]", trigger))
    if isinstance(data.get("owner"), str):
        data["owner"] = {"type": data["owner"]} if data["owner"] == "global" else {"slug": data["owner"]}
    owner = data.get("owner")
    if isinstance(owner, dict) and "slug" in owner:
        cast("dict[str, Any]", owner).setdefault("type", "bot")
    return [
        fault
        for index, step in enumerate(_items(data.get("steps")))
        if isinstance(step, dict)
        for fault in _loosen_step(index, cast("dict[str, Any]", step))
    ]


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _loosen_step(index: int, step: dict[str, Any]) -> list[Fault]:
    _bare(step)
    if not isinstance(step.get("config"), dict):
        return []
    config = cast("dict[str, Any]", step["config"])
    _bare(config)
    if isinstance(language := config.get("language"), str):
        config["language"] = LANGUAGES.get(language.lower(), language.lower())
    if isinstance(method := config.get("method"), str):
        config["method"] = method.upper()
    kind, inner = step.get("type"), config.get("type")
    if kind is None and inner is not None:
        step["type"] = inner
    elif inner is None and kind is not None:
        config["type"] = kind
    elif kind != inner:
        return [
            Fault(
                ("steps", index, "config", "type"),
                f"The step is of type `{str(kind)[:60]}`, and its `config` of type `{str(inner)[:60]}`.",
                "Keep one of the two.",
            )
        ]
    return []


def _bare(data: dict[str, Any]) -> None:
    """`{{ a > b }}` is `a > b` where nothing but an expression can be."""
    for name in _CONDITIONS:
        value = data.get(name)
        if not isinstance(value, str):
            continue
        inner = value.strip()
        if inner.startswith("{{") and inner.endswith("}}") and "{{" not in inner[2:]:
            data[name] = inner[2:-2].strip()
