"""What a skill may ask for: told in words, suggested by words."""

from forge.skills.capabilities import CAPABILITY_INFO
from forge.skills.models import Capability
from forge.skills.suggestions import suggest_capabilities


def test_every_capability_says_what_it_allows_and_what_can_go_wrong():
    assert set(CAPABILITY_INFO) == set(Capability)
    told = [text for meaning in CAPABILITY_INFO.values() for text in (meaning.allows, meaning.risk)]
    assert all(text.endswith(".") for text in told)
    assert len(set(told)) == len(told)


def test_each_is_found_by_its_words_and_says_which():
    text = (
        "Fetches a URL, saves it to a file and posts a message with an API key. It remembers the environment."
    )
    assert suggest_capabilities(text) == {
        Capability.READ_FILE: "The description says “file”.",
        Capability.WRITE_FILE: "The description says “saves”.",
        Capability.HTTP_GET: "The description says “fetches” and “url”.",
        Capability.HTTP_POST: "The description says “posts”.",
        Capability.READ_ENV: "The description says “environment”.",
        Capability.RECALL_MEMORY: "The description says “remembers”.",
        Capability.GET_SECRET: "The description says “api key”.",
    }


def test_parts_of_words_do_not_count():
    assert (
        suggest_capabilities("A threadbare profile of a postman who is unwritten, token-free and webbed")
        == {}
    )


def test_a_long_text_is_searched_at_once():
    assert list(suggest_capabilities("filename " * 200_000 + "shell")) == [Capability.EXEC_COMMAND]
