import pytest
from inline_snapshot import snapshot
from tests.bots.files.told import told

from forge.bots.files.parsed import Parsed
from forge.bots.files.skills import parse_skills, render_skills
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


def test_a_table_is_a_skill():
    assert parse_skills(EXAMPLE) == Parsed(ENTRIES)
    assert render_skills(ENTRIES) == EXAMPLE


@pytest.mark.parametrize("text", ["", "\ufeff", "# nothing yet\n", "[skills]\n"])
def test_no_skills_is_fine(text: str):
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
def test_how_it_is_laid_out_does_not_matter(text: str):
    assert parse_skills(text) == Parsed([ENTRIES[1]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tools.weather]\n", "There is no key `tools`. There can be `skills`."),
        ("[[tools.weather]]\n", "There is no key `tools`. There can be `skills`."),
        (
            "[skills.Weather.overrides]\n",
            "`skill_name` is not written as it must be. "
            "Use lower-case letters, digits and single hyphens, such as `release-notes`.",
        ),
    ],
)
def test_a_table_that_is_only_there_because_of_one_in_it_has_a_place(text: str, problem: str):
    assert told(parse_skills(text)) == [f"1:1 error: {problem}"]


def test_every_mistake_is_told_with_its_place():
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
    assert told(parse_skills(text)) == snapshot(
        [
            "1:1 error: There is no key `top`. There can be `skills`.",
            "4:1 error: `enabled` must be true or false. Write `true` or `false`.",
            "5:1 error: There is no key `enabeld`. Did you mean `enabled`?",
            "9:1 error: `capabilities`, item 2, must be a text. Put the text in quotes, on the line of the key.",
            "13:1 error: `overrides.a` must be a text. Put the text in quotes, on the line of the key.",
            "15:1 error: `skill_name` is not written as it must be. Use lower-case letters, digits and single hyphens, such as `release-notes`.",
            "18:1 error: `skill_name` is another than the table's. Remove the line.",
            '21:1 error: `flat` must be a table. Each skill is a table `[skills.<name>]` with lines such as `enabled = true` or `version = "1.0"`.',
            "23:1 error: There is no key `arrays`. There can be `skills`.",
        ]
    )


def test_a_capability_that_there_is_not_is_told_and_hides_no_mistake():
    strange = "".join(f"[skills.a{n}]\ncapabilities = ['kv', 'fly']\n" for n in range(60))
    found = parse_skills(strange)
    assert found.value is not None
    assert (len(found.value), found.value[0].capabilities) == (60, ["kv", "fly"])
    assert told(found)[0].startswith(
        "2:1 warning: There is no capability `fly`: the skill gets nothing by it. There are read_file, "
    )
    assert parse_skills(f"{strange}[skills.b]\nenabled = 1\n").value is None


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
def test_what_is_not_toml_is_found_where_it_begins(text: str, line: int):
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
def test_a_file_made_to_break_its_reader_is_a_problem_like_any_other(text: str):
    """The reader below takes gigabytes for some of these."""
    result = parse_skills(text)
    assert result.value is None
    assert 1 <= len(result.problems) <= 50
