"""Program skills in the real sandbox."""

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


class ProgramEnvironment:
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
        outcome, level = await self.programs.run(
            {"SKILL.md": b"---", **(files or {}), entry: source.encode()},
            entry,
            json.dumps({"text": "two wörds"}),
            limits,
            allowed or {},
            environment={"LANG": "C.UTF-8", "TOWN": "Oslo", "FORGE_VAULT_KEY": "x", "PATH": "/evil"},
            secret=secret,
            name="weather",
            account_id=account_id,
            has_folder=bool(account_id),
        )
        assert level in ("isolated", "partial", "")
        return outcome

    async def output(
        self, source: str, allowed: Mapping[Capability, Scope] | None = None, **more: Any
    ) -> Any:
        outcome = await self.run(PRELUDE + source, allowed, **more)
        assert outcome.end is RunEnd.DONE, outcome
        return outcome.output


@pytest.fixture
def env(tmp_path: Path, sandboxes: Sandboxes) -> ProgramEnvironment:
    return ProgramEnvironment(tmp_path, sandboxes)


async def test_program_reads_and_writes_json(env: ProgramEnvironment):
    helper = {"scripts/helper.py": b"def count(text): return len(text.split())\n", "data/a.txt": b"A"}
    source = (
        "from helper import count\njson.dump([count(given['text']), open('data/a.txt').read()], sys.stdout)"
    )
    outcome = await env.run(PRELUDE + source, files=helper)
    assert (outcome.end, outcome.output, outcome.error) == (RunEnd.DONE, [2, "A"], "")
    assert outcome.duration_ms > 0


async def test_shell_and_javascript_programs_run(env: ProgramEnvironment):
    outcome = await env.run('printf "[%s]" "$(cat)"', entry="scripts/run.sh")
    assert outcome.output == [{"text": "two wörds"}]
    if shutil.which("node"):
        source = (
            "const given = JSON.parse(require('fs').readFileSync(0)); console.log(JSON.stringify(given.text))"
        )
        outcome = await env.run(source, entry="scripts/run.js")
        assert (outcome.end, outcome.output) == (RunEnd.DONE, "two wörds"), outcome


@pytest.mark.parametrize(
    ("source", "end", "message"),
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
async def test_failures_have_distinct_ends(env: ProgramEnvironment, source: str, end: RunEnd, message: str):
    outcome = await env.run(source)
    assert outcome.end is end, outcome
    assert outcome.error.startswith(message)
    assert outcome.error


async def test_endless_program_is_stopped(env: ProgramEnvironment):
    short = RunLimits(64 * MB, 0, 1.0)
    for source in ("import time\ntime.sleep(60)", "while True: pass"):
        outcome = await env.run(source, limits=short)
        assert (outcome.end, outcome.error) == (RunEnd.TIME, "It did not end in time.")


async def test_fork_bomb_is_stopped(env: ProgramEnvironment):
    outcome = await env.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    assert outcome.end in (RunEnd.RAISED, RunEnd.TIME, RunEnd.MEMORY)


async def test_files_of_the_skill_are_read_only(env: ProgramEnvironment):
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
    assert await env.output(source, files={"data/a.txt": b"A"}) == []


async def test_program_without_grants_has_no_access(env: ProgramEnvironment):
    (env.folder / "open").mkdir()
    (env.folder / "open/a.txt").write_text("A")
    source = f"""
import socket
found = [name for name in ("SKILL_FILES", "WEATHER_KEY", "TOWN", "FORGE_VAULT_KEY") if name in os.environ]
found += [path for path in ("{env.folder}/open/a.txt", "{env.folder}/data") if os.path.exists(path)]
try:
    socket.create_connection(("1.1.1.1", 80), 2)
    found.append("network")
except OSError:
    pass
json.dump(found, sys.stdout)"""
    assert await env.output(source) == []
    assert await env.output(source, {Capability.HTTP_GET: Scope(hosts=["*"])}) == []


async def test_granted_variables_and_secrets_are_in_the_environment(env: ProgramEnvironment):
    allowed = {
        Capability.READ_ENV: Scope(names=["TOWN", "NOT_SET", "PATH"]),
        Capability.GET_SECRET: Scope(names=["WEATHER_KEY"]),
    }
    names = "('TOWN', 'WEATHER_KEY', 'NOT_SET', 'FORGE_VAULT_KEY')"
    source = f"json.dump([[os.environ.get(name) for name in {names}], os.environ['PATH']], sys.stdout)"
    given, path = await env.output(source, allowed)
    assert given == ["Oslo", KEY, None, None]
    assert "/evil" not in path


async def test_secret_is_masked_in_errors(env: ProgramEnvironment):
    allowed = {Capability.GET_SECRET: Scope(names=["WEATHER_KEY"])}
    for source in (
        "sys.exit('no: ' + os.environ['WEATHER_KEY'])",
        "print('no: ' + os.environ['WEATHER_KEY'])",
    ):
        outcome = await env.run(f"import os, sys\n{source}", allowed)
        assert "no: •••" in outcome.error
        assert "s3cret" not in outcome.error


@pytest.mark.parametrize(
    ("capability", "scope", "message"),
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
async def test_unusable_grant_prevents_the_start(
    env: ProgramEnvironment, capability: Capability, scope: Scope, message: str
):
    outcome = await env.run("open('/was-here', 'w')", {capability: scope})
    assert outcome.end is RunEnd.RAISED
    assert outcome.error.startswith(message)


async def test_granted_folders_are_accessible(env: ProgramEnvironment):
    folder = env.folder
    for name in ("read", "write"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(name)
    allowed = {
        Capability.READ_FILE: Scope(roots=[f"{folder}/read", f"{folder}/not-there"]),
        Capability.WRITE_FILE: Scope(roots=[f"{folder}/write"]),
    }
    source = f"""
texts = [pathlib.Path("{folder}", name, "a.txt").read_text() for name in ("read", "write")]
for name in ("read", "write"):
    try:
        pathlib.Path("{folder}", name, "b.txt").write_text("b")
        texts.append(name)
    except OSError:
        pass
pathlib.Path(os.environ["SKILL_FILES"], "kept.txt").write_text("kept")
json.dump(texts, sys.stdout)"""
    assert await env.output(source, allowed) == ["read", "write", "write"]
    assert (folder / "write/b.txt").read_text() == "b"
    assert (folder / OWN / "kept.txt").read_text() == "kept"


async def test_skill_folder_is_read_only_with_a_read_grant(env: ProgramEnvironment):
    own = env.folder / OWN
    own.mkdir(parents=True)
    (own / "a.txt").write_text("A")
    source = """
text = pathlib.Path(os.environ["SKILL_FILES"], "a.txt").read_text()
try:
    pathlib.Path(os.environ["SKILL_FILES"], "b.txt").write_text("b")
    text = "written"
except OSError:
    pass
json.dump(text, sys.stdout)"""
    assert await env.output(source, {Capability.READ_FILE: Scope()}) == "A"
    assert await env.output("json.dump('SKILL_FILES' in os.environ, sys.stdout)", account_id="") is False


async def test_size_of_the_skill_folder_is_limited(env: ProgramEnvironment):
    source = """
folder = pathlib.Path(os.environ["SKILL_FILES"], "deep", *["d"] * 200)
os.makedirs(folder)
for name in ("a", "b"):
    (folder / name).write_bytes(b"x" * 9_000_000)
folder.chmod(0)
json.dump(1, sys.stdout)"""
    for _ in range(2):
        outcome = await env.run(PRELUDE + source, {Capability.WRITE_FILE: Scope()})
        assert (outcome.end, outcome.output) == (RunEnd.RAISED, None)
        assert outcome.error.startswith("The folder of the skill weather is full")


async def test_unknown_entry_file_is_reported(env: ProgramEnvironment):
    outcome = await env.run("", entry="scripts/run.rb")
    assert (outcome.end, outcome.error) == (RunEnd.UNUSABLE, "There is no program scripts/run.rb.")


async def test_temporary_folders_are_removed(
    env: ProgramEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    source = PRELUDE + "os.makedirs('a/b')\nos.chmod('a', 0)\njson.dump(1, sys.stdout)"
    outcomes = await asyncio.gather(*(env.run(source) for _ in range(4)))
    assert [one.output for one in outcomes] == [1] * 4
    remaining = [one.name for one in (tmp_path / "tmp").iterdir() if one.name.startswith("forge-program-")]
    assert remaining == []


async def test_program_is_not_run_without_isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plain = Candidate("plain", lambda level: Plain(level, Registries()))
    monkeypatch.setattr("forge.sandbox.sandboxes.candidates", lambda _: iter([plain]))
    env = ProgramEnvironment(tmp_path, Sandboxes(Level.ISOLATED))
    with pytest.raises(SandboxTooWeak):
        await env.run("print(1)")
