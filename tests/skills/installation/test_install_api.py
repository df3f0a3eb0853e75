"""Installing over HTTP: fetched, looked at, chosen, granted; each whole or not at all."""

import io
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.skills.making import Desk, script, skill_md
from tests.support.live_forge import Live, live, settings_for

COUNTS = "function run(input) { const n = (kv.get('n') ?? 0) + 1; kv.set('n', n); return { n }; }\n"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with live(settings_for(tmp_path / "data", "sqlite")) as running:
        yield Desk(running)


async def test_what_was_fetched_is_installed_with_what_a_person_grants(live_forge: Live):
    desk = Desk(live_forge)
    stage = await desk.stage(("counts", script("counts", COUNTS, capabilities="kv log")))
    [seen] = stage["skills"]
    assert (seen["valid"], seen["replaces"], [ask["capability"] for ask in seen["asks"]]) == (
        True,
        None,
        ["kv", "log"],
    )
    assert all(card["name"] != "counts" for card in await desk.ask("GET", "/skills"))
    done = await desk.install(stage, {"name": "counts", "grants": [{"capability": "kv"}]})
    assert [(one["installed"], one["is_new"], one["state"]) for one in done] == [(True, True, "ready")]
    found = await desk.ask("GET", "/skills/counts")
    assert (found["tier"], found["source"]["type"], found["granted"]) == ("untrusted", "zip", ["kv"])
    assert (await desk.run("counts"))["output"] == {"n": 1}


async def test_without_grants_it_waits_for_review_and_can_do_nothing(desk: Desk):
    stage = await desk.stage(("counts", script("counts", COUNTS, capabilities="kv")))
    [done] = await desk.install(stage, {"name": "counts"})
    assert (done["installed"], done["state"]) == (True, "review")
    assert (await desk.run("counts"))["end"] == "refused"


async def test_a_manifest_that_claims_a_tier_gets_none(desk: Desk):
    files = {"SKILL.md": skill_md("sly", kind="local"), "scripts/run.py": "print('{}')\n"}
    files["SKILL.md"] = files["SKILL.md"].replace(
        "metadata:", 'metadata:\n  trust-tier: "local"\n  forge-tier: "local"'
    )
    stage = await desk.stage(("sly", files))
    await desk.install(stage, {"name": "sly", "grants": [{"capability": "exec_command"}]})
    found = await desk.ask("GET", "/skills/sly")
    assert found["tier"] == "untrusted"
    assert (await desk.run("sly"))["end"] == "refused"


async def test_trust_in_the_work_of_others_ends_when_it_is_changed(desk: Desk):
    stage = await desk.stage(("counts", script("counts", COUNTS)))
    await desk.install(stage, {"name": "counts", "tier": "verified"})
    found = await desk.ask("GET", "/skills/counts")
    assert found["tier"] == "verified"
    (Path(found["folder"]) / "skill.js").write_text(COUNTS + "// more\n")
    assert (await desk.ask("GET", "/skills/counts"))["tier"] == "untrusted"


async def test_another_of_the_same_name_is_replaced_only_by_force_and_loses_its_grants(desk: Desk):
    files = script("counts", COUNTS, capabilities="kv")
    await desk.install(
        await desk.stage(("counts", files)), {"name": "counts", "grants": [{"capability": "kv"}]}
    )
    newer = script("counts", COUNTS.replace("+ 1", "+ 5"), capabilities="kv", version="2.0.0")
    stage = await desk.stage(("counts", newer))
    assert (stage["skills"][0]["replaces"], stage["skills"][0]["changes"]) == (
        "1.0.0",
        ["SKILL.md", "skill.js"],
    )
    [refused] = await desk.install(stage, {"name": "counts"})
    assert (refused["installed"], "--force" in refused["hint"]) == (False, True)
    assert (await desk.run("counts"))["output"] == {"n": 1}
    [done] = await desk.install(stage, {"name": "counts"}, force=True)
    assert (done["installed"], done["is_new"], done["version"]) == (True, False, "2.0.0")
    assert (await desk.run("counts"))["end"] == "refused"


async def test_what_a_skill_needs_comes_along_and_first(desk: Desk):
    base = {"SKILL.md": skill_md("base", kind="prompt", capabilities="kv")}
    child = script("child", COUNTS, dependencies="base@^1.0", parents="base")
    done = await desk.install(await desk.stage(("child", child), ("base", base)), {"name": "child"})
    assert [(one["name"], one["installed"]) for one in done] == [("child", True), ("base", True)]


async def test_what_cannot_be_had_says_why_and_stops_nothing_else(desk: Desk):
    lonely = {"SKILL.md": skill_md("lonely", kind="prompt", dependencies="nowhere")}
    broken = {"SKILL.md": "---\nname: broken\n---\n"}
    fine = {"SKILL.md": skill_md("fine", kind="prompt")}
    stage = await desk.stage(("lonely", lonely), ("broken", broken), ("fine", fine))
    assert {one["name"]: one["valid"] for one in stage["skills"]}["broken"] is False
    wishes = [{"name": name} for name in ("lonely", "broken", "fine", "missing")]
    done = {one["name"]: one for one in await desk.install(stage, *wishes)}
    assert [name for name, one in done.items() if one["installed"]] == ["fine"]
    assert "nowhere" in done["lonely"]["problem"]
    assert "description" in done["broken"]["problem"]
    assert "missing" in done["missing"]["problem"]
    names = {card["name"] for card in await desk.ask("GET", "/skills")}
    assert {"fine"} == names & {"lonely", "broken", "fine"}


async def test_export_can_be_installed_elsewhere(desk: Desk):
    await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    before = await desk.ask("GET", "/skills/counts")
    async with desk.live.client() as client:
        data = (await client.get("/api/v1/skills/counts/export")).content
    assert sorted(zipfile.ZipFile(io.BytesIO(data)).namelist()) == ["counts/SKILL.md", "counts/skill.js"]
    await desk.ask("DELETE", "/skills/counts")
    stage = await desk.ask("POST", "/skill-stages/zip", content=data)
    await desk.install(stage, {"name": "counts"})
    assert (await desk.ask("GET", "/skills/counts"))["folder_hash"] == before["folder_hash"]


async def test_a_stage_can_be_looked_at_again_and_dropped(desk: Desk):
    stage = await desk.stage(("fine", {"SKILL.md": skill_md("fine", kind="prompt")}))
    assert (await desk.ask("GET", f"/skill-stages/{stage['id']}"))["skills"][0]["name"] == "fine"
    await desk.ask("DELETE", f"/skill-stages/{stage['id']}")
    assert (await desk.refused("GET", f"/skill-stages/{stage['id']}"))[0] == 404


async def test_folders_of_the_server_are_closed_unless_the_settings_open_them(tmp_path: Path):
    inside, outside = tmp_path / "open" / "fine", tmp_path / "closed" / "fine"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill_md("fine", kind="prompt"))
    settings = settings_for(tmp_path / "data", "sqlite", skill_roots=(tmp_path / "open",))
    async with live(settings) as running:
        desk = Desk(running)
        stage = await desk.ask(
            "POST", "/skill-stages", json={"source": {"type": "path", "path": str(inside)}}
        )
        assert [one["name"] for one in stage["skills"]] == ["fine"]
        for path in (str(outside), "/etc", str(tmp_path / "data"), str(inside / ".." / ".." / "closed")):
            wish = {"source": {"type": "path", "path": path}}
            assert (await desk.refused("POST", "/skill-stages", json=wish))[0] == 403


async def test_an_archive_larger_than_other_bodies_is_taken_and_one_too_large_is_not(desk: Desk):
    large = {"SKILL.md": skill_md("large", kind="prompt"), "assets/data.bin": "x" * 3_000_000}
    stage = await desk.stage(("large", large))
    assert stage["skills"][0]["valid"]
    status, _ = await desk.refused("POST", "/skill-stages/zip", content=b"x" * (70 << 20))
    assert status == 413


async def test_an_unnamed_source_cannot_be_fetched_again(desk: Desk):
    await desk.create("fine", {"SKILL.md": skill_md("fine", kind="prompt")})
    status, message = await desk.refused("POST", "/skills/fine/update")
    assert status == 422
    assert "repository or a registry" in message


async def test_what_cannot_be_put_together_says_why_beside_its_warnings(desk: Desk):
    files = {"SKILL.md": skill_md("child", kind="prompt", parents="nowhere", body="See `scripts/gone.py`.")}
    [seen] = (await desk.stage(("child", files)))["skills"]
    assert (seen["valid"], "nowhere" in seen["problems"][0]["message"]) == (False, True)
    assert any(problem["is_warning"] for problem in seen["problems"])


async def test_binary_skill_md_makes_a_broken_skill(desk: Desk):
    folder = desk.live.forge.settings.data_dir / "skills" / "odd"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(b"---\nname: odd\ndescription: \xff\xfe.\n---\n\nx\n")
    seen = await desk.ask("GET", "/skills/odd")
    assert (seen["state"], "UTF-8" in seen["problem"]) == ("broken", True)
    assert (await desk.refused("POST", "/skills/odd/run", json={}))[0] == 422
