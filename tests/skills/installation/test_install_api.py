"""The HTTP API for installing skills: stages, grants, dependencies and exports."""

import io
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.skills.skill_files import SkillsApi, script, skill_md
from tests.support.live_forge import Live, live, settings_for

COUNTS = "function run(input) { const n = (kv.get('n') ?? 0) + 1; kv.set('n', n); return { n }; }\n"


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[SkillsApi]:
    async with live(settings_for(tmp_path / "data", "sqlite")) as running:
        yield SkillsApi(running)


async def test_staged_skill_is_installed_with_the_chosen_grants(live_forge: Live):
    api = SkillsApi(live_forge)
    stage = await api.stage(("counts", script("counts", COUNTS, capabilities="kv log")))
    [staged] = stage["skills"]
    assert (staged["valid"], staged["replaces"], [ask["capability"] for ask in staged["asks"]]) == (
        True,
        None,
        ["kv", "log"],
    )
    assert all(card["name"] != "counts" for card in await api.call("GET", "/skills"))
    done = await api.install(stage, {"name": "counts", "grants": [{"capability": "kv"}]})
    assert [(one["installed"], one["is_new"], one["state"]) for one in done] == [(True, True, "ready")]
    found = await api.call("GET", "/skills/counts")
    assert (found["tier"], found["source"]["type"], found["granted"]) == ("untrusted", "zip", ["kv"])
    assert (await api.run("counts"))["output"] == {"n": 1}


async def test_skill_installed_without_grants_needs_review(api: SkillsApi):
    stage = await api.stage(("counts", script("counts", COUNTS, capabilities="kv")))
    [done] = await api.install(stage, {"name": "counts"})
    assert (done["installed"], done["state"]) == (True, "review")
    assert (await api.run("counts"))["end"] == "refused"


async def test_tier_in_the_manifest_is_ignored(api: SkillsApi):
    files = {"SKILL.md": skill_md("sly", kind="local"), "scripts/run.py": "print('{}')\n"}
    files["SKILL.md"] = files["SKILL.md"].replace(
        "metadata:", 'metadata:\n  trust-tier: "local"\n  forge-tier: "local"'
    )
    stage = await api.stage(("sly", files))
    await api.install(stage, {"name": "sly", "grants": [{"capability": "exec_command"}]})
    found = await api.call("GET", "/skills/sly")
    assert found["tier"] == "untrusted"
    assert (await api.run("sly"))["end"] == "refused"


async def test_edit_of_an_installed_skill_resets_its_tier(api: SkillsApi):
    stage = await api.stage(("counts", script("counts", COUNTS)))
    await api.install(stage, {"name": "counts", "tier": "verified"})
    found = await api.call("GET", "/skills/counts")
    assert found["tier"] == "verified"
    (Path(found["folder"]) / "skill.js").write_text(COUNTS + "// more\n")
    assert (await api.call("GET", "/skills/counts"))["tier"] == "untrusted"


async def test_different_skill_is_replaced_only_with_force_and_loses_its_grants(api: SkillsApi):
    files = script("counts", COUNTS, capabilities="kv")
    await api.install(
        await api.stage(("counts", files)), {"name": "counts", "grants": [{"capability": "kv"}]}
    )
    newer = script("counts", COUNTS.replace("+ 1", "+ 5"), capabilities="kv", version="2.0.0")
    stage = await api.stage(("counts", newer))
    assert (stage["skills"][0]["replaces"], stage["skills"][0]["changes"]) == (
        "1.0.0",
        ["SKILL.md", "skill.js"],
    )
    [refused] = await api.install(stage, {"name": "counts"})
    assert (refused["installed"], "--force" in refused["hint"]) == (False, True)
    assert (await api.run("counts"))["output"] == {"n": 1}
    [done] = await api.install(stage, {"name": "counts"}, force=True)
    assert (done["installed"], done["is_new"], done["version"]) == (True, False, "2.0.0")
    assert (await api.run("counts"))["end"] == "refused"


async def test_dependencies_are_installed_with_the_skill(api: SkillsApi):
    base = {"SKILL.md": skill_md("base", kind="prompt", capabilities="kv")}
    child = script("child", COUNTS, dependencies="base@^1.0", parents="base")
    done = await api.install(await api.stage(("child", child), ("base", base)), {"name": "child"})
    assert [(one["name"], one["installed"]) for one in done] == [("child", True), ("base", True)]


async def test_failing_skill_does_not_stop_the_others(api: SkillsApi):
    lonely = {"SKILL.md": skill_md("lonely", kind="prompt", dependencies="nowhere")}
    broken = {"SKILL.md": "---\nname: broken\n---\n"}
    fine = {"SKILL.md": skill_md("fine", kind="prompt")}
    stage = await api.stage(("lonely", lonely), ("broken", broken), ("fine", fine))
    assert {one["name"]: one["valid"] for one in stage["skills"]}["broken"] is False
    choices = [{"name": name} for name in ("lonely", "broken", "fine", "missing")]
    done = {one["name"]: one for one in await api.install(stage, *choices)}
    assert [name for name, one in done.items() if one["installed"]] == ["fine"]
    assert "nowhere" in done["lonely"]["problem"]
    assert "description" in done["broken"]["problem"]
    assert "missing" in done["missing"]["problem"]
    names = {card["name"] for card in await api.call("GET", "/skills")}
    assert {"fine"} == names & {"lonely", "broken", "fine"}


async def test_export_can_be_installed_elsewhere(api: SkillsApi):
    await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    before = await api.call("GET", "/skills/counts")
    async with api.live.client() as client:
        data = (await client.get("/api/v1/skills/counts/export")).content
    assert sorted(zipfile.ZipFile(io.BytesIO(data)).namelist()) == ["counts/SKILL.md", "counts/skill.js"]
    await api.call("DELETE", "/skills/counts")
    stage = await api.call("POST", "/skill-stages/zip", content=data)
    await api.install(stage, {"name": "counts"})
    assert (await api.call("GET", "/skills/counts"))["folder_hash"] == before["folder_hash"]


async def test_stage_can_be_read_again_and_deleted(api: SkillsApi):
    stage = await api.stage(("fine", {"SKILL.md": skill_md("fine", kind="prompt")}))
    assert (await api.call("GET", f"/skill-stages/{stage['id']}"))["skills"][0]["name"] == "fine"
    await api.call("DELETE", f"/skill-stages/{stage['id']}")
    assert (await api.error("GET", f"/skill-stages/{stage['id']}"))[0] == 404


async def test_server_folders_are_readable_only_below_the_configured_roots(tmp_path: Path):
    inside, outside = tmp_path / "open" / "fine", tmp_path / "closed" / "fine"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill_md("fine", kind="prompt"))
    settings = settings_for(tmp_path / "data", "sqlite", skill_roots=(tmp_path / "open",))
    async with live(settings) as running:
        api = SkillsApi(running)
        stage = await api.call(
            "POST", "/skill-stages", json={"source": {"type": "path", "path": str(inside)}}
        )
        assert [one["name"] for one in stage["skills"]] == ["fine"]
        for path in (str(outside), "/etc", str(tmp_path / "data"), str(inside / ".." / ".." / "closed")):
            body = {"source": {"type": "path", "path": path}}
            assert (await api.error("POST", "/skill-stages", json=body))[0] == 403


async def test_archive_has_its_own_size_limit(api: SkillsApi):
    large = {"SKILL.md": skill_md("large", kind="prompt"), "assets/data.bin": "x" * 3_000_000}
    stage = await api.stage(("large", large))
    assert stage["skills"][0]["valid"]
    status, _ = await api.error("POST", "/skill-stages/zip", content=b"x" * (70 << 20))
    assert status == 413


async def test_skill_without_a_remote_source_cannot_be_updated(api: SkillsApi):
    await api.create("fine", {"SKILL.md": skill_md("fine", kind="prompt")})
    status, message = await api.error("POST", "/skills/fine/update")
    assert status == 422
    assert "repository or a registry" in message


async def test_missing_parent_is_reported_beside_warnings(api: SkillsApi):
    files = {"SKILL.md": skill_md("child", kind="prompt", parents="nowhere", body="See `scripts/gone.py`.")}
    [staged] = (await api.stage(("child", files)))["skills"]
    assert (staged["valid"], "nowhere" in staged["problems"][0]["message"]) == (False, True)
    assert any(problem["is_warning"] for problem in staged["problems"])


async def test_binary_skill_md_makes_a_broken_skill(api: SkillsApi):
    folder = api.live.forge.settings.data_dir / "skills" / "odd"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(b"---\nname: odd\ndescription: \xff\xfe.\n---\n\nx\n")
    skill = await api.call("GET", "/skills/odd")
    assert (skill["state"], "UTF-8" in skill["problem"]) == ("broken", True)
    assert (await api.error("POST", "/skills/odd/run", json={}))[0] == 422
