"""The HTTP API of skills: create, edit, grant, run, test and delete."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.skills.skill_files import SkillsApi, script, skill_md
from tests.support.live_forge import Live, live, settings_for

from forge.kernel.clock import now
from forge.skills import store
from forge.skills.execution import RunEnd
from forge.skills.models import SkillKind, Tier
from forge.skills.tables import skill_kv
from forge.skills.views import SkillRun

COUNTS = "function run(input) { const n = (kv.get('n') ?? 0) + 1; kv.set('n', n); return { n }; }\n"
ADDS = "def run(input):\n    print('adding')\n    return {'sum': sum(input['numbers'])}\n"
PROGRAM = "import json, sys\ngiven = json.load(sys.stdin)\njson.dump({'twice': given['n'] * 2}, sys.stdout)\n"


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[SkillsApi]:
    """Use SQLite; tests that depend on the database use `either_api`."""
    async with live(settings_for(tmp_path / "data", "sqlite")) as running:
        yield SkillsApi(running)


@pytest.fixture
def either_api(live_forge: Live) -> SkillsApi:
    return SkillsApi(live_forge)


async def test_new_skill_is_local_and_has_no_grants(api: SkillsApi):
    created = await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    assert (created["tier"], created["source"], created["state"]) == ("local", {"type": "own"}, "review")
    assert (created["capabilities"], created["granted"], created["entry"]) == (["kv"], [], "skill.js")
    assert (
        "there is a skill"
        in (await api.error("POST", "/skills", json={"name": "counts", "files": script("counts", COUNTS)}))[
            1
        ].lower()
    )


async def test_generated_files_can_be_created_unchanged(api: SkillsApi):
    skill = {"name": "adder", "kind": "script", "language": "js", "description": 'Says "a: b"\n--- and more'}
    template = await api.call("POST", "/skills/frame", json=skill)
    assert {"SKILL.md", "skill.js"} <= set(template["files"])
    assert (await api.error("GET", "/skills/adder"))[0] == 404
    created = await api.create("adder", template["files"])
    assert (created["state"], created["problems"], created["description"]) == (
        "ready",
        [],
        skill["description"],
    )
    assert (await api.error("POST", "/skills/frame", json={**skill, "description": " "}))[0] == 422
    assert (
        "WebAssembly component"
        in (await api.error("POST", "/skills/frame", json={**skill, "language": "wasm"}))[1]
    )


async def test_each_kind_runs_and_is_recorded(either_api: SkillsApi):
    await either_api.create("adds", script("adds", ADDS, "skill.py"))
    await either_api.create("counts", script("counts", COUNTS, capabilities="kv"))
    files = {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM}
    await either_api.create("twice", files)
    await either_api.grant("counts", "kv")
    await either_api.grant("twice", "exec_command")
    added = await either_api.run("adds", numbers=[1, 2, 3])
    assert (added["end"], added["output"]) == ("done", {"sum": 6})
    assert added["logs"] == [{"level": "info", "message": "adding"}]
    assert [(await either_api.run("counts"))["output"] for _ in range(2)] == [{"n": 1}, {"n": 2}]
    twice = await either_api.run("twice", n=21)
    assert (twice["output"], twice["sandbox"]) == ({"twice": 42}, "isolated")
    runs = await either_api.call("GET", "/skills/counts/runs")
    assert [run["end"] for run in runs] == ["done", "done"]
    assert runs[0]["capabilities_used"] == {"kv": 2}
    assert runs[0]["fuel"] > 0
    assert len(runs[0]["output_hash"]) == 64
    assert runs[0]["output_hash"] != runs[1]["output_hash"]
    assert "output" not in runs[0]


async def test_missing_or_revoked_grant_ends_the_run(api: SkillsApi):
    await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    refused = await api.run("counts")
    assert (refused["end"], refused["output"]) == ("refused", None)
    assert "kv" in refused["error"]
    await api.grant("counts", "kv")
    assert (await api.run("counts"))["end"] == "done"
    gone = await api.call("DELETE", "/skills/counts/grants/kv")
    assert gone["granted"] == []
    assert (await api.run("counts"))["end"] == "refused"
    assert (await api.error("DELETE", "/skills/counts/grants/kv"))[0] == 404


async def test_error_with_any_characters_is_stored(either_api: SkillsApi):
    await either_api.create("fails", script("fails", "function run() { throw new Error('a\\0b\\ud800c') }"))
    result = await either_api.run("fails")
    assert (result["end"], result["error"].splitlines()[0]) == ("raised", "Error: a\ufffdb\ufffdc")
    runs = await either_api.call("GET", "/skills/fails/runs")
    assert [run["end"] for run in runs] == ["raised"]


async def has_written(api: SkillsApi) -> bool:
    async with api.live.forge.store.read() as tx:
        return (await tx.execute(sa.select(skill_kv.c.key))).first() is not None


async def test_revoking_a_grant_ends_a_running_skill(api: SkillsApi):
    source = (
        "function run() { for (;;) { kv.set('n', 1); const t = Date.now(); while (Date.now() - t < 20); } }"
    )
    await api.create("writes", script("writes", source, capabilities="kv"))
    await api.grant("writes", "kv")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(api.run("writes"))
        while not await has_written(api):
            await asyncio.sleep(0.05)
        await api.call("DELETE", "/skills/writes/grants/kv")
    result = running.result()
    assert (result["end"], "not granted" in result["error"]) == ("refused", True)
    assert result["capabilities_used"]["kv"] > 0


async def test_edit_requires_new_grants(either_api: SkillsApi):
    files = script("counts", COUNTS, capabilities="kv")
    await either_api.create("counts", files)
    skill = await either_api.grant("counts", "kv")
    edited = {**files, "skill.js": COUNTS.replace("+ 1", "+ 2")}
    saved = await either_api.call(
        "PUT", "/skills/counts", json={"files": edited, "base_hash": skill["folder_hash"]}
    )
    assert (saved["state"], saved["granted"]) == ("review", [])
    result = await either_api.run("counts")
    assert (result["end"], result["capabilities_used"]) == ("refused", {})
    assert "changed since" in result["error"]
    await either_api.grant("counts", "kv")
    assert (await either_api.run("counts"))["output"] == {"n": 2}


async def test_rejected_edit_of_a_starter_leaves_no_copy(api: SkillsApi):
    skill = await api.call("GET", "/skills/summarize")
    edit = {"files": {"SKILL.md": "no skill"}, "base_hash": skill["folder_hash"]}
    assert (await api.error("PUT", "/skills/summarize", json=edit))[0] == 422
    assert not (api.live.forge.settings.data_dir / "skills" / "summarize").exists()
    assert (await api.call("GET", "/skills/summarize"))["source"] == {"type": "starter"}


async def test_edit_on_disk_requires_new_grants(api: SkillsApi):
    created = await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    await api.grant("counts", "kv")
    library = api.live.forge.settings.data_dir / "skills" / "counts"
    assert str(library) == created["folder"]
    (library / "notes.txt").write_text("one more file")
    assert (await api.run("counts"))["end"] == "refused"
    (library / "notes.txt").unlink()
    assert (await api.run("counts"))["end"] == "done"


async def test_grant_needs_the_reviewed_folder_hash(api: SkillsApi):
    await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    body = {"grants": [{"capability": "kv"}], "folder_hash": "0" * 64}
    assert (await api.error("PUT", "/skills/counts/grants", json=body))[0] == 409
    edit = {"files": script("counts", COUNTS), "base_hash": "0" * 64}
    assert (await api.error("PUT", "/skills/counts", json=edit))[0] == 409


@pytest.mark.parametrize(
    ("grant", "expected"),
    [
        ({"capability": "http_post"}, "does not ask for http_post"),
        ({"capability": "http_get"}, "names no hosts"),
        ({"capability": "kv", "scope": {"hosts": ["example.com"]}}, "does not take this scope"),
    ],
)
async def test_grant_without_effect_is_rejected(api: SkillsApi, grant: dict[str, object], expected: str):
    created = await api.create("fetches", script("fetches", COUNTS, capabilities="kv http_get"))
    body = {"grants": [grant], "folder_hash": created["folder_hash"]}
    status, message = await api.error("PUT", "/skills/fetches/grants", json=body)
    assert status == 422
    assert expected in message


async def test_grant_without_scope_gets_the_requested_scope(api: SkillsApi):
    await api.create("reads", script("reads", COUNTS, capabilities="read_file", files="/srv/data"))
    skill = await api.grant("reads", "read_file")
    assert skill["grants"][0]["scope"]["roots"] == ["/srv/data"]
    own = await api.grant("reads", {"capability": "read_file", "scope": {}})
    assert own["grants"][0]["scope"]["roots"] == []


async def test_program_runs_only_at_tier_local(api: SkillsApi):
    await api.create("twice", {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM})
    await api.grant("twice", "exec_command")
    for tier in ("untrusted", "verified"):
        await api.call("PUT", "/skills/twice/tier", json={"tier": tier})
        result = await api.run("twice", n=1)
        assert (result["end"], result["tier"]) == ("refused", tier)
        assert "tier local" in result["error"]


async def test_only_scripts_can_be_tried_out(api: SkillsApi):
    files = {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM}
    for name, given in (("twice", files), ("notes", {"SKILL.md": skill_md("notes", kind="prompt")})):
        body = {"name": name, "files": given, "input": {}}
        status, message = await api.error("POST", "/skills/try", json=body)
        assert (status, "Only scripts" in message) == (422, True)


async def test_running_instructions_without_a_model_is_recorded_as_raised(api: SkillsApi):
    await api.create("notes", {"SKILL.md": skill_md("notes", kind="prompt")})
    assert (await api.error("POST", "/skills/notes/run", json={}))[0] >= 400
    [run] = await api.call("GET", "/skills/notes/runs")
    assert run["end"] == "raised"
    assert run["error"]


async def test_invalid_dependency_breaks_the_skill(api: SkillsApi):
    created = await api.create("odd", script("odd", COUNTS, dependencies="base@banana"))
    assert (created["state"], "base@banana" in created["problem"]) == ("broken", True)


@pytest.mark.parametrize(
    ("kind", "minutes", "end"),
    [
        (SkillKind.SCRIPT, 0, "running"),
        (SkillKind.SCRIPT, 2, "running"),  # the runtime of its language may be compiled first
        (SkillKind.SCRIPT, 15, "crashed"),
        (SkillKind.PROMPT, 15, "running"),  # the model takes its time
        (SkillKind.PROMPT, 90, "crashed"),
    ],
)
async def test_run_of_a_dead_process_is_shown_as_crashed(
    either_api: SkillsApi, kind: SkillKind, minutes: int, end: str
):
    started = SkillRun(
        id="a-run",
        skill="gone",
        version="1",
        folder_hash="0",
        kind=kind,
        tier=Tier.UNTRUSTED,
        purpose="chat",
        end=RunEnd.RUNNING,
        input_hash="0",
        duration_ms=0,
        at=now() - timedelta(minutes=minutes),
    )
    async with either_api.live.forge.store.begin() as tx:
        await store.insert_run(tx, either_api.live.account_id, started)
    [run] = await either_api.call("GET", "/skills/gone/runs")
    assert run["end"] == end


async def test_invalid_skill_is_listed_and_can_be_repaired(api: SkillsApi):
    library = api.live.forge.settings.data_dir / "skills"
    (library / "odd").mkdir(parents=True)
    (library / "odd" / "SKILL.md").write_text("---\nname: other\ndescription: Odd.\n---\n")
    cards = {card["name"]: card for card in await api.call("GET", "/skills?state=broken")}
    assert list(cards) == ["odd"]
    assert "the folder is odd" in cards["odd"]["problem"]
    skill = await api.call("GET", "/skills/odd")
    assert skill["problems"][0]["line"] == 2
    assert (await api.error("POST", "/skills/odd/run", json={}))[0] == 422
    files = {"SKILL.md": "---\nname: odd\ndescription: Odd.\n---\n\nDo it.\n"}
    repaired = await api.call("PUT", "/skills/odd", json={"files": files, "base_hash": skill["folder_hash"]})
    assert repaired["state"] == "ready"


async def test_tests_and_trials_store_nothing(api: SkillsApi):
    case = '{"name": "first", "input": {}, "expect": {"n": 1}}'
    files = {**script("counts", COUNTS, capabilities="kv"), "tests/first.json": case}
    await api.create("counts", files)
    failed = await api.call("POST", "/skills/counts/test", json={})
    assert (failed["passed"], failed["cases"][0]["passed"]) == (False, False)
    await api.grant("counts", "kv")
    for _ in range(2):
        report = await api.call("POST", "/skills/counts/test", json={})
        assert (report["passed"], report["sandbox"]) == (True, "WebAssembly")
    tried = await api.call("POST", "/skills/try", json={"name": "counts", "files": files, "input": {}})
    assert (tried["end"], tried["output"]) == ("done", {"n": 1})
    assert (await api.run("counts"))["output"] == {"n": 1}
    async with api.live.forge.store.read() as tx:
        records = await store.list_records(tx, api.live.account_id)
    assert list(records) == ["counts"]


async def test_required_skill_is_deleted_only_with_force(api: SkillsApi):
    await api.create("base", {"SKILL.md": skill_md("base", kind="prompt")})
    await api.create("child", {"SKILL.md": skill_md("child", kind="prompt", parents="base")})
    status, message = await api.error("DELETE", "/skills/base")
    assert (status, "child" in message) == (409, True)
    await api.call("DELETE", "/skills/base?force=true")
    child = await api.call("GET", "/skills/child")
    assert child["state"] == "broken"
    assert "base" in child["problem"]


async def test_deleting_a_skill_deletes_its_values_but_keeps_its_runs(either_api: SkillsApi):
    files = script("counts", COUNTS, capabilities="kv")
    await either_api.create("counts", files)
    await either_api.grant("counts", "kv")
    await either_api.run("counts")
    await either_api.call("DELETE", "/skills/counts")
    assert (await either_api.error("GET", "/skills/counts"))[0] == 404
    await either_api.create("counts", files)
    assert (await either_api.run("counts"))["end"] == "refused"
    await either_api.grant("counts", "kv")
    assert (await either_api.run("counts"))["output"] == {"n": 1}
    assert len(await either_api.call("GET", "/skills/counts/runs")) == 3


async def test_edit_of_a_parent_revokes_inherited_grants(api: SkillsApi):
    await api.create("base", {"SKILL.md": skill_md("base", kind="prompt", capabilities="kv")})
    skill = await api.create("counts", script("counts", COUNTS, parents="base"))
    assert [(ask["capability"], ask["from_parent"]) for ask in skill["asks"]] == [("kv", "base")]
    assert "Inherited from base" in skill["body"]
    await api.grant("counts", "kv")
    assert (await api.run("counts"))["end"] == "done"
    base = api.live.forge.settings.data_dir / "skills" / "base" / "SKILL.md"
    base.write_text(base.read_text() + "\nMore.\n")
    assert (await api.run("counts"))["end"] == "refused"


async def test_api_key_with_write_scope_cannot_grant(api: SkillsApi):
    created = await api.create("counts", script("counts", COUNTS, capabilities="kv"))
    key = await api.call("POST", "/keys", json={"name": "ci", "scopes": ["write"]})
    headers = {"Authorization": f"Bearer {key['key']}"}
    body = {"grants": [{"capability": "kv"}], "folder_hash": created["folder_hash"]}
    for method, path, given in (
        ("PUT", "/skills/counts/grants", body),
        ("PUT", "/skills/counts/tier", {"tier": "local"}),
        ("POST", "/skill-registries", {"name": "mine", "url": "https://example.com/index.json"}),
    ):
        status, message = await api.error(method, path, json=given, headers=headers)
        assert (status, "admin" in message) == (403, True)
