"""Requests to a server that takes only a few at a time: people first."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from tests.support.gateway import ACCOUNT, GatewayUnderTest, open_gateway, spender
from tests.support.models import ModelServer, StartModels
from tests.support.timeouts import PATIENCE_S

from forge.llm import store as llm_store
from forge.llm.messages import user_message
from forge.llm.models import CallStatus, Prompt, Provider, ProviderKind, Reply, Role
from forge.llm.server_queue import ServerQueue
from forge.store.database import Store

SLOW = {"match": {"opening": "slow"}, "turns": [{"text": "one two three four five six " * 3, "delay_s": 0.1}]}


@pytest.fixture
def server(model_server: StartModels) -> ModelServer:
    return model_server({"scenes": {"slow": SLOW, "any": {"turns": [{"text": "{{ latest }}"}]}}})


@pytest.fixture
async def under(store: Store, server: ModelServer) -> AsyncIterator[GatewayUnderTest]:
    async with open_gateway(store) as gateway:
        await gateway.add("local", server.url, kind=ProviderKind.OPENAI)
        await gateway.choose("local:scripted")
        yield gateway


async def limit(under: GatewayUnderTest, server: ModelServer, parallel: int | None) -> None:
    provider = Provider(
        name="local", kind=ProviderKind.OPENAI, base_url=f"{server.url}/v1", parallel=parallel
    )
    async with under.store.begin() as tx:
        await llm_store.save_provider(tx, ACCOUNT, provider)


def call(under: GatewayUnderTest, text: str, *, is_background: bool = False) -> asyncio.Task[Reply]:
    prompt = Prompt(system="", messages=[user_message(text)], max_output=100)
    work = under.gateway.call(spender(text), Role.BUILDER, prompt, is_background=is_background)
    return asyncio.create_task(work)


async def wait_for_requests(server: ModelServer, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(server.requests()) < count:
            await asyncio.sleep(0.01)


def running(server: ModelServer) -> int:
    """Return the largest number of requests that overlapped."""
    moments = [(entry.at, 1) for entry in server.requests()]
    moments += [(entry.ended_at, -1) for entry in server.requests() if entry.ended_at]
    count = most = 0
    for _, change in sorted(moments):
        count += change
        most = max(most, count)
    return most


async def test_requests_of_people_wait_for_each_other(under: GatewayUnderTest, server: ModelServer):
    await limit(under, server, 1)
    replies = await asyncio.gather(*(call(under, f"slow {number}") for number in range(3)))
    assert [reply.message.text.startswith("one two") for reply in replies] == [True] * 3
    assert running(server) == 1


async def test_requests_without_a_limit_run_at_once(under: GatewayUnderTest, server: ModelServer):
    await limit(under, server, None)
    await asyncio.gather(*(call(under, f"slow {number}") for number in range(3)))
    assert running(server) > 1


async def test_request_of_a_person_interrupts_one_in_the_background(
    under: GatewayUnderTest, server: ModelServer
):
    await limit(under, server, 1)
    title = call(under, "slow title", is_background=True)
    await wait_for_requests(server, 1)
    answer = await call(under, "question")
    assert not title.done()
    assert answer.message.text == "question"
    assert (await title).message.text.startswith("one two")
    asked = [entry.body["messages"][-1]["content"] for entry in server.requests()]
    assert asked == ["slow title", "question", "slow title"]
    calls = await under.calls()
    assert [one.status for one in calls] == [CallStatus.FAILED, CallStatus.SETTLED, CallStatus.SETTLED]


async def test_background_requests_wait_behind_people():
    queue, is_over, order = ServerQueue(1), asyncio.Event(), list[str]()

    async def send(name: str) -> None:
        order.append(name)
        if name == "first":
            await is_over.wait()

    tasks: list[asyncio.Task[None]] = []
    for name, is_background in (("first", False), ("title", True), ("second", False)):
        work = queue.run(partial(send, name), is_background=is_background)
        tasks.append(asyncio.create_task(work))
        await asyncio.sleep(0)
    is_over.set()
    await asyncio.gather(*tasks)
    assert order == ["first", "second", "title"]


@pytest.mark.parametrize("is_background", [False, True])
async def test_cancelled_request_frees_its_slot(
    under: GatewayUnderTest, server: ModelServer, is_background: bool
):
    await limit(under, server, 1)
    running_one = call(under, "slow", is_background=is_background)
    await wait_for_requests(server, 1)
    waiting = call(under, "waiting", is_background=True)
    await asyncio.sleep(0)
    for task in (running_one, waiting):
        task.cancel()
    await asyncio.gather(running_one, waiting, return_exceptions=True)
    assert running_one.cancelled() and waiting.cancelled()
    async with asyncio.timeout(PATIENCE_S):
        assert (await call(under, "next")).message.text == "next"
