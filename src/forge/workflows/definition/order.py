"""Which steps are done before which, loops and `finally` included."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from forge.workflows.definition.graph import Graph


@dataclass(frozen=True)
class _Home:
    scope: Graph
    loop: str | None
    """Whose body the scope is."""
    is_final: bool


@dataclass(frozen=True)
class Order:
    homes: dict[str, _Home]

    @classmethod
    def of(cls, graph: Graph) -> "Order":
        return cls(dict(_homes(graph, None, is_final=False)))

    def objection(self, used: str, user: str, *, is_repeated: bool) -> tuple[str, str | None] | None:
        """Why what one step gives is not there for the other. `is_repeated`: the user is a loop, asked each time."""
        if is_repeated and user in self._around(used):
            return None
        before, after = self._in_one_scope(used, user)
        if self.homes[before].scope is not self.homes[after].scope:
            if self.homes[after].is_final:
                return None
            return f"The step `{used}` is done last, in `finally`.", None
        if self._is_before(before, after):
            return None
        return _objection(used, user, before, after, is_later=self._is_before(after, before))

    def _is_before(self, one: str, other: str) -> bool:
        return bool(self._upstream[other] & self._bits[one])

    @cached_property
    def _bits(self) -> dict[str, int]:
        return {step_id: 1 << index for index, step_id in enumerate(self.homes)}

    @cached_property
    def _upstream(self) -> dict[str, int]:
        """All that comes before a step in its scope, as bits: sets of them would take the square of the steps."""
        found: dict[str, int] = {}
        open_ones = list(self.homes)
        while open_ones:
            step_id = open_ones.pop()
            if step_id in found:
                continue
            sources = self.homes[step_id].scope.nodes[step_id].sources
            if missing := [source for source in sources if source not in found]:
                open_ones += [step_id, *missing]
                continue
            found[step_id] = 0
            for source in sources:
                found[step_id] |= found[source] | self._bits[source]
        return found

    def _around(self, step_id: str) -> list[str]:
        """The step, and the loops it is in, from the inside."""
        found = [step_id]
        while (loop := self.homes[found[-1]].loop) is not None:
            found.append(loop)
        return found

    def _in_one_scope(self, used: str, user: str) -> tuple[str, str]:
        """The two, or the loops around them that stand side by side; the outermost ones when none do."""
        ours, theirs = self._around(used), self._around(user)
        for after in theirs:
            for before in ours:
                if self.homes[before].scope is self.homes[after].scope:
                    return before, after
        return ours[-1], theirs[-1]


def _objection(used: str, user: str, before: str, after: str, *, is_later: bool) -> tuple[str, str | None]:
    if used == user:
        return "A step cannot use what it gives itself.", None
    if before == after:
        return f"What `{used}` gives is there for others once the loop `{after}` is done.", None
    message = f"The step `{used}` is not done when `{user}` begins."
    if is_later:
        return message, f"It comes later: `{before}` waits for `{after}`."
    whose = "its `depends_on`" if after == user else f"the `depends_on` of `{after}`"
    return message, f"Add `{before}` to {whose}."


def _homes(graph: Graph, loop: str | None, *, is_final: bool) -> Iterator[tuple[str, _Home]]:
    for step_id in graph.nodes:
        yield step_id, _Home(graph, loop, is_final)
    for inner, body in graph.bodies.items():
        yield from _homes(body, inner, is_final=is_final)
    if graph.final:
        yield from _homes(graph.final, None, is_final=True)
