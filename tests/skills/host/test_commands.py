"""Commands that skills run in the real sandbox."""

from pathlib import Path

import pytest
from tests.skills.host.hosts import error_of, host_for, host_services
from tests.support.timeouts import PATIENCE_S

from forge.sandbox.sandboxes import Sandboxes
from forge.skills.host.host import Host
from forge.skills.models import Capability, Scope

OWN = Path("data/skill-files/account-1/weather")


@pytest.fixture(scope="module")
def sandboxes() -> Sandboxes:
    return Sandboxes()


def host_with(folder: Path, sandboxes: Sandboxes, *names: str, seconds: float = PATIENCE_S) -> Host:
    allowed = {Capability.EXEC_COMMAND: Scope(names=list(names)), Capability.READ_FILE: Scope()}
    return host_for(host_services(folder, sandboxes=sandboxes), allowed, seconds=seconds)


async def test_command_runs_in_the_skill_folder_with_its_input(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "sh", "cat")
    argv = ["sh", "-c", "cat > kept.txt; pwd; echo oops >&2; exit 3"]
    result = await host.call("exec", {"argv": argv, "input": "héllo"})
    assert result == {"exit_code": 3, "stdout": f"{tmp_path / OWN}\n", "stderr": "oops\n"}
    assert await host.call("file.read", {"path": "kept.txt"}) == "héllo"
    assert await host.call("exec", {"argv": ["cat"]}) == {"exit_code": 0, "stdout": "", "stderr": ""}
    assert host.used == {Capability.EXEC_COMMAND: 2, Capability.READ_FILE: 1}


async def test_only_granted_programs_are_started(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "cat")
    for program in ("sh", "/bin/cat", "./cat", "../cat", "cat ", "", "exec"):
        assert "is not a granted program" in await error_of(host, "exec", argv=[program])
    assert not (tmp_path / OWN).exists()


async def test_command_cannot_access_anything_else(
    tmp_path: Path, sandboxes: Sandboxes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FORGE_API_KEY", "k")
    host = host_with(tmp_path, sandboxes, "sh")
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data/vault.key").write_text("key")
    script = f"cat {tmp_path}/data/vault.key; env | grep FORGE; (echo > /dev/tcp/1.1.1.1/80); ls /proc/net/tcp; exit 0"
    result = await host.call("exec", {"argv": ["sh", "-c", script]})
    assert isinstance(result, dict)
    assert "key" not in str(result["stdout"])
    assert "FORGE" not in str(result["stdout"])


async def test_endless_command_ends_with_the_run(tmp_path: Path, sandboxes: Sandboxes):
    await sandboxes.open()
    host = host_with(tmp_path, sandboxes, "sleep", seconds=1.0)
    error = await error_of(host, "exec", argv=["sleep", "60"])
    assert error in ("sleep: It did not end in time.", "The run is out of time.")


async def test_long_output_is_truncated(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "head")
    result = await host.call("exec", {"argv": ["head", "-c", "5000000", "/dev/zero"]})
    assert isinstance(result, dict)
    assert len(str(result["stdout"])) < 201_000


async def test_size_of_the_skill_folder_is_limited(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "sh", "true")
    hide = "mkdir -p .git/a && cd .git/a && head -c 9000000 /dev/zero > 1 && head -c 9000000 /dev/zero > 2"
    assert "is full" in await error_of(host, "exec", argv=["sh", "-c", hide])
    assert "is full" in await error_of(host, "exec", argv=["true"])
    assert "is full" in await error_of(host_with(tmp_path, sandboxes, "true"), "exec", argv=["true"])


async def test_missing_program_is_reported(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "no-such-program")
    assert "not installed on the server" in await error_of(host, "exec", argv=["no-such-program"])
    result = await host.call("exec", {"argv": ["no-such-program"], "input": "x"})
    assert isinstance(result, dict)
    assert result["exit_code"] == 127


async def test_program_that_cannot_start_reports_the_reason(tmp_path: Path, sandboxes: Sandboxes):
    host = host_with(tmp_path, sandboxes, "true")
    error = await error_of(host, "exec", argv=["true", *["x" * 99_999] * 30])
    assert "Argument list too long" in error and "not on the server" not in error
