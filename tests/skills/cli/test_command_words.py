"""Parsing of the arguments of `forge skill` commands."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.cli.arguments import (
    ListedSkill,
    LocalSource,
    bot_path,
    merge_grants,
    read_capabilities,
    read_grants,
    read_settings,
    read_source,
    skill_path,
)
from forge.skills.models import Capability, GitSource, GrantWish, Scope


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("https://host/o/r.git", GitSource(url="https://host/o/r.git")),
        ("https://host/o/r.git@v1", GitSource(url="https://host/o/r.git", ref="v1")),
        ("https://host/o/r#skills/pdf/", GitSource(url="https://host/o/r", path="skills/pdf")),
        (
            "https://host/o/r.git@v1#skills/pdf",
            GitSource(url="https://host/o/r.git", ref="v1", path="skills/pdf"),
        ),
        ("https://host/@o/r@feature/x", GitSource(url="https://host/@o/r", ref="feature/x")),
        ("https://user@host/o/r", GitSource(url="https://user@host/o/r")),
        ("ssh://git@host:22/o/r.git@main", GitSource(url="ssh://git@host:22/o/r.git", ref="main")),
        ("git@host:o/r.git", GitSource(url="git@host:o/r.git")),
        ("git@host:o/r.git@v2#a", GitSource(url="git@host:o/r.git", ref="v2", path="a")),
        ("file:///srv/r.git@1.0", GitSource(url="file:///srv/r.git", ref="1.0")),
    ],
)
def test_url_is_parsed_as_a_repository(text: str, source: GitSource):
    assert read_source(text) == source


@pytest.mark.parametrize("text", [".", "..", "./pdf", "a/b", "/srv/pdf", "pack.zip", "Pack.ZIP", ".hidden"])
def test_path_is_parsed_as_a_local_source(text: str):
    assert read_source(text) == LocalSource(Path(text))


def test_home_folder_is_expanded():
    assert read_source("~/pdf") == LocalSource(Path.home() / "pdf")


def test_bare_name_is_a_registry_skill_even_if_a_folder_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pdf").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_source("pdf") == ListedSkill("pdf")
    assert read_source("acme:pdf") == ListedSkill("pdf", "acme")
    assert read_source("acme:pdf@1.2.0-rc.1") == ListedSkill("pdf", "acme", "1.2.0-rc.1")


@pytest.mark.parametrize("text", ["", "PDF", "a b", "acme:", "pdf@", "a--b", "https://host/a/b.zip", "a:b:c"])
def test_invalid_source_is_rejected(text: str):
    with pytest.raises(Invalid):
        read_source(text)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_rejected(text: str):
    lists = [lambda one: read_grants([one]), lambda one: read_settings([one])]
    for read in (read_source, *lists, read_capabilities, skill_path, bot_path):
        try:
            read(text)
        except ForgeError as error:
            assert error.message


def test_grants_are_read_with_and_without_a_scope():
    assert read_grants(["kv,http_get=a.example.com", "http_get=b.example.com", "get_secret"]) == {
        Capability.KV: None,
        Capability.HTTP_GET: Scope(hosts=["a.example.com", "b.example.com"]),
        Capability.GET_SECRET: None,
    }


def test_value_after_a_comma_belongs_to_the_previous_capability():
    assert read_grants(["read_file=/srv/a,/srv/b,kv"]) == {
        Capability.READ_FILE: Scope(roots=["/srv/a", "/srv/b"]),
        Capability.KV: None,
    }
    assert read_grants(["exec_command=git,jq"]) == {Capability.EXEC_COMMAND: Scope(names=["git", "jq"])}


@pytest.mark.parametrize(
    "text",
    [
        "fly",
        "fly=x",
        "kv=x",
        "log=x",
        "recall_memory=x",
        "read_file=relative",
        "http_get=no/path",
        "kv,x",
        "x,kv",
        "get_secret=a b",
        "http_get=a.example.com,b=c",
        "read_env==",
        "=x",
        "HTTP_GET",
    ],
)
def test_invalid_grant_is_rejected(text: str):
    with pytest.raises(Invalid) as refused:
        read_grants([text])
    assert refused.value.hint


def test_scopes_of_the_same_capability_are_merged():
    http = [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=[host]))
        for host in ("b.org", "a.org", "b.org")
    ]
    assert merge_grants([GrantWish(capability=Capability.KV), *http]) == [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=["b.org", "a.org"])),
        GrantWish(capability=Capability.KV),
    ]


def test_capability_list_accepts_names_and_all():
    assert read_capabilities("kv, http_get,kv") == [Capability.KV, Capability.HTTP_GET]
    assert read_capabilities("all") == []
    for wrong in ("", ",", "fly", "all,kv", "kv=x"):
        with pytest.raises(Invalid):
            read_capabilities(wrong)


def test_setting_is_split_at_the_first_equals_sign():
    settings = read_settings(["region=alpine", "query=a=b", "gone="])
    assert settings == {"region": "alpine", "query": "a=b", "gone": ""}
    for wrong in ("region", "=x", ""):
        with pytest.raises(Invalid):
            read_settings([wrong])


@pytest.mark.parametrize("name", ["", "../bots", "a/b", "A", "a?b", "a%2fb", "a\n"])
def test_invalid_name_never_becomes_an_api_path(name: str):
    for path in (skill_path, bot_path):
        if path is bot_path and name == "A":
            continue
        with pytest.raises(NotFound):
            path(name)


def test_home_of_an_unknown_user_is_kept_unchanged():
    assert read_source("~nobody-has-this-name/skill") == LocalSource(Path("~nobody-has-this-name/skill"))
