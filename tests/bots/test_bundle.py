"""Export and import of a bot as one file."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.bots.environment import ME, BotEnvironment
from tests.support.loop_watch import watch_loop

from forge.bots.models import BotFile, Bundle, NewBot
from forge.errors import Invalid
from forge.kernel.clock import now

SOUL = "---\nname: Atlas\n---\n# Personality\nCalm.\n# Purpose\nMaps.\n# Boundaries\nNone.\n"
IDENTITY = "---\n# comments stay\ndisplay_name: Atlas\n---\nNotes.\n"


def bundle(files: Mapping[str, str], slug: str = "atlas") -> Bundle:
    return Bundle(forge_bot=1, slug=slug, exported_at=now(), files=dict(files))


async def test_exported_bot_can_be_imported(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas", user="I walk.\r\n", tags=["maps"]), by="Ada")
    env.file(created, BotFile.IDENTITY).write_text(IDENTITY)
    exported = await env.bots.export(ME, "atlas")
    assert (exported.forge_bot, exported.slug, sorted(exported.files)) == (
        1,
        "atlas",
        ["IDENTITY.md", "SOUL.md", "USER.md", "skills.toml"],
    )
    imported = await env.bots.import_bundle(
        ME, Bundle.model_validate_json(exported.model_dump_json()), by="Bob"
    )
    assert (imported.slug, imported.blocked, imported.soul_version) == ("atlas-2", None, 1)
    for file in BotFile:
        assert env.file(imported, file).read_bytes() == env.file(created, file).read_bytes()
    again = await env.bots.export(ME, "atlas-2")
    assert again.files == exported.files


async def test_import_requires_only_two_files(env: BotEnvironment):
    imported = await env.bots.import_bundle(ME, bundle({"SOUL.md": SOUL, "IDENTITY.md": IDENTITY}), by="Bob")
    assert (imported.slug, imported.blocked, imported.identity.display_name) == ("atlas", None, "Atlas")
    assert sorted(path.name for path in Path(imported.folder).iterdir()) == sorted(  # noqa: ASYNC240
        file.file_name for file in BotFile
    )


@pytest.mark.parametrize("slug", ["", "../../up", "UPPER", "a b", "-x-", "con", "nul"])
async def test_invalid_slug_is_replaced_on_import(env: BotEnvironment, slug: str):
    imported = await env.bots.import_bundle(
        ME, bundle({"SOUL.md": SOUL, "IDENTITY.md": IDENTITY}, slug), by="Bob"
    )
    assert imported.slug in ("atlas", f"{slug}-bot")
    assert {path.split("/")[1] for path in env.tree() if "/" in path} == {imported.slug}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "SOUL.md is missing."),
        ({"IDENTITY.md": IDENTITY}, "SOUL.md is missing."),
        ({"SOUL.md": SOUL}, "IDENTITY.md is missing."),
        ({"SOUL.md": SOUL, "IDENTITY.md": IDENTITY, "../../x": ""}, "Unknown file '../../x'"),
        ({"SOUL.md": SOUL, "IDENTITY.md": IDENTITY, "soul.md": SOUL}, "Unknown file 'soul.md'"),
        ({"SOUL.md": SOUL, "IDENTITY.md": "---\ntemperature: 3\n---\n"}, "IDENTITY.md, line"),
        ({"SOUL.md": "", "IDENTITY.md": IDENTITY}, "SOUL.md, line 1:"),
        (
            {"SOUL.md": SOUL, "IDENTITY.md": IDENTITY, "skills.toml": "[skills.a]\nnope = 1\n"},
            "skills.toml, line 2:",
        ),
        ({"SOUL.md": SOUL, "IDENTITY.md": IDENTITY, "USER.md": "x" * 300_000}, "USER.md"),
    ],
)
async def test_invalid_bundle_is_rejected(env: BotEnvironment, files: dict[str, str], words: str):
    with pytest.raises(Invalid) as caught:
        await env.bots.import_bundle(ME, bundle(files), by="Bob")
    assert words in caught.value.message
    assert await env.bots.find_all(ME) == []
    assert [name for name in env.tree() if name not in ("bots", "bots/.trash")] == []


def test_bundle_of_newer_format_is_rejected():
    with pytest.raises(ValidationError, match=r"created by a newer Forge \(format 2\)"):
        Bundle.model_validate({"forge_bot": 2, "slug": "x", "exported_at": now(), "files": {}})


async def test_bundle_is_parsed_in_a_thread(env: BotEnvironment):
    identity = f"---\ndisplay_name: Atlas\ntags: [{'a, ' * 300_000}]\n---\n"

    async def import_identity() -> None:
        with pytest.raises(Invalid, match="is longer than"):
            await env.bots.import_bundle(ME, bundle({"SOUL.md": SOUL, "IDENTITY.md": identity}), by="Bob")

    assert (await watch_loop(import_identity())).share < 0.5
