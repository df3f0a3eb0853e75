"""All operations of the host, called by real scripts in both languages."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.outgoing.servers import plain, serving
from tests.skills.host.hosts import INVOCATION, fake_recall, host_for, host_services

from forge.outgoing.client import Outgoing
from forge.skills.execution import LIMITS, Language, Program, RunEnd
from forge.skills.models import Capability, Scope, Tier
from forge.skills.wasm.worker_pool import WorkerPool
from forge.store.database import Store

JS = b"""
function run(input) {
  console.log('the key is', secrets.get('WEATHER_KEY'))
  const answer = fetch(input.url, { method: 'POST', headers: { 'X-Town': settings.town }, body: '{}' })
  kv.set('seen', [1])
  kv.set('other', 2)
  kv.delete('other')
  files.write('notes/a.txt', 'text')
  let caught = null
  try { env.get('HOME') } catch (error) { caught = error instanceof HostError }
  return [
    answer.status, answer.ok, answer.json(), kv.get('seen'), kv.get('gone'), kv.keys(), kv.keys('x'),
    files.list(), files.read('notes/a.txt'), env.get('LANG'), memory.recall('tea', 1),
    exec(['cat'], 'in').stdout, context.skill, caught,
  ]
}
"""
PY = b"""
def run(input):
    print('the key is', get_secret('WEATHER_KEY'))
    answer = fetch(input['url'], method='POST', headers={'X-Town': settings['town']}, body='{}')
    kv.set('seen', [1])
    kv.set('other', 2)
    kv.delete('other')
    files.write('notes/a.txt', 'text')
    caught = None
    try:
        env.get('HOME')
    except HostError:
        caught = True
    return [
        answer.status, answer.ok, answer.json(), kv.get('seen'), kv.get('gone'), kv.keys(), kv.keys('x'),
        files.list(), files.read('notes/a.txt'), env.get('LANG'), recall_memory('tea', 1),
        exec_command(['cat'], 'in')['stdout'], context['skill'], caught,
    ]
"""
CATCHING = {
    Language.JS: b"function run() { try { kv.get('a') } catch (error) {} return 'went on' }",
    Language.PY: b"def run(input):\n  try: kv.get('a')\n  except BaseException: pass\n  return 'went on'",
}


@pytest.fixture(scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerPool]:
    async with WorkerPool(tmp_path_factory.mktemp("pool"), size=1) as pool:
        yield pool


@pytest.mark.parametrize(("language", "source"), [(Language.JS, JS), (Language.PY, PY)])
async def test_script_can_use_all_granted_operations(
    pool: WorkerPool, tmp_path: Path, store: Store, language: Language, source: bytes
):
    async with serving(plain(b'{"rain": true}', "201 Created")) as served:
        services = host_services(tmp_path, store, outgoing=Outgoing((served.place,)), recall=fake_recall())
        allowed = {
            Capability.HTTP_POST: Scope(hosts=[served.place]),
            Capability.GET_SECRET: Scope(names=["WEATHER_KEY"]),
            Capability.READ_ENV: Scope(names=["LANG"]),
            Capability.EXEC_COMMAND: Scope(names=["cat"]),
            **dict.fromkeys((Capability.KV, Capability.RECALL_MEMORY), Scope()),
            **dict.fromkeys((Capability.READ_FILE, Capability.WRITE_FILE), Scope()),
        }
        host = host_for(services, allowed, invocation=replace(INVOCATION, bot_id="bot-1"))
        input_json = json.dumps({"url": served.url})
        limits = LIMITS[Tier.LOCAL]
        outcome = await pool.run(Program(language, source), input_json, limits, host.call, invocation="run-1")
    assert (outcome.end, outcome.output) == (
        RunEnd.DONE,
        [
            *(201, True, {"rain": True}, [1], None, ["seen"], [], ["notes/"], "text", "C.UTF-8"),
            *(["account-1 bot-1 tea"], "in", "weather", True),
        ],
    ), outcome
    assert served.asked[0].headers["x-town"] == "Oslo"
    assert [line.message for line in host.logs] == ["the key is •••"]
    assert set(host.used) == {*allowed, Capability.LOG}


@pytest.mark.parametrize("language", CATCHING)
async def test_refusal_cannot_be_caught_by_a_script(pool: WorkerPool, tmp_path: Path, language: Language):
    host = host_for(host_services(tmp_path), {})
    program = Program(language, CATCHING[language])
    outcome = await pool.run(program, "{}", LIMITS[Tier.UNTRUSTED], host.call, invocation="run-1")
    assert outcome.end is RunEnd.REFUSED
    assert outcome.error.endswith("forge skill grant weather kv")
