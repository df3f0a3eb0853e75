"""Validate the files of a skill. Nothing is executed."""

import re
from collections.abc import Collection, Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from forge.errors import ForgeError, Invalid
from forge.kernel.validation import first_problem
from forge.skills.capabilities import HOST_CAPABILITIES, requested_capabilities
from forge.skills.execution import SCRIPTS, entry_file
from forge.skills.format.contents import check_path, check_sizes, manifest_text, text_of
from forge.skills.format.manifest import MAX_PROBLEMS, ParsedSkill, read_skill_md
from forge.skills.format.skill_writer import SCOPE_KEYS, TRIGGERS_FILE, find_cases
from forge.skills.format.source_code import source_problems
from forge.skills.models import SKILL_MD, Capability, Manifest, SkillCase, SkillKind, SkillProblem
from forge.skills.views import TriggerCase, Validation

MAX_CASES = 20
MAX_TRIGGERS = 20
ADVISED_LINES = 500
ADVISED_TOKENS = 5000
CHARACTERS_PER_TOKEN = 4
"""An estimate for prose."""
MAX_SIMILAR_WARNINGS = 5
"""Maximum number of warnings of the same kind."""

_TRIGGER_CASES: TypeAdapter[list[TriggerCase]] = TypeAdapter(list[TriggerCase])

_LINK = re.compile(r"\]\(<?(?P<link>[^)\s>]{1,300})")
_NAMED = re.compile(r"`(?P<code>(?:scripts|references|assets)/[\w./-]{1,200})`")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|[#/<{$]")
_SECRET = re.compile(
    r"sk-(?:ant|proj|or)-[\w-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|glpat-[\w-]{20,}|AKIA[0-9A-Z]{16}"
    r"|AIza[\w-]{35}|xox[abprs]-[\w-]{10,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
)


def validate(name: str, files: Mapping[str, bytes]) -> Validation:
    """Validate the skill with this folder name. Blocks."""
    try:
        _check_folder(files)
        reading = read_skill_md(manifest_text(files[SKILL_MD]), name)
    except ForgeError as error:
        return Validation(valid=False, problems=[SkillProblem(message=error.message, hint=error.hint)])
    problems = [*reading.problems]
    if reading.manifest is not None:
        problems += _in_files(reading.manifest, files)
    problems += [*_about_body(reading, files), *_secrets(files)]
    problems.sort(key=lambda problem: problem.is_warning)
    return Validation(
        valid=not any(not problem.is_warning for problem in problems),
        problems=problems[:MAX_PROBLEMS],
        manifest=reading.manifest,
        asks=requested_capabilities(reading.manifest, []) if reading.manifest else [],
    )


def _check_folder(files: Mapping[str, bytes]) -> None:
    if SKILL_MD not in files:
        raise Invalid(f"A skill needs a {SKILL_MD}.")
    for path in files:
        check_path(path)
    check_sizes({path: len(data) for path, data in files.items()})


def _in_files(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[SkillProblem]:
    if manifest.kind is SkillKind.PROMPT:
        yield from _unused_script(manifest, files)
    else:
        yield from _entry(manifest, files)
        yield from _cases(files)
    yield from _combinations(manifest)
    yield from _triggers(files)


def _entry(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[SkillProblem]:
    try:
        entry = entry_file(manifest.kind, files, manifest.name)
    except ForgeError as error:
        yield SkillProblem(message=error.message, hint=error.hint)
    else:
        yield from source_problems(entry, files[entry])


def _unused_script(manifest: Manifest, files: Collection[str]) -> Iterator[SkillProblem]:
    """Warn about a script at the root that nothing runs. In other folders, scripts may belong to instructions."""
    if "forge-kind" not in manifest.metadata and (
        found := next((one for one in SCRIPTS if one in files), None)
    ):
        hint = "To run it, add `forge-kind: script` under `metadata`."
        yield _warning(f"{found} never runs: the skill is not declared as a script.", hint)


def _combinations(manifest: Manifest) -> Iterator[SkillProblem]:
    asked = set(manifest.capabilities)
    if manifest.kind is SkillKind.LOCAL:
        for one in sorted(asked.intersection(HOST_CAPABILITIES)):
            hint = "Use a script instead, or pass the data as input."
            yield _warning(f"A program has no network; {one} has no effect.", hint)
        for one in sorted(asked & {Capability.KV, Capability.RECALL_MEMORY, Capability.LOG}):
            yield _warning(f"A program cannot call Forge while it runs; {one} has no effect.", None)
    for key, wanted in _WANTED.items():
        if manifest.kind is SkillKind.LOCAL and key in _NOT_FOR_PROGRAMS:
            continue
        asking, is_said = (
            sorted(asked.intersection(SCOPE_KEYS[key])),
            bool(manifest.metadata.get(key, "").split()),
        )
        if asking and not is_said:
            hint = f"Name them: `{key}: …` under `metadata`."
            yield _warning(f"It requests {' and '.join(asking)} but does not say {wanted}.", hint)
        if is_said and not asking:
            hint = f"Add {' or '.join(sorted(SCOPE_KEYS[key]))} to `forge-capabilities`."
            yield _warning(f"`{key}` has no effect without its capability.", hint)


_WANTED: Mapping[str, str] = {
    "forge-hosts": "which hosts it wants to reach",
    "forge-env": "which variables it wants to read",
    "forge-secrets": "which secrets it wants to use",
    "forge-commands": "which programs it wants to start",
}
_NOT_FOR_PROGRAMS = ("forge-hosts", "forge-commands")


def _cases(files: Mapping[str, bytes]) -> Iterator[SkillProblem]:
    cases = find_cases(files)
    if len(cases) > MAX_CASES:
        yield _warning(f"There are {len(cases)} tests; only {MAX_CASES} run.", None)
    for path, data in cases.items():
        try:
            SkillCase.model_validate_json(data)
        except ValidationError as error:
            yield _warning(
                f"{path} is not a valid test: {first_problem(error)}.",
                "A test has `name`, `input` and `expect`.",
            )


def _triggers(files: Mapping[str, bytes]) -> Iterator[SkillProblem]:
    if TRIGGERS_FILE not in files:
        return
    try:
        found = read_triggers(files[TRIGGERS_FILE])
    except Invalid as error:
        yield _warning(error.message, error.hint)
    else:
        if len(found) > MAX_TRIGGERS:
            yield _warning(f"{TRIGGERS_FILE} has {len(found)} cases; only {MAX_TRIGGERS} run.", None)


def read_triggers(data: bytes) -> list[TriggerCase]:
    """Parse `tests/triggers.json`. Raises Invalid."""
    try:
        return _TRIGGER_CASES.validate_json(data)
    except ValidationError as error:
        message = f"{TRIGGERS_FILE} cannot be read: {first_problem(error)}."
        raise Invalid(message, hint='It must be a list of `{"say": "…", "should": true}`.') from error


def _about_body(reading: ParsedSkill, files: Collection[str]) -> Iterator[SkillProblem]:
    if reading.manifest is None:
        return
    lines, tokens = reading.body.count("\n"), len(reading.body) // CHARACTERS_PER_TOKEN
    if lines > ADVISED_LINES or tokens > ADVISED_TOKENS:
        hint = "Move what is not always needed to other files: the model reads all instructions each time."
        yield _warning(f"The instructions are long: {lines:,} lines, about {tokens:,} tokens.", hint)
    missing = [path for path in _referenced_files(reading.body) if not _is_there(path, files)]
    for path in missing[:MAX_SIMILAR_WARNINGS]:
        yield _warning(
            f"The instructions refer to {path}, which does not exist.", "Add it, or correct the path."
        )


def _referenced_files(body: str) -> Iterator[str]:
    """Yield files that the instructions link or name, each once."""
    seen: set[str] = set()
    for pattern in (_LINK, _NAMED):
        for match in pattern.finditer(body):
            path = match[1].partition("#")[0].removeprefix("./")
            is_file = ("." in path or "/" in path) and ".." not in path.split("/")
            if is_file and path not in seen and not _SCHEME.match(path):
                seen.add(path)
                yield path


def _is_there(path: str, files: Collection[str]) -> bool:
    folder = path.rstrip("/") + "/"
    return path in files or any(one.startswith(folder) for one in files)


def _secrets(files: Mapping[str, bytes]) -> Iterator[SkillProblem]:
    """Warn about unmistakable secrets, without repeating the value."""
    found = 0
    for path, data in files.items():
        text = text_of(data)
        match = _SECRET.search(text) if text else None
        if text and match and found < MAX_SIMILAR_WARNINGS:
            found += 1
            line = text.count("\n", 0, match.start()) + 1
            hint = "Remove and rotate it; read it with get_secret instead."
            yield SkillProblem(
                line=line if path == SKILL_MD else None,
                message=f"{path}, line {line}: this looks like a secret ({match[0][:4]}…).",
                hint=hint,
                is_warning=True,
            )


def _warning(message: str, hint: str | None) -> SkillProblem:
    return SkillProblem(message=message, hint=hint, is_warning=True)
