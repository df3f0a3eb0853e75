"""Descriptions of capabilities, and their suggestion from the text of a skill."""

from forge.skills.capabilities import CAPABILITY_INFO
from forge.skills.models import Capability
from forge.skills.suggestions import suggest_capabilities


def test_every_capability_describes_what_it_allows_and_its_risk():
    assert set(CAPABILITY_INFO) == set(Capability)
    texts = [text for info in CAPABILITY_INFO.values() for text in (info.allows, info.risk)]
    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)


def test_capabilities_are_suggested_with_the_matching_words():
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


def test_parts_of_words_do_not_match():
    assert (
        suggest_capabilities("A threadbare profile of a postman who is unwritten, token-free and webbed")
        == {}
    )


def test_long_text_is_searched():
    assert list(suggest_capabilities("filename " * 200_000 + "shell")) == [Capability.EXEC_COMMAND]
