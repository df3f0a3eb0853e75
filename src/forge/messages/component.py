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
    def __init__(self, hands: AgentSteps) -> None:
        self._hands = hands
        self._kind = DeliveryRun()

    def kind(self) -> RunKind[DeliveryInput]:
        return self._kind.kind()

    def open(self, runs: Runs, house: BotServices) -> Messages:
        database, events = self._hands.database, self._hands.events
        sending = Outbox(events, runs, house.bots)
        self._kind.open(DeliverySteps(database, events, house.bots, house.questions, house.answers, sending))
        return Messages(database, house.bots, house.answers, sending, MessageViews(house.bots, runs))
