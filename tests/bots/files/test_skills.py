import pytest
from inline_snapshot import snapshot
from tests.bots.files.problem_lines import problem_lines

from forge.bots.files.parsed import Parsed
from forge.bots.files.skills_toml import parse_skills, render_skills
from forge.bots.models import SkillEntry

EXAMPLE = """\
[skills.changelog-reader]
skill_name = "changelog-reader"
enabled = true
version = "0.1.0"
capabilities = ["read_file"]
[skills.changelog-reader.overrides]
origin = "made by hand"

[skills.weather]
skill_name = "weather"
enabled = false
"""
ENTRIES = [
    SkillEntry(
        skill_name="changelog-reader",
        version="0.1.0",
        capabilities=["read_file"],
        overrides={"origin": "made by hand"},
    ),
    SkillEntry(skill_name="weather", enabled=False),
]


def test_table_is_parsed_as_skill():
    assert parse_skills(EXAMPLE) == Parsed(ENTRIES)
    assert render_skills(ENTRIES) == EXAMPLE


@pytest.mark.parametrize("text", ["", "\ufeff", "# nothing yet\n", "[skills]\n"])
def test_file_without_skills_is_valid(text: str):
    assert parse_skills(text) == Parsed([])


@pytest.mark.parametrize(
    "text",
    [
        "[skills.weather]\nenabled = false",
        "\ufeff[skills.weather]\r\nenabled = false\r\n",
        "skills.weather.enabled = false",
        "skills = { weather = { enabled = false } }",
        "[ \"skills\" . 'weather' ]\nenabled = false # so",
    ],
)
def test_layout_does_not_matter(text: str):
    assert parse_skills(text) == Parsed([ENTRIES[1]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tools.weather]\n", "Unknown key `tools`. Allowed keys: `skills`."),
        ("[[tools.weather]]\n", "Unknown key `tools`. Allowed keys: `skills`."),
        (
            "[skills.Weather.overrides]\n",
            "`skill_name` has an invalid format. "
            "Use lower-case letters, digits and single hyphens, such as `release-notes`.",
        ),
    ],
)
def test_implicit_table_has_a_position(text: str, problem: str):
    assert problem_lines(parse_skills(text)) == [f"1:1 error: {problem}"]


def test_every_error_has_a_position():
    text = """\
top = 1

[skills.weather]
enabled = "yes"
enabeld = true
version = '''
# [no.header]
'''
capabilities = [
  "a",  # ]
  3,
]
overrides = { a = 1 }

[skills."Bad Name"]

[skills.other]
skill_name = "another"

[skills]
flat = true

[[arrays]]
"""
    assert problem_lines(parse_skills(text)) == snapshot(
        [
            "1:1 error: Unknown key `top`. Allowed keys: `skills`.",
            "4:1 error: `enabled` must be true or false. Write `true` or `false`.",
            "5:1 error: Unknown key `enabeld`. Did you mean `enabled`?",
            "9:1 error: `capabilities`, item 2, must be a string. Put the text in quotes on the line of the key.",
            "13:1 error: `overrides.a` must be a string. Put the text in quotes on the line of the key.",
            "15:1 error: `skill_name` has an invalid format. Use lower-case letters, digits and single hyphens, such as `release-notes`.",
            "18:1 error: `skill_name` differs from the name of the table. Remove the line.",
            '21:1 error: `flat` must be a table. Each skill is a table `[skills.<name>]` with keys such as `enabled = true` or `version = "1.0"`.',
            "23:1 error: Unknown key `arrays`. Allowed keys: `skills`.",
        ]
    )


def test_unknown_capability_is_a_warning():
    text = "".join(f"[skills.a{n}]\ncapabilities = ['kv', 'fly']\n" for n in range(60))
    found = parse_skills(text)
    assert found.value is not None
    assert (len(found.value), found.value[0].capabilities) == (60, ["kv", "fly"])
    assert problem_lines(found)[0].startswith(
        "2:1 warning: Unknown capability `fly`: it has no effect. Known capabilities: read_file, "
    )
    assert parse_skills(f"{text}[skills.b]\nenabled = 1\n").value is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[skills.a]\nenabled = yes\n", 2),
        ("[skills.a]\n\n\nenabled = true true\n[skills.b]\n", 4),
        ("[skills.a]\nenabled = true\n[skills.a]\n", 3),
        ("[skills.a]\nenabled = true\nenabled = true\n[skills.b]\n", 3),
        ("[skills.a\nenabled = true\n", 1),
        ('[skills.a]\nversion = "1\nenabled = true\n', 2),
        ('[skills.a]\nversion = """1\nenabled = true\n', 2),
        ("[skills.a]\ncapabilities = [\n'a'\n'b'\n]\nenabled = true\n", 2),
        ("[skills.a]\r\nenabled = \r\n", 2),
        ("\n\nnot toml at all", 3),
        ("[skills.a]\nversion = " + "1" * 5000 + "\n", 2),
        ("[skills.a]\nx = 2024-13-01\n", 2),
    ],
)
def test_invalid_toml_is_located(text: str, line: int):
    result = parse_skills(text)
    assert result.value is None
    assert [problem.line for problem in result.problems] == [line]


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 190_000,
        "a = " + "{b = " * 38_000,
        "a" + ".a" * 95_000 + " = 1",
        "[a" + ".a" * 95_000 + "]",
        '"a"' + '."a"' * 45_000 + " = 1",
        "a = {a" + ".a" * 90_000 + " = 1}",
        "\n".join(f"a{number} = 1" for number in range(18_000)),
        "\n".join(f"[skills.a{number}]\nx = 1" for number in range(8_000)),
        "\n".join(f"a{number} =" for number in range(18_000)),
        'a = """' + "\\\\" * 95_000,
        '"""\\' * 45_000,
        "'''" * 63_000,
        "[\n" * 95_000,
        "]\n" * 95_000,
    ],
)
def test_hostile_file_is_reported_as_problem(text: str):
    """The TOML parser alone would take gigabytes for some of these."""
    result = parse_skills(text)
    assert result.value is None
    assert 1 <= len(result.problems) <= 50
