"""Start agents and send them messages."""

import asyncio

from forge.agents import store
from forge.agents.commands.command_policy import CommandRefused, allow_tests
from forge.agents.commands.likely_tests import find_test_commands
from forge.agents.kind import KIND, AgentInput
from forge.agents.models import Interjection, NewAgentRun, NewInterjection, VerifyCommands
from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs.models import Run
from forge.runs.service import Runs
from forge.store.database import Store
from forge.workspace.service import Workspaces


class Agents:
    def __init__(self, database: Store, runs: Runs, workspaces: Workspaces) -> None:
        self._database = database
        self._runs = runs
        self._workspaces = workspaces

    async def start(self, account_id: str, new: NewAgentRun) -> Run:
        workspace = await self._workspaces.get(account_id, new.workspace_id)
        if new.verify is not None:
            await self._check_verify(account_id, workspace.id, new.verify)
        inputs = AgentInput(**new.model_dump(exclude={"workspace_id"}), workspace_id=workspace.id)
        async with self._database.begin() as tx:
            return await self._runs.start(tx, account_id, KIND, inputs.model_dump(mode="json"))

    async def _check_verify(self, account_id: str, workspace_id: str, command: str) -> None:
        opened = await self._workspaces.open(account_id, workspace_id)
        try:
            await asyncio.to_thread(allow_tests, command, opened.files.root.resolve())
        except CommandRefused as refused:
            raise Invalid(refused.message, hint=refused.hint, field="verify") from refused

    async def suggest_verify(self, account_id: str, workspace_id: str) -> VerifyCommands:
        """Return commands that probably run the tests of a workspace."""
        opened = await self._workspaces.open(account_id, workspace_id)
        return VerifyCommands(commands=await asyncio.to_thread(find_test_commands, opened.files))

    async def interject(self, account_id: str, run_id: str, new: NewInterjection, *, by: str) -> Interjection:
        """Send a message, which the agent receives before its next turn (event `agent.heard`)."""
        run = await self._runs.find_one(account_id, run_id)
        if run.kind != KIND:
            raise NotFound(f"Run {run_id} is not an agent run.")
        if run.status.is_final:
            raise Conflict(f"This agent has already ended: its run is {run.status.value}.")
        message = Interjection(id=new_id(), text=new.text, sent_by=by)
        async with self._database.begin() as tx:
            await store.insert_message(tx, run_id, message, now())
        return message
