"""Reading the file of `--answers`, and finding the option an answer names."""

from pathlib import Path

import pytest

from forge.errors import Invalid, NotFound
from forge.interview.cli.answers_file import MAX_LENGTH, AnswersFile, find_option, read_answers
from forge.interview.domain.dialogue import QuestionOption


def read(folder: Path, text: str) -> AnswersFile:
    path = folder / "answers.yaml"
    path.write_text(text)
    return read_answers(path)


def test_list_is_read_in_order_as_text(tmp_path: Path):
    answers = read(tmp_path, "- Atlas\n- 2\n- yes\n- back\n- 007\n")
    assert [(one.text, one.line) for one in answers.in_order] == [
        ("Atlas", 1),
        ("2", 2),
        ("yes", 3),
        ("back", 4),
        ("007", 5),
    ]
    assert (answers.description, answers.confirm, answers.by_question) == (None, False, {})


def test_mapping_is_read_by_question(tmp_path: Path):
    answers = read(tmp_path, "description: A bot\nconfirm: yes\ncalled: Atlas\npersonality: [1, 2]\n")
    assert (answers.description, answers.confirm) == ("A bot", True)
    texts = {key: [one.text for one in queue] for key, queue in answers.by_question.items()}
    assert texts == {"called": ["Atlas"], "personality": ["1", "2"]}


@pytest.mark.parametrize("answers", ["[Atlas, 2]", "{called: Atlas, tone: 2}"])
def test_answers_key_accepts_a_list_or_a_mapping(tmp_path: Path, answers: str):
    found = read(tmp_path, f"confirm: true\nanswers: {answers}\n")
    assert found.confirm and [one.text for one in found.unused()] == ["Atlas", "2"]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("confirm: maybe\n", "1:10"),
        ("- Atlas\n- [1, 2]\n", "2:3"),
        ("- a: b\n", "1:3"),
        ("called: ''\n", "1:9"),
        ("answers: Atlas\n", "1:10"),
        ("called: Atlas\ncalled: Borea\n", "2:1"),
        ("a: &x [1]\nb: *x\n", "1:4"),
        ("- !!python/object:os.system x\n", "1:3"),
        ("Atlas\n", "1:1"),
    ],
)
def test_invalid_file_is_rejected_with_line_and_column(tmp_path: Path, text: str, position: str):
    with pytest.raises(Invalid) as error:
        read(tmp_path, text)
    assert error.value.message.startswith(f"{tmp_path}/answers.yaml:{position}: ")


def test_unreadable_file_is_rejected(tmp_path: Path):
    with pytest.raises(NotFound):
        read_answers(tmp_path / "missing.yaml")
    (tmp_path / "long.yaml").write_bytes(b"x" * (MAX_LENGTH + 1))
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("long.yaml", "bytes.yaml"):
        with pytest.raises(Invalid):
            read_answers(tmp_path / name)


OPTIONS = [
    QuestionOption(id="allow", label="Yes, allow it", reason="It reads."),
    QuestionOption(id="refuse", label="No, leave it out", reason="It does without."),
    QuestionOption(id="skip", label="2", reason="A label like a number."),
]


@pytest.mark.parametrize(
    ("text", "index"),
    [
        *[("yes, ALLOW it", 0), ("refuse", 1), ("yes", 0), ("true", 0), ("no", 1)],
        *[("1", 0), ("2", 2), ("3", 2), ("4", None), ("0", None), ("something else", None)],
    ],
)
def test_option_is_found_by_label_id_yes_or_no_or_number(text: str, index: int | None):
    assert find_option(text, OPTIONS) == index
