"""Assemble the messages component: the delivery run and the service."""

from forge.agents.steps import AgentSteps
from forge.bots.component import BotServices
from forge.messages.delivery import DeliveryRun, DeliverySteps
from forge.messages.message_views import MessageViews
from forge.messages.outbox import DeliveryInput, Outbox
from forge.messages.service import Messages
from forge.runs.kinds import RunKind
from forge.runs.service import Runs


class MessageComponent:
    def __init__(self, agent_steps: AgentSteps) -> None:
        self._agent_steps = agent_steps
        self._kind = DeliveryRun()

    def kind(self) -> RunKind[DeliveryInput]:
        return self._kind.kind()

    def open(self, runs: Runs, bots: BotServices) -> Messages:
        database, events = self._agent_steps.database, self._agent_steps.events
        outbox = Outbox(events, runs, bots.bots)
        self._kind.open(DeliverySteps(database, events, bots.bots, bots.questions, bots.answers, outbox))
        return Messages(database, bots.bots, bots.answers, outbox, MessageViews(bots.bots, runs))
