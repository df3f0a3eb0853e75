"""Skills over HTTP: written, granted, run, looked at, removed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.skills.making import Desk, script, skill_md
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
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """On SQLite: what depends on the database uses `either_desk`."""
    async with live(settings_for(tmp_path / "data", "sqlite")) as running:
        yield Desk(running)


@pytest.fixture
def either_desk(live_forge: Live) -> Desk:
    return Desk(live_forge)


async def test_new_skill_is_local_and_has_no_grants(desk: Desk):
    made = await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    assert (made["tier"], made["source"], made["state"]) == ("local", {"type": "own"}, "review")
    assert (made["capabilities"], made["granted"], made["entry"]) == (["kv"], [], "skill.js")
    assert (
        "there is a skill"
        in (
            await desk.refused("POST", "/skills", json={"name": "counts", "files": script("counts", COUNTS)})
        )[1].lower()
    )


async def test_generated_files_can_be_created_unchanged(desk: Desk):
    wish = {"name": "adder", "kind": "script", "language": "js", "description": 'Says "a: b"\n--- and more'}
    made = await desk.ask("POST", "/skills/frame", json=wish)
    assert {"SKILL.md", "skill.js"} <= set(made["files"])
    assert (await desk.refused("GET", "/skills/adder"))[0] == 404
    created = await desk.create("adder", made["files"])
    assert (created["state"], created["problems"], created["description"]) == (
        "ready",
        [],
        wish["description"],
    )
    assert (await desk.refused("POST", "/skills/frame", json={**wish, "description": " "}))[0] == 422
    assert (
        "WebAssembly component"
        in (await desk.refused("POST", "/skills/frame", json={**wish, "language": "wasm"}))[1]
    )


async def test_each_kind_runs_and_is_recorded(either_desk: Desk):
    await either_desk.create("adds", script("adds", ADDS, "skill.py"))
    await either_desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    files = {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM}
    await either_desk.create("twice", files)
    await either_desk.grant("counts", "kv")
    await either_desk.grant("twice", "exec_command")
    added = await either_desk.run("adds", numbers=[1, 2, 3])
    assert (added["end"], added["output"]) == ("done", {"sum": 6})
    assert added["logs"] == [{"level": "info", "message": "adding"}]
    assert [(await either_desk.run("counts"))["output"] for _ in range(2)] == [{"n": 1}, {"n": 2}]
    twice = await either_desk.run("twice", n=21)
    assert (twice["output"], twice["sandbox"]) == ({"twice": 42}, "isolated")
    runs = await either_desk.ask("GET", "/skills/counts/runs")
    assert [run["end"] for run in runs] == ["done", "done"]
    assert runs[0]["capabilities_used"] == {"kv": 2}
    assert runs[0]["fuel"] > 0
    assert len(runs[0]["output_hash"]) == 64
    assert runs[0]["output_hash"] != runs[1]["output_hash"]
    assert "output" not in runs[0]


async def test_what_nobody_granted_ends_the_run_and_what_is_revoked_does_too(desk: Desk):
    await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    refused = await desk.run("counts")
    assert (refused["end"], refused["output"]) == ("refused", None)
    assert "kv" in refused["error"]
    await desk.grant("counts", "kv")
    assert (await desk.run("counts"))["end"] == "done"
    gone = await desk.ask("DELETE", "/skills/counts/grants/kv")
    assert gone["granted"] == []
    assert (await desk.run("counts"))["end"] == "refused"
    assert (await desk.refused("DELETE", "/skills/counts/grants/kv"))[0] == 404


async def test_error_with_any_characters_is_stored(either_desk: Desk):
    await either_desk.create("fails", script("fails", "function run() { throw new Error('a\\0b\\ud800c') }"))
    ran = await either_desk.run("fails")
    assert (ran["end"], ran["error"].splitlines()[0]) == ("raised", "Error: a\ufffdb\ufffdc")
    runs = await either_desk.ask("GET", "/skills/fails/runs")
    assert [run["end"] for run in runs] == ["raised"]


async def has_written(desk: Desk) -> bool:
    async with desk.live.forge.store.read() as tx:
        return (await tx.execute(sa.select(skill_kv.c.key))).first() is not None


async def test_what_is_revoked_ends_for_a_run_that_is_under_way(desk: Desk):
    source = (
        "function run() { for (;;) { kv.set('n', 1); const t = Date.now(); while (Date.now() - t < 20); } }"
    )
    await desk.create("writes", script("writes", source, capabilities="kv"))
    await desk.grant("writes", "kv")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.run("writes"))
        while not await has_written(desk):
            await asyncio.sleep(0.05)
        await desk.ask("DELETE", "/skills/writes/grants/kv")
    ran = running.result()
    assert (ran["end"], "not granted" in ran["error"]) == ("refused", True)
    assert ran["capabilities_used"]["kv"] > 0


async def test_an_edit_asks_again(either_desk: Desk):
    files = script("counts", COUNTS, capabilities="kv")
    await either_desk.create("counts", files)
    seen = await either_desk.grant("counts", "kv")
    edited = {**files, "skill.js": COUNTS.replace("+ 1", "+ 2")}
    saved = await either_desk.ask(
        "PUT", "/skills/counts", json={"files": edited, "base_hash": seen["folder_hash"]}
    )
    assert (saved["state"], saved["granted"]) == ("review", [])
    ran = await either_desk.run("counts")
    assert (ran["end"], ran["capabilities_used"]) == ("refused", {})
    assert "changed since" in ran["error"]
    await either_desk.grant("counts", "kv")
    assert (await either_desk.run("counts"))["output"] == {"n": 2}


async def test_an_edit_of_a_starter_that_is_refused_leaves_no_copy_of_it(desk: Desk):
    seen = await desk.ask("GET", "/skills/summarize")
    edit = {"files": {"SKILL.md": "no skill"}, "base_hash": seen["folder_hash"]}
    assert (await desk.refused("PUT", "/skills/summarize", json=edit))[0] == 422
    assert not (desk.live.forge.settings.data_dir / "skills" / "summarize").exists()
    assert (await desk.ask("GET", "/skills/summarize"))["source"] == {"type": "starter"}


async def test_an_edit_on_disk_asks_again_too(desk: Desk):
    made = await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    await desk.grant("counts", "kv")
    library = desk.live.forge.settings.data_dir / "skills" / "counts"
    assert str(library) == made["folder"]
    (library / "notes.txt").write_text("one more file")
    assert (await desk.run("counts"))["end"] == "refused"
    (library / "notes.txt").unlink()
    assert (await desk.run("counts"))["end"] == "done"


async def test_grant_needs_the_reviewed_folder_hash(desk: Desk):
    await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    body = {"grants": [{"capability": "kv"}], "folder_hash": "0" * 64}
    assert (await desk.refused("PUT", "/skills/counts/grants", json=body))[0] == 409
    edit = {"files": script("counts", COUNTS), "base_hash": "0" * 64}
    assert (await desk.refused("PUT", "/skills/counts", json=edit))[0] == 409


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"capability": "http_post"}, "does not ask for http_post"),
        ({"capability": "http_get"}, "names no hosts"),
        ({"capability": "kv", "scope": {"hosts": ["example.com"]}}, "does not take this scope"),
    ],
)
async def test_grant_without_effect_is_refused(desk: Desk, wish: dict[str, object], told: str):
    made = await desk.create("fetches", script("fetches", COUNTS, capabilities="kv http_get"))
    body = {"grants": [wish], "folder_hash": made["folder_hash"]}
    status, message = await desk.refused("PUT", "/skills/fetches/grants", json=body)
    assert status == 422
    assert told in message


async def test_grant_without_scope_gets_the_requested_scope(desk: Desk):
    await desk.create("reads", script("reads", COUNTS, capabilities="read_file", files="/srv/data"))
    asked = await desk.grant("reads", "read_file")
    assert asked["grants"][0]["scope"]["roots"] == ["/srv/data"]
    own = await desk.grant("reads", {"capability": "read_file", "scope": {}})
    assert own["grants"][0]["scope"]["roots"] == []


async def test_a_program_runs_at_the_tier_local_only(desk: Desk):
    await desk.create("twice", {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM})
    await desk.grant("twice", "exec_command")
    for tier in ("untrusted", "verified"):
        await desk.ask("PUT", "/skills/twice/tier", json={"tier": tier})
        ran = await desk.run("twice", n=1)
        assert (ran["end"], ran["tier"]) == ("refused", tier)
        assert "tier local" in ran["error"]


async def test_only_scripts_are_tried_out(desk: Desk):
    files = {"SKILL.md": skill_md("twice", kind="local"), "scripts/run.py": PROGRAM}
    for name, given in (("twice", files), ("told", {"SKILL.md": skill_md("told", kind="prompt")})):
        body = {"name": name, "files": given, "input": {}}
        status, message = await desk.refused("POST", "/skills/try", json=body)
        assert (status, "Only scripts" in message) == (422, True)


async def test_instructions_without_a_model_are_no_crash(desk: Desk):
    await desk.create("told", {"SKILL.md": skill_md("told", kind="prompt")})
    assert (await desk.refused("POST", "/skills/told/run", json={}))[0] >= 400
    [run] = await desk.ask("GET", "/skills/told/runs")
    assert run["end"] == "raised"
    assert run["error"]


async def test_what_it_needs_and_cannot_be_read_keeps_a_skill_from_use(desk: Desk):
    made = await desk.create("odd", script("odd", COUNTS, dependencies="base@banana"))
    assert (made["state"], "base@banana" in made["problem"]) == ("broken", True)


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
    either_desk: Desk, kind: SkillKind, minutes: int, end: str
):
    begun = SkillRun(
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
    async with either_desk.live.forge.store.begin() as tx:
        await store.insert_run(tx, either_desk.live.account_id, begun)
    [run] = await either_desk.ask("GET", "/skills/gone/runs")
    assert run["end"] == end


async def test_a_skill_that_cannot_be_read_is_shown_and_can_be_repaired(desk: Desk):
    library = desk.live.forge.settings.data_dir / "skills"
    (library / "odd").mkdir(parents=True)
    (library / "odd" / "SKILL.md").write_text("---\nname: other\ndescription: Odd.\n---\n")
    cards = {card["name"]: card for card in await desk.ask("GET", "/skills?state=broken")}
    assert list(cards) == ["odd"]
    assert "the folder is odd" in cards["odd"]["problem"]
    seen = await desk.ask("GET", "/skills/odd")
    assert seen["problems"][0]["line"] == 2
    assert (await desk.refused("POST", "/skills/odd/run", json={}))[0] == 422
    files = {"SKILL.md": "---\nname: odd\ndescription: Odd.\n---\n\nDo it.\n"}
    mended = await desk.ask("PUT", "/skills/odd", json={"files": files, "base_hash": seen["folder_hash"]})
    assert mended["state"] == "ready"


async def test_tests_keep_nothing_and_try_outs_need_no_library(desk: Desk):
    case = '{"name": "first", "input": {}, "expect": {"n": 1}}'
    files = {**script("counts", COUNTS, capabilities="kv"), "tests/first.json": case}
    await desk.create("counts", files)
    failed = await desk.ask("POST", "/skills/counts/test", json={})
    assert (failed["passed"], failed["cases"][0]["passed"]) == (False, False)
    await desk.grant("counts", "kv")
    for _ in range(2):
        report = await desk.ask("POST", "/skills/counts/test", json={})
        assert (report["passed"], report["sandbox"]) == (True, "WebAssembly")
    tried = await desk.ask("POST", "/skills/try", json={"name": "counts", "files": files, "input": {}})
    assert (tried["end"], tried["output"]) == ("done", {"n": 1})
    assert (await desk.run("counts"))["output"] == {"n": 1}
    async with desk.live.forge.store.read() as tx:
        records = await store.list_records(tx, desk.live.account_id)
    assert list(records) == ["counts"]


async def test_a_skill_that_is_needed_is_not_removed_by_accident(desk: Desk):
    await desk.create("base", {"SKILL.md": skill_md("base", kind="prompt")})
    await desk.create("child", {"SKILL.md": skill_md("child", kind="prompt", parents="base")})
    status, message = await desk.refused("DELETE", "/skills/base")
    assert (status, "child" in message) == (409, True)
    await desk.ask("DELETE", "/skills/base?force=true")
    child = await desk.ask("GET", "/skills/child")
    assert child["state"] == "broken"
    assert "base" in child["problem"]


async def test_what_a_skill_kept_goes_with_it_and_its_log_stays(either_desk: Desk):
    files = script("counts", COUNTS, capabilities="kv")
    await either_desk.create("counts", files)
    await either_desk.grant("counts", "kv")
    await either_desk.run("counts")
    await either_desk.ask("DELETE", "/skills/counts")
    assert (await either_desk.refused("GET", "/skills/counts"))[0] == 404
    await either_desk.create("counts", files)
    assert (await either_desk.run("counts"))["end"] == "refused"
    await either_desk.grant("counts", "kv")
    assert (await either_desk.run("counts"))["output"] == {"n": 1}
    assert len(await either_desk.ask("GET", "/skills/counts/runs")) == 3


async def test_inherited_capabilities_are_granted_for_all_the_folders_together(desk: Desk):
    await desk.create("base", {"SKILL.md": skill_md("base", kind="prompt", capabilities="kv")})
    seen = await desk.create("counts", script("counts", COUNTS, parents="base"))
    assert [(ask["capability"], ask["from_parent"]) for ask in seen["asks"]] == [("kv", "base")]
    assert "Inherited from base" in seen["body"]
    await desk.grant("counts", "kv")
    assert (await desk.run("counts"))["end"] == "done"
    base = desk.live.forge.settings.data_dir / "skills" / "base" / "SKILL.md"
    base.write_text(base.read_text() + "\nMore.\n")
    assert (await desk.run("counts"))["end"] == "refused"


async def test_a_key_that_may_write_may_not_grant(desk: Desk):
    made = await desk.create("counts", script("counts", COUNTS, capabilities="kv"))
    key = await desk.ask("POST", "/keys", json={"name": "ci", "scopes": ["write"]})
    headers = {"Authorization": f"Bearer {key['key']}"}
    body = {"grants": [{"capability": "kv"}], "folder_hash": made["folder_hash"]}
    for method, path, given in (
        ("PUT", "/skills/counts/grants", body),
        ("PUT", "/skills/counts/tier", {"tier": "local"}),
        ("POST", "/skill-registries", {"name": "mine", "url": "https://example.com/index.json"}),
    ):
        status, message = await desk.refused(method, path, json=given, headers=headers)
        assert (status, "admin" in message) == (403, True)
