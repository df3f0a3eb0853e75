from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.bots.files.problem_lines import problem_lines

from forge.bots.files.parsed import Parsed
from forge.bots.files.soul import change_soul, default_soul, parse_soul, render_soul
from forge.bots.models import Soul
from forge.errors import Invalid

BODY = "# Personality\nkind\n\n# Purpose\nhelp\n\n# Boundaries\nnone\n"


def test_soul_has_keys_and_body():
    text = f"---\nname: Ada\ntraits: [kind, curious]\ntone: warm\n---\n\n{BODY}"
    assert parse_soul(text) == Parsed(Soul(name="Ada", traits=["kind", "curious"], tone="warm", body=BODY))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\nname: Ada\n---\n\n{body}",
        "---  \nname: Ada\n---\t\n\n{body}",
        "---\nname:\tAda\t\n---\n\n{body}",
        "---\nname: Ada   # a comment\n# another\n\n---\n\n{body}",
        "---\nname: Ada\n---\n{body}",
        "---\n{{name: Ada}}\n---\n{body}",
        "---\n  name: >-\n    Ada\n---\n{body}",
    ],
)
def test_layout_does_not_matter(text: str):
    assert parse_soul(text.format(body=BODY)) == Parsed(Soul(name="Ada", body=BODY))


def test_crlf_and_missing_final_newline_are_accepted():
    body = BODY.replace("\n", "\r\n").rstrip()
    text = f"---\r\nname: Ada\r\ntraits:\r\n- kind\r\n---\r\n\r\n{body}"
    assert parse_soul(text) == Parsed(Soul(name="Ada", traits=["kind"], body=body))


@pytest.mark.parametrize("name", ["yes", "1984", "1.0", "2024-01-01", "0x1F", "1:30", "off"])
def test_name_is_always_a_string(name: str):
    soul = parse_soul(f"---\nname: {name}\n---\n{BODY}").value
    assert soul and soul.name == name


@pytest.mark.parametrize(
    "heading", ["## Purpose", "###### purpose ######", "# PURPOSE:", "   # Purpose", "#\tPurpose \t#\t"]
)
def test_sections_are_found_at_any_level(heading: str):
    text = f"---\nname: Ada\n---\n{BODY.replace('# Purpose', heading)}"
    assert parse_soul(text).problems == []


def test_missing_and_empty_sections_are_warnings():
    text = "---\nname: Ada\n---\n\n# Personality\n\n# Purpose\n```\n# Boundaries\n```\n"
    result = parse_soul(text)
    assert result.value is not None
    assert problem_lines(result) == snapshot(
        [
            "5:1 warning: The section Personality is empty. Write a few sentences below it.",
            "5:1 warning: The section Boundaries is missing. Add a heading `# Boundaries`.",
        ]
    )


def test_section_with_subsections_is_not_empty():
    body = "# Personality\n## At work\ncalm\n# Purpose\nx\n# Boundaries\ny"
    assert parse_soul(f"---\nname: Ada\n---\n{body}").problems == []


def test_every_error_has_a_position():
    text = f"---\nnmae: Ada\ntraits:\n  - kind\n  -\ntone: [a, b]\nbody: x\n---\n{BODY}"
    result = parse_soul(text)
    assert result.value is None
    assert problem_lines(result) == snapshot(
        [
            "1:1 error: `name` is missing. Add a line `name: …`.",
            "2:1 error: Unknown key `nmae`. Did you mean `name`?",
            "5:4 error: `traits`, item 2, must not be empty.",
            "6:1 error: `tone` must be a string. Put the text in quotes on the line of the key.",
            "7:1 error: Unknown key `body`. Allowed keys: `name`, `traits`, `tone`.",
        ]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "",
            snapshot(
                [
                    "1:1 error: The file does not start with front matter. Start the file with a line `---`, then lines such as `key: value`, then another line `---`."
                ]
            ),
        ),
        (
            "# Ada\n---\nname: Ada\n---\n",
            snapshot(
                [
                    "1:1 error: The file does not start with front matter. Start the file with a line `---`, then lines such as `key: value`, then another line `---`."
                ]
            ),
        ),
        (
            "---\nname: Ada\n",
            snapshot(
                [
                    "1:1 error: The front matter is not closed. Start the file with a line `---`, then lines such as `key: value`, then another line `---`."
                ]
            ),
        ),
        ("---\n---\n" + BODY, snapshot(["1:1 error: `name` is missing. Add a line `name: …`."])),
        (
            "---\nname:\n---\n" + BODY,
            snapshot(["2:1 error: `name` is empty. Add a value, in quotes if necessary."]),
        ),
        ("---\nname: ''\n---\n" + BODY, snapshot(["2:1 error: `name` must not be empty."])),
        (
            "---\n- Ada\n---\n",
            snapshot(["2:1 error: The front matter must be a mapping. Write lines such as `name: Ada`."]),
        ),
        (
            "---\nAda\n---\n",
            snapshot(["2:1 error: The front matter must be a mapping. Write lines such as `name: Ada`."]),
        ),
        (
            "---\nname: a: b\n---\n",
            snapshot(
                [
                    "2:8 error: Invalid YAML: mapping values are not allowed in this context. Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
                ]
            ),
        ),
        (
            '---\ntone: x\nname: "Ada\n---\n',
            snapshot(
                [
                    "3:7 error: Invalid YAML: found unexpected end of stream. Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
                ]
            ),
        ),
        (
            "---\nname: Ada\ntraits: [\n---\n",
            snapshot(
                [
                    "3:9 error: Invalid YAML: did not find expected node content. Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
                ]
            ),
        ),
        (
            "---\nname: Ada\n\ttone: x\n---\n",
            snapshot(
                [
                    "3:1 error: Invalid YAML: found a tab character that violates indentation. Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
                ]
            ),
        ),
        (
            "---\nname: Ada\ntone: x\nname: Eve\n---\n",
            snapshot(["4:1 error: Duplicate key `name`. Remove one of the two."]),
        ),
        ("---\n? [a]\n: b\n---\n", snapshot(["2:3 error: A key must be a string."])),
        (
            "---\nname: Ada\n...\ntone: x\n---\n",
            snapshot(
                [
                    "4:1 error: Invalid YAML: did not find expected <document start>. Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
                ]
            ),
        ),
        (
            "---\nname: Ada\ntone: \x07\n---\n",
            snapshot(
                [
                    '3:7 error: The character U+0007 is not allowed here. Remove it, or write it as an escape in double quotes, such as "\\x07".'
                ]
            ),
        ),
        ("---\nname: A\x00da\n---\n", snapshot(["2:8 error: The text contains a NUL character. Remove it."])),
        (
            "---\nname: Ada\n---\nbo\x00dy",
            snapshot(["4:3 error: The text contains a NUL character. Remove it."]),
        ),
        (
            "---\nname: A\ud800da\n---\n",
            snapshot(["2:8 error: The text contains an unpaired surrogate. Remove it."]),
        ),
        (
            '---\nname: "A\\0da"\n---\n' + BODY,
            snapshot(["2:1 error: `name` must not contain a NUL character."]),
        ),
        (
            f"---\nname: {'x' * 201}\n---\n" + BODY,
            snapshot(["2:1 error: `name` must have at most 200 characters."]),
        ),
        (
            f"---\nname: x\ntraits: [{'x, ' * 31}]\n---\n" + BODY,
            snapshot(["3:1 error: `traits` must have at most 30 items."]),
        ),
        (
            "---\nname: x\ntraits: kind\n---\n" + BODY,
            snapshot(
                ["3:1 error: `traits` must be a list. Write `[one, two]`, or one item per line after `- `."]
            ),
        ),
        (
            "---\nname: x\ntraits: [[a]]\n---\n" + BODY,
            snapshot(
                [
                    "3:10 error: `traits`, item 1, must be a string. Put the text in quotes on the line of the key."
                ]
            ),
        ),
        (
            "---\nname: {a: b}\n---\n" + BODY,
            snapshot(["2:1 error: `name` must be a string. Put the text in quotes on the line of the key."]),
        ),
    ],
)
def test_unreadable_soul_is_explained(text: str, expected: list[str]):
    result = parse_soul(text)
    assert result.value is None
    assert problem_lines(result) == expected


@pytest.mark.parametrize(
    "yaml",
    [
        "name: &a Ada\ntone: *a",
        "name: *a",
        "<<: {name: Ada}",
        "name: !!python/object/apply:os.system ['true']",
        "name: !!str Ada",
        "name: ! Ada",
        "name: Ada\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    ],
)
def test_aliases_and_tags_are_rejected(yaml: str):
    result = parse_soul(f"---\n{yaml}\n---\n{BODY}")
    assert result.value is None
    assert any("not supported" in problem.message or "`<<`" in problem.message for problem in result.problems)


@pytest.mark.parametrize(
    "yaml",
    [
        "a: " + "[" * 190_000,
        "{a: " * 48_000,
        "- " * 95_000,
        "? " * 95_000,
        "a: &x " + "&x " * 60_000,
        "\n".join(f"k{number}: v" for number in range(18_000)),
        "name: x\ntraits:\n" + "- ''\n" * 38_000,
        "name: " + "1:" * 95_000,
        "\n---x" * 38_000,
    ],
    ids=["brackets", "braces", "lists", "keys", "anchors", "many", "items", "number", "ends"],
)
def test_hostile_file_is_reported_as_problem(yaml: str):
    """The YAML parser alone would take minutes or gigabytes for some of these and exceed the time limit."""
    result = parse_soul(f"---\n{yaml}\n---\n")
    assert result.value is None
    assert 1 <= len(result.problems) <= 50


def test_line_numbers_match_editors():
    """YAML ends a line at U+2028; editors do not."""
    text = f'---\nname: "a\u2028b"\ntone: x\nfoo: y\n---\n{BODY}'
    assert problem_lines(parse_soul(text))[0].startswith("4:1 error: Unknown key `foo`")


@pytest.mark.parametrize("description", ["Plans gardens.", "", "{braces} and %s"])
def test_default_soul_is_complete(description: str):
    soul = default_soul("Ada", description)
    assert parse_soul(render_soul(soul)) == Parsed(soul)
    assert description in soul.body


@pytest.mark.parametrize(
    ("text", "changes", "body", "changed"),
    [
        (
            "---\n# who\nname: Ada # me\ntraits: [a]\n---\n\nText.\n",
            {"traits": ["b", "c"], "tone": "dry"},
            None,
            "---\n# who\nname: Ada # me\ntraits:\n- b\n- c\ntone: dry\n---\n\nText.\n",
        ),
        ("---\nname: Ada\n---\nText.\n", {}, "Other.\n", "---\nname: Ada\n---\n\nOther.\n"),
        ("---\nname: Ada\n---", {"name": "Eve"}, "Text.\n", "---\nname: Eve\n---\n\nText.\n"),
    ],
)
def test_soul_keys_are_changed_in_place_and_the_body_is_replaced(
    text: str, changes: dict[str, Any], body: str | None, changed: str
):
    assert change_soul(text, changes, body) == changed


def test_unreadable_soul_cannot_be_changed():
    with pytest.raises(Invalid, match=r"SOUL\.md, line 2"):
        change_soul("---\n{name: Ada}\n---\n", {"name": "Eve"})
