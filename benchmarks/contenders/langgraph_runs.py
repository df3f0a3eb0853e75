"""The same chains as LangGraph graphs with its SQLite checkpointer, which checkpoints after each node.

Runs in a separate environment and imports nothing of Forge. LangGraph is a checkpoint library without a queue,
ownership or resumption, so its runs do less than those of Forge. It is used in its fastest form: the blocking saver
for one graph at a time, the async saver for many.
"""

import asyncio
import itertools
import json
import sqlite3
import sys
import time
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver  # pyright: ignore[reportMissingImports]  # forge: allow-import
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # pyright: ignore[reportMissingImports]
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingImports]

# As in plan.py
RUNS = 40
STEPS = 10
CHAINS = 20
CHAINS_ALONE = 5

numbers = itertools.count()


class State(TypedDict):
    value: int


def add_one(state: State) -> State:
    return {"value": state["value"] + 1}


def chain(steps: int, node: Any, saver: Any) -> Any:
    graph = StateGraph(State)
    names = [f"step {i}" for i in range(steps)]
    for name in names:
        graph.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


class Alone:
    """One graph at a time."""

    def __init__(self, path: str) -> None:
        connection = sqlite3.connect(path, check_same_thread=False)
        saver = SqliteSaver(connection)
        saver.setup()  # turns WAL on
        connection.execute("PRAGMA synchronous=FULL")
        self._single, self._ten = (chain(steps, add_one, saver) for steps in (1, STEPS))

    def runs(self) -> dict[str, float]:
        began = time.perf_counter()
        for _ in range(RUNS):
            self._invoke(self._single)
        return {"speed": RUNS / (time.perf_counter() - began)}

    def chain(self) -> dict[str, float]:
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(CHAINS_ALONE):
            self._invoke(self._ten)
        steps = CHAINS_ALONE * STEPS
        speed = steps / (time.perf_counter() - began)
        return {"speed": speed, "cpu": (time.process_time() - cpu) * 1000 / steps}

    def _invoke(self, graph: Any) -> None:
        graph.invoke({"value": 0}, new_thread(), durability="sync")


async def chains(path: str) -> dict[str, float]:
    """Run many graphs at once."""

    async def add_one_async(state: State) -> State:
        return add_one(state)

    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA synchronous=FULL")
        graph = chain(STEPS, add_one_async, saver)

        async def invoke() -> None:
            await graph.ainvoke({"value": 0}, new_thread(), durability="sync")

        await invoke()
        began = time.perf_counter()
        await asyncio.gather(*(invoke() for _ in range(CHAINS)))
        return {"speed": CHAINS * STEPS / (time.perf_counter() - began)}


def new_thread() -> Any:
    return {"configurable": {"thread_id": str(next(numbers))}}


def main(path: str) -> None:
    alone = Alone(path)
    alone.runs()  # warm up, so that no contender is measured cold
    alone.chain()
    print(json.dumps("ready"), flush=True)
    turns = {"runs": alone.runs, "chain": alone.chain, "chains": lambda: asyncio.run(chains(f"{path}.async"))}
    for request in sys.stdin:
        print(json.dumps(turns[request.strip()]()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1].partition(":///")[2])
