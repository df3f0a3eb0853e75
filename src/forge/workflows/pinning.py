"""The definitions that runs are pinned to: a version never changes, so it is read once."""

from collections import OrderedDict

from forge.errors import NotFound
from forge.store.engine import Tx
from forge.workflows import store
from forge.workflows.definition.models import Definition

REMEMBERED = 200


class Pinned:
    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], Definition] = OrderedDict()

    async def find(self, tx: Tx, workflow_id: str, number: int) -> Definition:
        known = self._known.get((workflow_id, number))
        if known is not None:
            self._known.move_to_end((workflow_id, number))
            return known
        version = await store.find_version(tx, workflow_id, number)
        if version is None:
            raise NotFound(f"There is no version {number} of this workflow any more.")
        self._known[workflow_id, number] = definition = version.parsed
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return definition
