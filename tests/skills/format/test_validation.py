"""Validation of whole skills without executing them: problems, positions and warnings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.skills.format.validation import validate
from forge.skills.models import Capability
from forge.skills.views import Validation

RUN_JS = "function run(input) {\n  return input;\n}\n"
RUN_PY = "def run(input):\n    return input\n"


def files(*metadata: str, body: str = "# How\n", **more: str | bytes) -> dict[str, bytes]:
    """Return the files of a skill; the keyword arguments are paths with `__` for slashes and `_` for dots."""
    head = ["---", "name: notes", "description: Takes notes.", *(["metadata:"] if metadata else [])]
    text = "\n".join([*head, *(f"  {line}" for line in metadata), "---", "", body])
    named = {path.replace("__", "/").replace("_", "."): content for path, content in more.items()}
    contents = {path: one if isinstance(one, bytes) else one.encode() for path, one in named.items()}
    return {"SKILL.md": text.encode(), **contents}


def messages(found: Validation) -> list[str]:
    return [
        ("" if problem.is_warning else "! ") + (f"{problem.line}: " if problem.line else "") + problem.message
        for problem in found.problems
    ]


def check(given_files: dict[str, bytes]) -> list[str]:
    found = validate("notes", given_files)
    assert found.valid == (not any(one.startswith("! ") for one in messages(found)))
    return messages(found)


SCRIPT = "forge-kind: script"
LOCAL = "forge-kind: local"


@pytest.mark.parametrize(
    ("given_files", "problems"),
    [
        (files(), []),
        (files(SCRIPT, skill_js=RUN_JS), []),
        (files(SCRIPT, skill_py=RUN_PY), []),
        (files(SCRIPT, skill_wasm=b"\x00asm\x0d\x00\x01\x00rest"), []),
        (files(LOCAL, scripts__run_sh="cat\n"), []),
        ({}, ["! A skill needs a SKILL.md."]),
        ({"SKILL.md": b"\xff"}, ["! Its SKILL.md is not text in UTF-8."]),
        ({**files(), "../up": b""}, None),
        ({**files(), "big.bin": b"x" * ((16 << 20) + 1)}, ["! big.bin has more than 16,777 kB."]),
        (
            files(SCRIPT),
            ["! The skill notes has nothing to run: it needs a skill.js, skill.py or skill.wasm."],
        ),
        (
            files(SCRIPT, skill_js=RUN_JS, skill_py=RUN_PY),
            ["! The skill notes has more than one file to run: skill.js and skill.py."],
        ),
        (
            files(LOCAL, skill_js=RUN_JS),
            [
                "! The skill notes has nothing to run: it needs a scripts/run.py, scripts/run.sh or scripts/run.js."
            ],
        ),
        (
            files(skill_js=RUN_JS),
            ["skill.js never runs: the skill is not declared as a script."],
        ),
        (files(scripts__run_py="not ( python"), []),
    ],
)
def test_each_kind_has_exactly_one_file_to_run(given_files: dict[str, bytes], problems: list[str] | None):
    found = check(given_files)
    assert found == problems if problems is not None else found[0].startswith("! ")


@pytest.mark.parametrize(
    ("path", "source", "problem"),
    [
        ("skill_py", "def run(input)\n    return 1\n", "! skill.py, line 1: expected ':'."),
        ("skill_py", "x = 1\n", "! There is no function `run` in skill.py."),
        ("skill_py", "from elsewhere import main as run\n", None),
        ("skill_py", "async def run(input):\n    return 1\n", "! There is no function `run` in skill.py."),
        ("skill_py", "", "! skill.py is empty."),
        ("skill_py", b"\xff\xfe", "! skill.py is not UTF-8 text."),
        ("skill_py", "type Pair = tuple\ndef run(input): ...\n", "skill.py, line 1: "),
        ("skill_py", f"x = {'(' * 300}{')' * 300}\n", "skill.py, line 1: too many nested parentheses."),
        ("skill_py", f"x = {'-' * 100_000}1\n", "! skill.py"),
        ("skill_py", "#" + "x" * 1_000_001, "! skill.py has more than 1,000 kB."),
        ("skill_js", "function run(input) {\n  return {\n", "! skill.js, line "),
        ("skill_js", "const x = 1;\nconst = 2;\n", "! skill.js, line 2: syntax error."),
        ("skill_js", "const x = 1;\n", "! There is no function `run` in skill.js."),
        ("skill_js", "module.exports = (input) => input;\n", None),
        ("skill_js", "export default function (input) { return input; }\n", None),
        ("skill_js", "export const run = (input) => input;\n", None),
        ("skill_js", f"const run = {'[' * 20_000}{']' * 20_000};\n", None),
        ("skill_wasm", b"not wasm", "! skill.wasm is not a WebAssembly file."),
        (
            "skill_wasm",
            b"\x00asm\x01\x00\x00\x00",
            "! skill.wasm is a core module; it must be a component.",
        ),
    ],
)
def test_invalid_source_is_reported_with_its_line(path: str, source: str | bytes, problem: str | None):
    named = path.replace("_", ".")
    found = check({**files(SCRIPT), named: source if isinstance(source, bytes) else source.encode()})
    assert [one[: len(problem or "")] for one in found] == ([problem] if problem else [])


def test_program_needs_valid_syntax_but_no_run_function():
    assert check(files(LOCAL, scripts__run_py="import sys\n")) == []
    assert check(files(LOCAL, scripts__run_js="const {\n"))[0].startswith("! scripts/run.js, line ")


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ("forge-capabilities: fly", "5: There is no capability `fly`; it is ignored."),
        ("forge-hosts: https://x", "5: `https://x` is not a host and is ignored."),
        ("forge-files: notes", "5: `notes` is not a folder and is ignored."),
        ("forge-env: A=1", "5: `A=1` is not a variable name and is ignored."),
        ("forge-commands: /bin/sh", "5: `/bin/sh` is not a program name and is ignored."),
        ("forge-dependencies: other@latest", "5: `other@latest` is not a skill name; it is ignored."),
        ("forge-dependencies: other@>2,<1", "5: No version can match `other@>2,<1`."),
        ("forge-conflicts: Other", "5: `Other` is not a skill name; it is ignored."),
        ("forge-parents: notes", "5: The skill refers to itself."),
        ("forge-tier: local", "5: A skill cannot set its own trust tier; this is ignored."),
        ("trust-tier: verified", "5: A skill cannot set its own trust tier; this is ignored."),
        ("version: soon", "5: `soon` is not a version; no range can match it."),
        ("forge-secrets: key", "`forge-secrets` has no effect without its capability."),
        (
            "forge-capabilities: http_get http_post",
            "It requests http_get and http_post but does not say which hosts it wants to reach.",
        ),
    ],
)
def test_invalid_metadata_value_is_a_warning(metadata: str, problem: str):
    assert problem in check(files(metadata))


def test_program_gets_warnings_for_capabilities_it_cannot_use():
    skill_files = files(LOCAL, "forge-capabilities: exec_command http_get kv", scripts__run_sh="cat\n")
    assert check(skill_files) == [
        "A program has no network; http_get has no effect.",
        "A program cannot call Forge while it runs; kv has no effect.",
    ]


def test_requested_capabilities_have_their_scope():
    found = validate("notes", files("forge-capabilities: http_get", "forge-hosts: api.example.com"))
    assert [(one.capability, one.scope.hosts) for one in found.asks] == [
        (Capability.HTTP_GET, ["api.example.com"])
    ]
    assert validate("other", files()).asks == []


def test_invalid_test_file_is_a_warning():
    case = json.dumps({"name": "one", "input": {}, "expect": {}})
    good = files(SCRIPT, skill_js=RUN_JS, tests__one_json=case, tests__triggers_json='[{"say": "Hi"}]')
    assert check(good) == []
    bad = files(SCRIPT, skill_js=RUN_JS, tests__one_json="{}", tests__triggers_json='[{"say": 7}]')
    assert check(bad) == [
        "tests/one.json is not a valid test: name: Field required.",
        "tests/triggers.json cannot be read: 0.say: Input should be a valid string.",
    ]
    assert check(files(tests__one_json="{}")) == []


def test_long_instructions_and_dead_links_are_warnings():
    assert check(files(body="line\n" * 600)) == ["The instructions are long: 600 lines, about 750 tokens."]
    body = (
        "See [forms](references/forms.md#top), [site](https://example.com/a.md), [gone](references/gone.md), "
        "`scripts/lost.py`, [up](../x.md), [all](assets), `scripts/*.py` and [a](url).\n"
    )
    found = check(files(body=body, references__forms_md="x", assets__a_txt="x"))
    assert found == [
        "The instructions refer to references/gone.md, which does not exist.",
        "The instructions refer to scripts/lost.py, which does not exist.",
    ]


def test_secret_is_reported_without_its_value():
    secret = "gh" + "p_" + "a1B2" * 9
    found = validate("notes", files(body=f"Use {secret}\n", references__a_md=f"x\n{secret}"))
    assert messages(found) == [
        "6: SKILL.md, line 6: this looks like a secret (ghp_…).",
        "references/a.md, line 2: this looks like a secret (ghp_…).",
    ]
    assert secret not in found.model_dump_json()


@given(st.binary(max_size=300), st.sampled_from(["skill.py", "skill.js", "skill.wasm"]))
def test_source_check_terminates_for_any_input(data: bytes, path: str):
    found = validate("notes", {**files(SCRIPT), path: data})
    assert found.manifest is not None
    validate("notes", {"SKILL.md": data, path: data})
