import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import FORGE, Terminal, clean_environment

from forge import __version__
from forge.cli import COMMANDS

BIN = Path(sys.executable).parent


def test_status_describes_the_server(forge: Terminal, server: Server):
    output = forge("status").out
    for text in (f"● running at {server.url}", __version__, "sqlite", str(server.data_dir), "nothing"):
        assert text in output


def test_status_as_json_equals_the_servers(forge: Terminal, server: Server):
    data = forge("status", "--json").data
    server_status = server.call("GET", "/api/v1/status")
    assert set(data) == {"url", "status", "open_gates"}
    assert set(data["status"]) == set(server_status)
    assert data["status"]["started_at"] == server_status["started_at"]


def test_status_counts_runs_and_open_gates(forge: Terminal, server: Server):
    before = forge("status", "--json").data["open_gates"]
    body = {"kind": "self_test", "input": {"step_ms": 0, "ask": True}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    forge("runs", "start", "self_test", "--watch")
    output = forge("status")
    assert forge("status", "--json").data["open_gates"] == before + 1
    assert "forge gates list" in output.out
    assert "1 completed" in output.out
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")


def test_without_a_server_the_status_is_3(remote: Terminal):
    assert remote("status").code == 3


def test_version_needs_no_server(remote: Terminal):
    assert remote("version").out.startswith(f"forge {__version__} (Python 3.")
    assert remote("version", "--json").data["version"] == __version__


def test_unknown_command_is_a_usage_error(remote: Terminal):
    assert remote("nope").code == 2


def test_invalid_setting_has_exit_code_2(remote: Terminal):
    remote.environment["FORGE_PORT"] = "many"
    result = remote("serve")
    assert result.code == 2
    assert "FORGE_PORT" in result.err


@pytest.mark.parametrize("arguments", [["runs", "list"], ["version"]])
def test_closed_output_pipe_is_no_error(server: Server, arguments: list[str]):
    command = f"{' '.join(FORGE)} {' '.join(arguments)} | true"
    environment = {**clean_environment(), "FORGE_DATA_DIR": str(server.data_dir)}
    result = subprocess.run(
        ["sh", "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_exists_for_each_shell(remote: Terminal, shell: str):
    result = remote("completion", shell)
    assert result.code == 0
    assert f"_FORGE_COMPLETE={shell}_complete" in result.out


def test_current_shell_is_detected(remote: Terminal):
    remote.environment["SHELL"] = "/usr/bin/zsh"
    assert remote("completion").out == remote("completion", "zsh").out


def test_unknown_shell_must_be_named(remote: Terminal):
    remote.environment["SHELL"] = "/usr/bin/tcsh"
    assert remote("completion").code == 2


def complete(*words: str) -> list[str]:
    """Run the installed command as the completion script does, and return the completions."""
    environment = clean_environment() | {
        "_FORGE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    result = subprocess.run([BIN / "forge"], env=environment, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in result.stdout.splitlines()]


def test_command_names_are_completed():
    assert complete("forge", "ke") == ["keys"]


def test_all_commands_are_completed():
    assert complete("forge", "") == list(COMMANDS)


def test_subcommands_are_completed():
    assert complete("forge", "keys", "re") == ["revoke"]


def test_options_and_their_values_are_completed():
    assert complete("forge", "runs", "list", "--st") == ["--status"]
    assert complete("forge", "runs", "list", "--status", "wai") == ["waiting"]
    assert complete("forge", "--v") == ["--version"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_works_in_bash():
    script = """
        eval "$(forge completion bash)"
        COMP_WORDS=(forge ke); COMP_CWORD=1
        _forge_completion forge ke forge
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    environment = clean_environment() | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["keys"]
