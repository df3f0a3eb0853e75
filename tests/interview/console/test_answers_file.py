"""The file of `--answers`: what it may look like, and what is said when it does not."""

from pathlib import Path

import pytest

from forge.errors import Invalid, NotFound
from forge.interview.console.answers_file import MAX_BYTES, AnswersFile, read_answers
from forge.interview.console.script import place_of
from forge.interview.domain.dialogue import QuestionOption


def read(folder: Path, text: str) -> AnswersFile:
    path = folder / "answers.yaml"
    path.write_text(text)
    return read_answers(path)


def test_a_list_is_taken_in_order_as_texts(tmp_path: Path):
    answers = read(tmp_path, "- Atlas\n- 2\n- yes\n- back\n- 007\n")
    assert [(one.text, one.line) for one in answers.in_order] == [
        ("Atlas", 1),
        ("2", 2),
        ("yes", 3),
        ("back", 4),
        ("007", 5),
    ]
    assert (answers.description, answers.confirm, answers.by_question) == (None, False, {})


def test_keys_are_parts_of_questions_with_one_answer_or_several(tmp_path: Path):
    answers = read(tmp_path, "description: A bot\nconfirm: yes\ncalled: Atlas\npersonality: [1, 2]\n")
    assert (answers.description, answers.confirm) == ("A bot", True)
    given = {key: [one.text for one in queue] for key, queue in answers.by_question.items()}
    assert given == {"called": ["Atlas"], "personality": ["1", "2"]}


@pytest.mark.parametrize("answers", ["[Atlas, 2]", "{called: Atlas, tone: 2}"])
def test_answers_may_stand_beside_what_is_confirmed(tmp_path: Path, answers: str):
    found = read(tmp_path, f"confirm: true\nanswers: {answers}\n")
    assert found.confirm and [one.text for one in found.left()] == ["Atlas", "2"]


@pytest.mark.parametrize(
    ("text", "place"),
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
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, place: str):
    with pytest.raises(Invalid) as refused:
        read(tmp_path, text)
    assert refused.value.message.startswith(f"{tmp_path}/answers.yaml:{place}: ")


def test_a_file_that_cannot_be_one_is_refused(tmp_path: Path):
    with pytest.raises(NotFound):
        read_answers(tmp_path / "nowhere.yaml")
    (tmp_path / "long.yaml").write_bytes(b"x" * (MAX_BYTES + 1))
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
    ("text", "place"),
    [
        *[("yes, ALLOW it", 0), ("refuse", 1), ("yes", 0), ("true", 0), ("no", 1)],
        *[("1", 0), ("2", 2), ("3", 2), ("4", None), ("0", None), ("something else", None)],
    ],
)
def test_an_option_is_meant_by_label_id_yes_or_no_or_number(text: str, place: int | None):
    assert place_of(text, OPTIONS) == place
