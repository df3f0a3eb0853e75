"""Puts the parts of messages together: the kind of run that delivers, before there are runs, and what people use after."""

from forge.agents.hands import Hands
from forge.bots.opening import BotHouse
from forge.messages.delivering import Delivering
from forge.messages.given import DeliveryInput
from forge.messages.kind import MessageKind
from forge.messages.sending import Sending
from forge.messages.service import Messages
from forge.messages.views import Views
from forge.runs.kinds import RunKind
from forge.runs.service import Runs


class MessageParts:
    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._kind = MessageKind()

    def kind(self) -> RunKind[DeliveryInput]:
        return self._kind.kind()

    def open(self, runs: Runs, house: BotHouse) -> Messages:
        database, events = self._hands.database, self._hands.events
        sending = Sending(events, runs, house.bots)
        self._kind.open(Delivering(database, events, house.bots, house.asking, house.answers, sending))
        return Messages(database, house.bots, house.answers, sending, Views(house.bots, runs))
