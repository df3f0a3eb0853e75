"""Skills that are programs, in the real sandbox."""

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.skills.host.hosts import SECRETS, secret

from forge.errors import SandboxTooWeak
from forge.sandbox.backends.launched_process import Plain
from forge.sandbox.models import Level
from forge.sandbox.registry_gateway.access import Registries
from forge.sandbox.sandboxes import Candidate, Sandboxes
from forge.skills.execution import MB, RunEnd, RunLimits, RunOutcome
from forge.skills.invocations.programs import ProgramRunner
from forge.skills.models import Capability, Scope

RUN = "scripts/run.py"
LIMITS = RunLimits(64 * MB, 0, 20.0)
KEY = SECRETS["WEATHER_KEY"]
PRELUDE = "import json, os, sys, pathlib\ngiven = json.load(sys.stdin)\n"
OWN = Path("data/skill-files/account-1/weather")


@pytest.fixture(scope="module")
def sandboxes() -> Sandboxes:
    return Sandboxes()


class Workshop:
    def __init__(self, folder: Path, sandboxes: Sandboxes) -> None:
        (folder / "data").mkdir()
        self.folder = folder
        self.programs = ProgramRunner(sandboxes, folder / "data" / "skill-files")

    async def run(
        self,
        source: str,
        allowed: Mapping[Capability, Scope] | None = None,
        *,
        entry: str = RUN,
        limits: RunLimits = LIMITS,
        files: Mapping[str, bytes] | None = None,
        account_id: str = "account-1",
    ) -> RunOutcome:
        ended, level = await self.programs.run(
            {"SKILL.md": b"---", **(files or {}), entry: source.encode()},
            entry,
            json.dumps({"text": "two wörds"}),
            limits,
            allowed or {},
            environment={"LANG": "C.UTF-8", "TOWN": "Oslo", "FORGE_VAULT_KEY": "x", "PATH": "/evil"},
            secret=secret,
            name="weather",
            account_id=account_id,
        )
        assert level in ("isolated", "partial", "")
        return ended

    async def gives(self, source: str, allowed: Mapping[Capability, Scope] | None = None, **more: Any) -> Any:
        ended = await self.run(PRELUDE + source, allowed, **more)
        assert ended.end is RunEnd.DONE, ended
        return ended.output


@pytest.fixture
def workshop(tmp_path: Path, sandboxes: Sandboxes) -> Workshop:
    return Workshop(tmp_path, sandboxes)


async def test_json_goes_in_and_json_comes_out(workshop: Workshop):
    helper = {"scripts/helper.py": b"def count(text): return len(text.split())\n", "data/a.txt": b"A"}
    source = (
        "from helper import count\njson.dump([count(given['text']), open('data/a.txt').read()], sys.stdout)"
    )
    ended = await workshop.run(PRELUDE + source, files=helper)
    assert (ended.end, ended.output, ended.error) == (RunEnd.DONE, [2, "A"], "")
    assert ended.duration_ms > 0


async def test_shells_and_javascript_run_too(workshop: Workshop):
    ended = await workshop.run('printf "[%s]" "$(cat)"', entry="scripts/run.sh")
    assert ended.output == [{"text": "two wörds"}]
    if shutil.which("node"):
        source = (
            "const given = JSON.parse(require('fs').readFileSync(0)); console.log(JSON.stringify(given.text))"
        )
        ended = await workshop.run(source, entry="scripts/run.js")
        assert (ended.end, ended.output) == (RunEnd.DONE, "two wörds"), ended


@pytest.mark.parametrize(
    ("source", "end", "told"),
    [
        ("raise KeyError('town')", RunEnd.RAISED, "KeyError: 'town'"),
        ("import sys; sys.exit(3)", RunEnd.RAISED, "It exited with code 3 without a message."),
        ("def", RunEnd.RAISED, "SyntaxError: invalid syntax"),
        ("print('hello')", RunEnd.OUTPUT, "Its output is not JSON: 'hello'"),
        ("print('NaN')", RunEnd.OUTPUT, "Its output is not JSON"),
        ("print('[' * 100000)", RunEnd.OUTPUT, "Its output is not JSON"),
        ("print('1e999')", RunEnd.OUTPUT, "Its output is not JSON"),
        ("print([0] * 100_002)", RunEnd.OUTPUT, "Its output has more than 100,000 values."),
        ("", RunEnd.OUTPUT, "Its output is not JSON: ''"),
        ("print('\"' + 'x' * 5_000_000 + '\"')", RunEnd.OUTPUT, "Its output exceeds 4 MB."),
        ("x = b'x' * 10**9", RunEnd.RAISED, "MemoryError"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", RunEnd.RAISED, "It exited with code"),
        ("open('big', 'wb').write(b'x' * (20 << 20))", RunEnd.RAISED, ""),
    ],
)
async def test_what_goes_wrong_is_an_end(workshop: Workshop, source: str, end: RunEnd, told: str):
    ended = await workshop.run(source)
    assert ended.end is end, ended
    assert ended.error.startswith(told)
    assert ended.error


async def test_what_does_not_end_is_ended(workshop: Workshop):
    short = RunLimits(64 * MB, 0, 1.0)
    for source in ("import time\ntime.sleep(60)", "while True: pass"):
        ended = await workshop.run(source, limits=short)
        assert (ended.end, ended.error) == (RunEnd.TIME, "It did not end in time.")


async def test_children_that_fork_without_end_are_ended(workshop: Workshop):
    ended = await workshop.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    assert ended.end in (RunEnd.RAISED, RunEnd.TIME, RunEnd.MEMORY)


async def test_its_own_files_stay_as_they_are(workshop: Workshop):
    source = """
failed = []
for path in ("SKILL.md", "scripts/run.py", "data/a.txt"):
    try:
        os.unlink(path)
        failed.append(path)
    except OSError:
        pass
    try:
        open(path, "w")
        failed.append(path)
    except OSError:
        pass
pathlib.Path("scratch.txt").write_text("fine")
json.dump(failed, sys.stdout)"""
    assert await workshop.gives(source, files={"data/a.txt": b"A"}) == []


async def test_without_grants_there_is_nothing_to_reach(workshop: Workshop):
    (workshop.folder / "open").mkdir()
    (workshop.folder / "open/a.txt").write_text("A")
    source = f"""
import socket
found = [name for name in ("SKILL_FILES", "WEATHER_KEY", "TOWN", "FORGE_VAULT_KEY") if name in os.environ]
found += [path for path in ("{workshop.folder}/open/a.txt", "{workshop.folder}/data") if os.path.exists(path)]
try:
    socket.create_connection(("1.1.1.1", 80), 2)
    found.append("network")
except OSError:
    pass
json.dump(found, sys.stdout)"""
    assert await workshop.gives(source) == []
    assert await workshop.gives(source, {Capability.HTTP_GET: Scope(hosts=["*"])}) == []


async def test_variables_and_secrets_that_were_granted_are_in_its_environment(workshop: Workshop):
    allowed = {
        Capability.READ_ENV: Scope(names=["TOWN", "NOT_SET", "PATH"]),
        Capability.GET_SECRET: Scope(names=["WEATHER_KEY"]),
    }
    names = "('TOWN', 'WEATHER_KEY', 'NOT_SET', 'FORGE_VAULT_KEY')"
    source = f"json.dump([[os.environ.get(name) for name in {names}], os.environ['PATH']], sys.stdout)"
    given, path = await workshop.gives(source, allowed)
    assert given == ["Oslo", KEY, None, None]
    assert "/evil" not in path


async def test_secret_is_masked_in_errors(workshop: Workshop):
    allowed = {Capability.GET_SECRET: Scope(names=["WEATHER_KEY"])}
    for source in (
        "sys.exit('no: ' + os.environ['WEATHER_KEY'])",
        "print('no: ' + os.environ['WEATHER_KEY'])",
    ):
        ended = await workshop.run(f"import os, sys\n{source}", allowed)
        assert "no: •••" in ended.error
        assert "s3cret" not in ended.error


@pytest.mark.parametrize(
    ("capability", "scope", "told"),
    [
        (Capability.GET_SECRET, Scope(names=["GONE"]), "The secret GONE is not set."),
        (
            Capability.READ_ENV,
            Scope(names=["FORGE_VAULT_KEY"]),
            "FORGE_VAULT_KEY is a setting of Forge",
        ),
        (Capability.READ_ENV, Scope(names=["OPENAI_API_KEY"]), "OPENAI_API_KEY is a secret"),
        (Capability.READ_FILE, Scope(roots=["/"]), "/ contains data of Forge"),
        (Capability.WRITE_FILE, Scope(roots=["/usr"]), "/usr is a system directory"),
    ],
)
async def test_what_cannot_be_given_keeps_it_from_starting(
    workshop: Workshop, capability: Capability, scope: Scope, told: str
):
    ended = await workshop.run("open('/was-here', 'w')", {capability: scope})
    assert ended.end is RunEnd.RAISED
    assert ended.error.startswith(told)


async def test_folders_that_were_granted_are_there(workshop: Workshop):
    folder = workshop.folder
    for name in ("read", "write"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(name)
    allowed = {
        Capability.READ_FILE: Scope(roots=[f"{folder}/read", f"{folder}/not-there"]),
        Capability.WRITE_FILE: Scope(roots=[f"{folder}/write"]),
    }
    source = f"""
told = [pathlib.Path("{folder}", name, "a.txt").read_text() for name in ("read", "write")]
for name in ("read", "write"):
    try:
        pathlib.Path("{folder}", name, "b.txt").write_text("b")
        told.append(name)
    except OSError:
        pass
pathlib.Path(os.environ["SKILL_FILES"], "kept.txt").write_text("kept")
json.dump(told, sys.stdout)"""
    assert await workshop.gives(source, allowed) == ["read", "write", "write"]
    assert (folder / "write/b.txt").read_text() == "b"
    assert (folder / OWN / "kept.txt").read_text() == "kept"


async def test_its_own_folder_is_for_reading_when_that_alone_was_granted(workshop: Workshop):
    own = workshop.folder / OWN
    own.mkdir(parents=True)
    (own / "a.txt").write_text("A")
    source = """
told = pathlib.Path(os.environ["SKILL_FILES"], "a.txt").read_text()
try:
    pathlib.Path(os.environ["SKILL_FILES"], "b.txt").write_text("b")
    told = "written"
except OSError:
    pass
json.dump(told, sys.stdout)"""
    assert await workshop.gives(source, {Capability.READ_FILE: Scope()}) == "A"
    assert await workshop.gives("json.dump('SKILL_FILES' in os.environ, sys.stdout)", account_id="") is False


async def test_its_own_folder_gets_full(workshop: Workshop):
    source = """
folder = pathlib.Path(os.environ["SKILL_FILES"], "deep", *["d"] * 200)
os.makedirs(folder)
for name in ("a", "b"):
    (folder / name).write_bytes(b"x" * 9_000_000)
folder.chmod(0)
json.dump(1, sys.stdout)"""
    for _ in range(2):
        ended = await workshop.run(PRELUDE + source, {Capability.WRITE_FILE: Scope()})
        assert (ended.end, ended.output) == (RunEnd.RAISED, None)
        assert ended.error.startswith("The folder of the skill weather is full")


async def test_what_cannot_be_run_is_told(workshop: Workshop):
    ended = await workshop.run("", entry="scripts/run.rb")
    assert (ended.end, ended.error) == (RunEnd.UNUSABLE, "There is no program scripts/run.rb.")


async def test_nothing_is_left_behind_and_few_run_at_once(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    source = PRELUDE + "os.makedirs('a/b')\nos.chmod('a', 0)\njson.dump(1, sys.stdout)"
    ended = await asyncio.gather(*(workshop.run(source) for _ in range(4)))
    assert [one.output for one in ended] == [1] * 4
    left = [one.name for one in (tmp_path / "tmp").iterdir() if one.name.startswith("forge-program-")]
    assert left == []


async def test_nothing_is_run_where_it_cannot_be_locked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plain = Candidate("plain", lambda level: Plain(level, Registries()))
    monkeypatch.setattr("forge.sandbox.sandboxes.candidates", lambda _: iter([plain]))
    workshop = Workshop(tmp_path, Sandboxes(Level.ISOLATED))
    with pytest.raises(SandboxTooWeak):
        await workshop.run("print(1)")
