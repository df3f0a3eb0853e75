"""What an agent says and does, in a terminal, as it happens."""

from rich.console import Console
from rich.text import Text

from forge.agents.models import (
    EVENTS,
    AgentCompacted,
    AgentEnded,
    AgentHeard,
    AgentStarted,
    AgentToolUsed,
    AgentTurn,
)
from forge.events.models import Event, read_fact
from forge.llm.dollars import dollars
from forge.runs.models import GateOpened, RunFailed
from forge.runs.show import gate_page, problem_text
from forge.runs.watched import fact_of
from forge.sandbox.models import Level
from forge.terminal.output import words
from forge.terminal.text import clean

FAINT = "bright_black"
_LEVELS = {Level.ISOLATED: "isolated", Level.PARTIAL: "partly isolated", Level.NONE: "not isolated"}


class Transcript:
    def __init__(self, out: Console) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        match fact := read_fact(event, EVENTS) or fact_of(event):
            case AgentStarted():
                self._started(fact)
            case AgentTurn():
                self._turn(fact)
            case AgentToolUsed():
                self._tool(fact)
            case AgentHeard():
                for message in fact.messages:
                    self._out.print(words(f"▸ heard: {message.text}", "blue"))
            case AgentCompacted():
                before, after = f"{fact.tokens_before:,}", f"{fact.tokens_after:,}"
                self._out.print(words(f"· shortened the conversation: {before} to {after} tokens", FAINT))
            case AgentEnded():
                self._ended(fact)
            case GateOpened():
                self._out.print(gate_page(fact.gate))
            case RunFailed():
                self._out.print(problem_text(fact.error))
            case _:
                pass

    def _started(self, fact: AgentStarted) -> None:
        self._out.print(words(f"{fact.role.value}, commands {_LEVELS[fact.sandbox]}", FAINT))
        for skill in fact.skills:
            wrong = f", which cannot be used: {skill.problem}" if skill.problem else ""
            self._out.print(words(f"· skill {skill.name} in {skill.folder}{wrong}", FAINT))

    def _turn(self, fact: AgentTurn) -> None:
        if fact.text.strip():
            self._out.print()
            self._out.print(words(fact.text.strip()))
            self._out.print()

    def _tool(self, fact: AgentToolUsed) -> None:
        mark = ("✗ ", "red") if fact.is_error else ("✓ ", "green")
        took = (f"  {fact.duration_ms:,} ms", FAINT)
        self._out.print(Text.assemble(mark, (clean(fact.name), "bold"), f"  {clean(fact.summary)}", took))

    def _ended(self, fact: AgentEnded) -> None:
        result = fact.result
        cost = dollars(result.cost_micros)
        text = f"{result.end.value} after {result.turns} turns, {result.tool_calls} tool calls, {cost}"
        self._out.print(words(text, FAINT))
