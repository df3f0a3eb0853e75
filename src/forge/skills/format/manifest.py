"""Read and write `SKILL.md` of the Agent Skills standard: front matter with six fields, and instructions below it.

Violations of the standard are errors with their line. Extensions of other clients are read with a warning.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from forge.documents.frontmatter import (
    FrontMatter,
    UnreadableFrontMatter,
    read_front_matter,
    write_front_matter,
)
from forge.documents.problems import Problem, find_hidden_text, find_unusable_text
from forge.documents.yaml_nodes import Node, Shape
from forge.errors import Invalid
from forge.skills.capabilities import is_entry_name, is_host, is_root
from forge.skills.models import (
    MAX_DESCRIPTION,
    MAX_SKILL_NAME,
    SKILL_MD,
    Capability,
    Manifest,
    SkillKind,
    SkillProblem,
    first_error,
    is_skill_name,
)
from forge.skills.relations.semver import parse_requirement, parse_version

MAX_SKILL_MD = 200_000
"""In characters."""
MAX_COMPATIBILITY = 500
FIELDS = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
MAX_PROBLEMS = 50

_QUOTES = "\"'|>"
_TEXT_TAG = "tag:yaml.org,2002:str"
_NAME_HINT = "Use lower-case letters, digits and single hyphens, such as `release-notes`."


@dataclass(frozen=True)
class ParsedSkill:
    manifest: Manifest | None
    """None if there is an error."""
    body: str
    problems: list[SkillProblem]

    @property
    def mistake(self) -> SkillProblem | None:
        return first_error(self.problems)

    @property
    def error(self) -> Invalid:
        """The first problem as an error, for messages about several skills."""
        problem = self.problems[0]
        return Invalid(f"Its {SKILL_MD}, {problem.located_message}", hint=problem.hint)


def read_skill_md(text: str, folder: str) -> ParsedSkill:
    """Parse the SKILL.md of the skill in the folder of this name."""
    if len(text) > MAX_SKILL_MD:
        return _unreadable(Problem(1, 1, f"The file has more than {MAX_SKILL_MD:,} characters.", _LONG))
    if problem := find_unusable_text(text):
        return _unreadable(problem)
    try:
        front = read_front_matter(text)
    except UnreadableFrontMatter as error:
        return _unreadable(error.problem)
    reader = _Reader(front)
    manifest = reader.read(folder)
    if unseen := find_hidden_text(text):
        reader.problems.append(unseen)
    by_place = sorted(reader.problems, key=lambda problem: (problem.is_warning, problem.line, problem.column))
    return ParsedSkill(manifest, front.body, [_skill_problem(problem) for problem in by_place[:MAX_PROBLEMS]])


_LONG = "Move what is not always needed to other files of the skill."


def _unreadable(problem: Problem) -> ParsedSkill:
    return ParsedSkill(None, "", [_skill_problem(problem)])


def _skill_problem(problem: Problem) -> SkillProblem:
    return SkillProblem(
        line=problem.line, message=problem.message, hint=problem.hint, is_warning=problem.is_warning
    )


def write_skill_md(manifest: Manifest, body: str) -> str:
    values = manifest.model_dump(by_alias=True, exclude_none=True)
    if not manifest.metadata:
        del values["metadata"]
    return write_front_matter(values, body)


class _Reader:
    """Reads one front matter and collects its problems."""

    def __init__(self, front: FrontMatter) -> None:
        self._front = front
        self.problems: list[Problem] = []

    def read(self, folder: str) -> Manifest | None:
        for key, _ in self._front.root.entries():
            if key.text not in FIELDS:
                self._warn(f"`{key.text[:60]}` is not a field of the standard.", key, hint=_EXTRA)
        values: dict[str, Any] = {
            "name": self._name(folder),
            "description": self._text("description", most=MAX_DESCRIPTION, is_needed=True),
            "license": self._text("license"),
            "compatibility": self._text("compatibility", most=MAX_COMPATIBILITY),
            "allowed_tools": self._tools(),
            "metadata": self._metadata(),
        }
        if any(not problem.is_warning for problem in self.problems):
            return None
        manifest = Manifest.model_validate(values)
        self.problems += _metadata_problems(self._front, manifest)
        return manifest

    def _name(self, folder: str) -> str | None:
        name = self._text("name", is_needed=True)
        if name is None:
            return None
        key = self._key("name")
        if len(name) > MAX_SKILL_NAME:
            self._error(f"`name` must have at most {MAX_SKILL_NAME} characters.", key)
        elif not is_skill_name(name):
            self._error("`name` has an invalid format.", key, hint=_NAME_HINT)
        elif name != folder:
            hint = "The folder must have the name of the skill: rename one of the two."
            self._error(f"`name` is {name}, but the folder is {folder[:MAX_SKILL_NAME]}.", key, hint=hint)
        return name

    def _text(self, name: str, *, most: int | None = None, is_needed: bool = False) -> str | None:
        pair = self._front.find(name)
        if pair is None or pair[1].is_null:
            if is_needed:
                problem = "is missing" if pair is None else "must not be empty"
                self._error(f"`{name}` {problem}.", pair and pair[0], hint=f"Add a line `{name}: …`.")
            return None
        key, value = pair
        if value.shape is not Shape.SCALAR:
            self._error(
                f"`{name}` must be a string.", key, hint="Put the text in quotes on the line of the key."
            )
        elif is_needed and not value.text.strip():
            self._error(f"`{name}` must not be empty.", key, hint="Write a value after the colon.")
        elif most is not None and len(value.text) > most:
            self._error(f"`{name}` has {len(value.text):,} characters; the maximum is {most:,}.", key)
        return value.text

    def _tools(self) -> str | None:
        pair = self._front.find("allowed-tools")
        if pair is None or pair[1].shape is not Shape.LIST:
            return self._text("allowed-tools")
        self._warn("`allowed-tools` is a list; the standard expects a string separated by spaces.", pair[0])
        return _as_text(pair[1])

    def _metadata(self) -> Mapping[str, str]:
        pair = self._front.find("metadata")
        if pair is None or pair[1].is_null:
            return {}
        key, value = pair
        if value.shape is not Shape.MAPPING:
            self._error("`metadata` must be a mapping of strings.", key, hint="Write `  version: '1.0'`.")
            return {}
        for name, node in value.entries():
            if what := self._misread_type(node):
                hint = "It is read as a string; put it in quotes so that every client does so."
                self._warn(f"`metadata.{name.text[:60]}` is {what}; it must be a string.", name, hint=hint)
        return {name.text: _as_text(node) for name, node in value.entries()}

    def _misread_type(self, node: Node) -> str | None:
        """Return how other YAML clients would read the value, if not as a string."""
        if node.shape is not Shape.SCALAR:
            return "a list" if node.shape is Shape.LIST else "a mapping"
        first = self._front.text[self._front.start + node.start :][:1]
        if first and first in _QUOTES:
            return None
        resolver: Any = Resolver()
        tag: str = resolver.resolve(ScalarNode, node.text, (True, False))
        return None if tag == _TEXT_TAG else _TAGS.get(tag, "not a string")

    def _key(self, name: str) -> Node | None:
        pair = self._front.find(name)
        return pair and pair[0]

    def _error(self, message: str, node: Node | None, *, hint: str | None = None) -> None:
        self.problems.append(self._front.problem(message, node, hint=hint))

    def _warn(self, message: str, node: Node, *, hint: str | None = None) -> None:
        self.problems.append(self._front.problem(message, node, hint=hint, is_warning=True))


_EXTRA = f"It is ignored. The fields are {', '.join(f'`{name}`' for name in FIELDS)}; put anything else under `metadata`."
_TAGS = {
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "a boolean",
    "tag:yaml.org,2002:null": "empty",
    "tag:yaml.org,2002:timestamp": "a date",
}


def _as_text(node: Node) -> str:
    """Join a list with spaces; dump anything deeper as JSON."""
    if node.shape is Shape.SCALAR:
        return "" if node.is_null else node.text
    if node.shape is Shape.LIST and all(item.shape is Shape.SCALAR for item in node.items):
        return " ".join(item.text for item in node.items)
    return json.dumps(node.plain(), ensure_ascii=False)


def _metadata_problems(front: FrontMatter, manifest: Manifest) -> Iterator[Problem]:
    pair = front.find("metadata")
    places = {key.text: key for key, _ in pair[1].entries()} if pair else {}
    for odd in metadata_warnings(manifest):
        yield front.problem(odd.message, places[odd.key], hint=odd.hint, is_warning=True)
    if not front.body.strip():
        hint = "Write them below the front matter."
        yield front.problem("There are no instructions.", hint=hint, is_warning=True)


TIER_KEYS = ("forge-tier", "trust-tier", "tier")
_SHOWN = 60


@dataclass(frozen=True)
class MetadataWarning:
    key: str
    """Key in `metadata`."""
    message: str
    hint: str


def metadata_warnings(manifest: Manifest) -> Iterator[MetadataWarning]:
    yield from _kind(manifest)
    yield from _version(manifest)
    yield from _capabilities(manifest)
    yield from _claims(manifest)
    for key, (is_right, what, hint) in _WORDS.items():
        for word in manifest.metadata.get(key, "").split():
            if not is_right(word):
                yield MetadataWarning(key, f"`{word[:_SHOWN]}` {what} and is ignored.", hint)
    for key in ("forge-dependencies", "forge-conflicts", "forge-parents"):
        yield from _relations(manifest, key)


def _kind(manifest: Manifest) -> Iterator[MetadataWarning]:
    said = manifest.metadata.get("forge-kind")
    if said is not None and said not in set(SkillKind):
        message = "`metadata.forge-kind` is not a kind of skill; `prompt` is assumed."
        yield MetadataWarning("forge-kind", message, f"Write one of {', '.join(SkillKind)}.")


def _version(manifest: Manifest) -> Iterator[MetadataWarning]:
    said = manifest.metadata.get("version")
    if said is not None and parse_version(said) is None:
        message = f"`{said[:_SHOWN]}` is not a version; no range can match it."
        yield MetadataWarning("version", message, "Write it as 1.2.0.")


def _capabilities(manifest: Manifest) -> Iterator[MetadataWarning]:
    for word in manifest.metadata.get("forge-capabilities", "").split():
        if word not in set(Capability):
            message = f"There is no capability `{word[:_SHOWN]}`; it is ignored."
            yield MetadataWarning("forge-capabilities", message, f"There are {', '.join(Capability)}.")


def _claims(manifest: Manifest) -> Iterator[MetadataWarning]:
    for key in TIER_KEYS:
        if key in manifest.metadata:
            message = "A skill cannot set its own trust tier; this is ignored."
            yield MetadataWarning(key, message, "Remove it. The person who installs the skill decides.")


def _relations(manifest: Manifest, key: str) -> Iterator[MetadataWarning]:
    for word in manifest.metadata.get(key, "").split():
        requirement = parse_requirement(word)
        if requirement is None:
            yield MetadataWarning(key, f"`{word[:_SHOWN]}` is not a skill name; it is ignored.", _NEED_HINT)
        elif requirement.range.is_empty:
            yield MetadataWarning(key, f"No version can match `{word[:_SHOWN]}`.", _NEED_HINT)
        elif requirement.name == manifest.name:
            yield MetadataWarning(key, "The skill refers to itself.", "Remove it.")


_NEED_HINT = "Write a name, or a name with a range: notes, notes@^1.2, notes@>=1.0,<2."
_WORDS: Mapping[str, tuple[Callable[[str], bool], str, str]] = {
    "forge-hosts": (
        is_host,
        "is not a host",
        "Write it as api.example.com, *.example.com or example.com:8443.",
    ),
    "forge-files": (is_root, "is not a folder", "Write the absolute path."),
    "forge-env": (is_entry_name, "is not a variable name", "Write it as LANG; separate several with spaces."),
    "forge-secrets": (is_entry_name, "is not a secret name", "Write its name in the vault, not its value."),
    "forge-commands": (is_entry_name, "is not a program name", "Write it as git, without a path."),
}
