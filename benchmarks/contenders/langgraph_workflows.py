"""The same workflows as LangGraph graphs with a durable checkpointer, which checkpoints after each node.

Runs in a separate environment and imports nothing of Forge. LangGraph is a checkpoint library without a queue,
ownership or resumption. It is used in its fastest form: the blocking saver for one graph at a time, the async saver
for many.
"""

import asyncio
import itertools
import json
import operator
import sqlite3
import sys
import time
from contextlib import AsyncExitStack
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.postgres import PostgresSaver  # pyright: ignore[reportMissingImports]  # forge: allow-import
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # pyright: ignore[reportMissingImports]
from langgraph.checkpoint.sqlite import SqliteSaver  # pyright: ignore[reportMissingImports]
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # pyright: ignore[reportMissingImports]
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingImports]
from psycopg import Connection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool  # pyright: ignore[reportMissingImports]

# As in shapes.py
STEPS = 10
BRANCHES = 50
CHAINS = 100
ALONE = 5

CONNECTIONS = 20

numbers = itertools.count()


class State(TypedDict):
    value: Annotated[int, operator.add]


def add_one(_: State) -> State:
    return {"value": 1}


async def add_one_async(_: State) -> State:
    return {"value": 1}


def chain(node: Any, saver: Any) -> Any:
    graph = StateGraph(State)
    names = _add_nodes(graph, node, STEPS)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def fan(node: Any, saver: Any) -> Any:
    graph = StateGraph(State)
    for name in _add_nodes(graph, node, BRANCHES):
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile(checkpointer=saver)


def _add_nodes(graph: Any, node: Any, count: int) -> list[str]:
    names = [f"step {i}" for i in range(count)]
    for name in names:
        graph.add_node(name, node)
    return names


class Alone:
    """One graph at a time."""

    def __init__(self, url: str) -> None:
        saver = _sqlite_saver(url) if url.startswith("sqlite") else _postgres_saver(url)
        self._graphs = {"chain": (chain(add_one, saver), STEPS), "fan": (fan(add_one, saver), BRANCHES)}

    def measure(self, shape: str) -> dict[str, float]:
        graph, steps = self._graphs[shape]
        began = time.perf_counter()
        for _ in range(ALONE):
            graph.invoke({"value": 0}, new_thread(), durability="sync")
        seconds = time.perf_counter() - began
        return {"speed": ALONE * steps / seconds, "step_ms": 1000 * seconds / (ALONE * steps)}


def _sqlite_saver(url: str) -> Any:
    connection = sqlite3.connect(url.partition(":///")[2], check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()  # turns WAL on
    connection.execute("PRAGMA synchronous=FULL")
    return saver


def _postgres_saver(url: str) -> Any:
    connection: Any = Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row)  # pyright: ignore[reportArgumentType]
    saver = PostgresSaver(connection)
    saver.setup()
    return saver


async def together(url: str) -> dict[str, float]:
    """Run many graphs at once."""
    async with AsyncExitStack() as stack:
        if url.startswith("sqlite"):
            saver = await stack.enter_async_context(
                AsyncSqliteSaver.from_conn_string(f"{url.partition(':///')[2]}.async")
            )
            await saver.setup()
            await saver.conn.execute("PRAGMA synchronous=FULL")
        else:
            options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
            pool = AsyncConnectionPool(url, min_size=4, max_size=CONNECTIONS, kwargs=options, open=False)
            saver = AsyncPostgresSaver(await stack.enter_async_context(pool))
        graph = chain(add_one_async, saver)

        async def invoke() -> None:
            await graph.ainvoke({"value": 0}, new_thread(), durability="sync")

        await invoke()
        began = time.perf_counter()
        await asyncio.gather(*(invoke() for _ in range(CHAINS)))
        return {"speed": CHAINS * STEPS / (time.perf_counter() - began)}


def new_thread() -> Any:
    return {"configurable": {"thread_id": str(next(numbers))}, "recursion_limit": 1000}


def main(url: str) -> None:
    alone = Alone(url)
    for shape in ("chain", "fan"):
        alone.measure(shape)  # warm up, so that no contender is measured cold
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        request = line.strip()
        answer = asyncio.run(together(url)) if request == "many" else alone.measure(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
