"""Quotes, and the names and numbers that a statement adds to its source, in several languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.kernel.grounding import added_details, contains_quote, mentions


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("I  can't\nstand coriander!", "I can't stand coriander"),
        ("I can\u2019t stand coriander!", "“i can't stand coriander.”"),
        ("Wir wohnen in Zürich, am See", "wohnen in Zurich am See"),
        ("其实我女儿叫Anna 今年\uff15岁", "我女儿叫Anna"),
        ("其实我女儿叫Anna 今年\uff15岁", "今年5岁"),
        ("عمري ٣٤ سنة", "عمري 34 سنة"),
    ],
)
def test_quote_is_found_despite_case_whitespace_and_punctuation(text: str, quote: str):
    assert contains_quote(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("I like tea", "I like green tea"),
        ("I like tea", "tea like I"),
        ("That was planned", "Ann"),
        ("I am 345", "34"),
        ("I like tea", " … "),
        ("", "I like tea"),
    ],
)
def test_other_words_are_not_a_quote(text: str, quote: str):
    assert not contains_quote(text, quote)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The person lives in Berlin.", "we moved to berlin last year"),
        ("The person has two daughters.", "I have 2 daughters"),
        ("The person has 2 daughters.", "I have two daughters"),
        ("The person flies to Rome on 3 May.", "flying to rome on may 3rd"),
        ("The person earned 1,200 dollars.", "I earned 1200$"),
        ("The person paid 10 000 euros.", "it was 10.000 €"),
        ("The person is German.", "I come from Germany"),
        ("The person prefers brief answers.", "keep it short please"),
        ("Die Person hat eine Nussallergie.", "ich vertrage keine Nüsse"),
        ("Die Person hat zwei Söhne.", "ich hab zwei Jungs"),
        ("La personne a un vélo très neuf.", "je viens d'acheter un vélo"),
        ("La personne habite à Zurich.", "j'habite à Zürich"),
        ("El usuario tiene 2 hijos.", "tengo dos hijos"),
        ("Человек живёт в Москве.", "я переехал в Москву"),
        ("Osoba lubi ten film.", "to świetny film"),
        ("用户有2个女儿。", "我有两个女儿"),
        ("用户的女儿叫Anna 住在北京。", "我女儿叫Anna 她住北京"),
        ("المستخدم عمره ٣٤ عامًا", "عمري 34"),
        ("1. It answers politely.\n2. It never guesses.", "be polite and do not guess"),
    ],
)
def test_true_statement_in_other_words_adds_nothing(statement: str, source: str):
    assert added_details(statement, source) == []


@pytest.mark.parametrize(
    ("statement", "source", "added"),
    [
        ("The person lives in Berlin.", "I like to cook", ["Berlin"]),
        ("The person is from Canada.", "I can cook", ["Canada"]),
        ("The person's wife is Anna Smith.", "my wife likes to cook", ["Anna", "Smith"]),
        ("The person has two daughters.", "I have 3 daughters", ["two"]),
        ("The person is 34 years old.", "I like to cook", ["34"]),
        ("The person flies to Rome on 3 June.", "flying to rome on may 3rd", ["June"]),
        ("The person was born on 2001-05-03.", "I was born in 2001", ["05", "03"]),
        ("Die Person ist 34 Jahre alt.", "ich koche gern", ["34"]),
        ("La personne habite à Paris.", "j'aime cuisiner", ["Paris"]),
        ("Человек живёт в Москве.", "я люблю готовить", ["Москве"]),
        ("用户34岁 女儿叫Anna。", "我喜欢做饭", ["Anna", "34"]),
    ],
)
def test_added_names_numbers_and_dates_are_found(statement: str, source: str, added: list[str]):
    assert added_details(statement, source) == added


@pytest.mark.parametrize(
    ("text", "name", "is_mentioned"),
    [
        ("please call it Quill", "Quill", True),
        ("it turns meeting notes into decisions", "meeting-notes", True),
        ("it converts units", "unit-converter", True),
        ("a bot for stories", "Quill", False),
        ("a bot for stories", "Story Quill", False),
    ],
)
def test_name_is_mentioned_word_by_word(text: str, name: str, is_mentioned: bool):
    assert mentions(text, name) is is_mentioned


@given(st.text(), st.text())
def test_any_text_is_compared_without_errors(one: str, other: str):
    assert added_details(one, f"{one} {other}") == []
    contains_quote(one, other)


def test_huge_number_is_compared():
    assert added_details("9" * 5000, "9" * 5000) == []
