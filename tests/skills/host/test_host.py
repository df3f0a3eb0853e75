"""The host function: grants, refusals, limits and masked secrets."""

import asyncio
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.skills.host.hosts import (
    INVOCATION,
    SECRETS,
    error_of,
    fake_recall,
    host_for,
    host_services,
    refusal_of,
)

from forge.skills.execution import HostError, LogLine
from forge.skills.host.secret_mask import SecretMask
from forge.skills.models import Capability, Scope
from forge.telemetry.redaction import MASK

KEY = SECRETS["WEATHER_KEY"]


@pytest.mark.parametrize(
    ("op", "args", "grant"),
    [
        ("http", {"url": "https://api.example.com/x"}, "http_get=api.example.com"),
        ("http", {"url": "https://api.example.com:8443/", "method": "head"}, "http_get=api.example.com:8443"),
        ("http", {"url": "https://api.example.com/x", "method": "post"}, "http_post=api.example.com"),
        ("http", {"url": "no address"}, "http_get"),
        ("kv.get", {"key": "a"}, "kv"),
        ("kv.set", {"key": "a", "value": 1}, "kv"),
        ("kv.delete", {"key": "a"}, "kv"),
        ("kv.keys", {}, "kv"),
        ("secret", {"name": "WEATHER_KEY"}, "get_secret=WEATHER_KEY"),
        ("secret", {"name": "x; rm -rf ~"}, "'get_secret=x; rm -rf ~'"),
        ("env", {"name": "LANG"}, "read_env=LANG"),
        ("memory", {"query": "cats"}, "recall_memory"),
        ("file.read", {"path": "notes.txt"}, "read_file"),
        ("file.read", {"path": "/etc/passwd"}, "read_file=/etc/passwd"),
        ("file.list", {}, "read_file"),
        ("file.write", {"path": "a", "text": "b"}, "write_file"),
        ("exec", {"argv": ["git", "status"]}, "exec_command=git"),
    ],
)
async def test_missing_grant_is_refused_with_the_command_to_grant_it(
    tmp_path: Path, op: str, args: dict[str, Any], grant: str
):
    host = host_for(host_services(tmp_path), {})
    message = await refusal_of(host, op, **args)
    assert message.endswith(f"forge skill grant weather {grant}")
    assert host.used == {}
    assert not (tmp_path / "data" / "skill-files").exists()


async def test_grant_covers_only_its_own_capability(tmp_path: Path):
    host = host_for(
        host_services(tmp_path),
        {Capability.HTTP_GET: Scope(hosts=["*"]), Capability.WRITE_FILE: Scope(), Capability.LOG: Scope()},
    )
    assert "http_post" in await refusal_of(host, "http", url="http://a.example/", method="DELETE")
    assert "read_file" in await refusal_of(host, "file.read", path="a")
    await host.call("file.write", {"path": "a", "text": "b"})
    assert host.used == {Capability.WRITE_FILE: 1}


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("rm", {}),
        ("", {}),
        ("__class__", {}),
        ("kv.get", {}),
        ("kv.get", {"key": ""}),
        ("kv.get", {"key": "a\0b"}),
        ("kv.get", {"key": "a" * 201}),
        ("kv.get", {"key": "a", "account_id": "other"}),
        ("kv.get", {"key": ["a"]}),
        ("http", {"url": "https://a.example/", "method": "CONNECT"}),
        ("http", {"url": "https://a.example/", "headers": {"a": 1}}),
        ("http", {"url": "x" * 9000}),
        ("exec", {"argv": []}),
        ("exec", {"argv": "ls"}),
        ("exec", {"argv": ["a"] * 101}),
        ("memory", {"query": "x", "limit": 1000}),
        ("memory", {"query": ""}),
        ("file.write", {"path": "a"}),
    ],
)
async def test_invalid_call_is_a_catchable_error(tmp_path: Path, op: str, args: dict[str, Any]):
    host = host_for(host_services(tmp_path), {one: Scope() for one in Capability})
    assert await error_of(host, op, **args)


async def test_context_describes_the_invocation(tmp_path: Path):
    host = host_for(host_services(tmp_path), {}, invocation=replace(INVOCATION, bot_id="bot-1"))
    assert await host.call("context", {}) == {
        "skill": "weather",
        "version": "1.2.3",
        "bot": "bot-1",
        "invocation": "run-1",
        "settings": {"town": "Oslo"},
    }


async def test_log_lines_need_no_grant_and_are_limited(tmp_path: Path):
    host = host_for(host_services(tmp_path), {})
    await host.call("log", {"level": "warn", "message": "a" * 3000})
    await host.call("log", {"level": "shout", "message": {"a": [1, None]}})
    await host.call("log", {"message": "half \ud800 a\0b"})
    for number in range(1500):
        await host.call("log", {"level": "info", "message": str(number)})
    logs = host.logs
    assert len(logs) == 201
    assert logs[0] == LogLine(level="warn", message="a" * 1999 + "…")
    assert logs[1] == LogLine(level="info", message='{"a": [1, null]}')
    assert logs[2].message == "half \ufffd a\ufffdb"
    assert logs[-1] == LogLine(level="warn", message="… and 1,303 more lines.")
    assert host.used == {Capability.LOG: 1503}


async def test_secret_is_passed_and_never_stored(tmp_path: Path):
    host = host_for(
        host_services(tmp_path), {Capability.GET_SECRET: Scope(names=["WEATHER_KEY", "PEM", "GONE"])}
    )
    await host.call("log", {"message": f"early {KEY}"})
    assert await host.call("secret", {"name": "WEATHER_KEY"}) == KEY
    await host.call("secret", {"name": "PEM"})
    packed = [KEY, "s3cret%2Fwith%2Bodd%3Dsigns", "czNjcmV0L3dpdGgrb2RkPXNpZ25z", KEY.encode().hex()]
    for text in [*packed, "abcdefghijklmnop", "x" * 1990 + KEY]:
        await host.call("log", {"message": f"<{text}>"})
    written = "\n".join(line.message for line in host.logs)
    assert not any(text in written for text in [*packed, "abcdefghijklmnop", "s3cret"])
    assert host.logs[0].message == f"early {MASK}"
    assert await error_of(host, KEY) == f"There is no operation '{MASK}'."
    assert KEY not in await error_of(host, "secret", name=KEY)
    assert KEY not in await refusal_of(host, "env", name=KEY)
    assert host.mask(f"failed with {KEY}!") == f"failed with {MASK}!"


@pytest.mark.parametrize(
    ("op", "capability", "args"),
    [
        ("secret", Capability.GET_SECRET, {"name": "x; rm -rf ~ '\""}),
        ("env", Capability.READ_ENV, {"name": "$(reboot)"}),
        ("exec", Capability.EXEC_COMMAND, {"argv": ["`reboot`"]}),
        ("exec", Capability.EXEC_COMMAND, {"argv": ["a\nforge skill grant weather kv"]}),
        ("file.read", Capability.READ_FILE, {"path": "/a;reboot"}),
    ],
)
async def test_names_are_quoted_in_the_suggested_command(
    tmp_path: Path, op: str, capability: Capability, args: dict[str, Any]
):
    services = host_services(tmp_path)
    granted = {capability: Scope(names=["SAFE"], roots=["/safe"])}
    for message in (
        await error_of(host_for(services, granted), op, **args),
        await refusal_of(host_for(services, {}), op, **args),
    ):
        line = message.partition(": forge skill ")[2]
        assert shlex.split(line)[:2] == ["grant", "weather"]
        assert len(shlex.split(line)) == 3
        assert "\n" not in message


async def test_time_limit_starts_with_the_first_call(tmp_path: Path):
    host = host_for(host_services(tmp_path), {}, seconds=0.3)
    await asyncio.sleep(0.4)
    assert await host.call("context", {})
    await asyncio.sleep(0.4)
    assert await error_of(host, "context") == "The run is out of time."


async def test_only_granted_secrets_are_returned(tmp_path: Path):
    host = host_for(host_services(tmp_path), {Capability.GET_SECRET: Scope(names=["WEATHER_KEY", "GONE"])})
    assert "get_secret=WEATHER_KEY,GONE,PEM" in await error_of(host, "secret", name="PEM")
    assert await error_of(host, "secret", name="GONE") == (
        "The secret GONE is not set. Set it: forge secrets set GONE"
    )


@pytest.mark.parametrize(
    "name",
    [
        *("FORGE_VAULT_KEY", "FORGE_DATABASE_URL", "forge_database_url", "Forge_Api_Key"),
        *("ANTHROPIC_API_KEY", "anthropic_api_key", "GITHUB_CLIENT_SECRET", "OPENAI_API_KEY", "MY_TOKEN"),
    ],
)
async def test_secret_and_forge_variables_cannot_be_granted(tmp_path: Path, name: str):
    host = host_for(host_services(tmp_path), {Capability.READ_ENV: Scope(names=[name])})
    assert name in await error_of(host, "env", name=name)


async def test_only_granted_variables_are_returned(tmp_path: Path):
    services = host_services(tmp_path, environment={"LANG": "C.UTF-8 \udcff"})
    host = host_for(services, {Capability.READ_ENV: Scope(names=["LANG", "NOT_SET"])})
    assert await host.call("env", {"name": "LANG"}) == "C.UTF-8 \ufffd"
    assert await host.call("env", {"name": "NOT_SET"}) is None
    assert "read_env=LANG,NOT_SET,HOME" in await error_of(host, "env", name="HOME")


async def test_memories_of_the_calling_bot_are_recalled(tmp_path: Path):
    allowed = {Capability.RECALL_MEMORY: Scope()}
    services = host_services(tmp_path, recall=fake_recall("likes tea", "has a cat"))
    assert "no bot" in await error_of(host_for(services, allowed), "memory", query="pets")
    host = host_for(services, allowed, invocation=replace(INVOCATION, bot_id="bot-1"))
    assert await host.call("memory", {"query": "pets", "limit": 2}) == ["account-1 bot-1 pets", "likes tea"]


async def test_number_of_host_calls_is_limited(tmp_path: Path):
    host = host_for(host_services(tmp_path), {})
    for _ in range(1000):
        await host.call("context", {})
    assert "limited to 1,000 host calls" in await error_of(host, "context")
    await host.call("log", {"message": "still heard"})
    assert host.logs[-1].message == "still heard"


async def test_call_is_bounded_by_the_time_limit_of_the_run(tmp_path: Path):
    async def slow(*_: object) -> list[str]:
        await asyncio.sleep(600)
        return []

    services = host_services(tmp_path, recall=slow)
    invocation = replace(INVOCATION, bot_id="bot-1")
    host = host_for(services, {Capability.RECALL_MEMORY: Scope()}, seconds=0.2, invocation=invocation)
    started = time.monotonic()
    assert await error_of(host, "memory", query="x") == "The run is out of time."
    assert time.monotonic() - started < 30
    with pytest.raises(HostError, match="out of time"):
        await host.call("memory", {"query": "x"})


def test_any_text_can_be_masked():
    mask = SecretMask()
    mask.add("")
    assert mask("nothing is masked") == "nothing is masked"
    mask.add("ab")
    mask.add('quote " and \\ and é')
    assert mask("ab") == MASK
    assert mask('{"key": "quote \\" and \\\\ and \\u00e9"}') == f'{{"key": "{MASK}"}}'
