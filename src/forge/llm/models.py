"""Roles, providers, prices and calls, as people and clients see them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.llm.messages import AssistantMessage, Message, StopReason

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,31}$"
REF_PATTERN = r"^([a-z][a-z0-9_-]{0,31}:)?[!-9;-~][!-~]{0,199}$"
"""`provider:model`; without a provider it is Anthropic's."""
MAX_REF = 240
KEY_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$"
"""The name of a secret in the vault."""
SCOPE_PATTERN = r"^(bot:[A-Za-z0-9_-]{1,64})?$"

MICROS = 1_000_000
"""Money is counted in millionths of a dollar, as whole numbers."""

Budget = Literal["run", "day", "server"]
OwnBudget = Literal["run", "day"]
"""Those that an account sets for itself."""
ChoiceSource = Literal["bot", "account", "default"]


class Role(StrEnum):
    """What a model is wanted for. People choose a model for each."""

    INTERVIEWER = "interviewer"
    PLANNER = "planner"
    BUILDER = "builder"
    AUDITOR = "auditor"
    RECOVERY = "recovery"
    BOT = "bot"
    UTILITY = "utility"


class ProviderKind(StrEnum):
    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    """Anything that speaks OpenAI's chat API: Ollama, vLLM, llama.cpp, OpenAI itself."""


class Provider(BaseModel):
    """A place models are called at."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(pattern=NAME_PATTERN)
    kind: ProviderKind
    base_url: str | None = None
    """None is the provider's own address."""
    key_name: str | None = None
    """The name of its key in the vault; None for an endpoint that wants none."""
    built_in: bool = False


class Price(BaseModel):
    """Dollars for a million tokens of each kind, and how much the model can take in and put out."""

    model_config = ConfigDict(frozen=True)

    input: float = Field(ge=0, le=100_000)
    output: float = Field(ge=0, le=100_000)
    cache_read: float = Field(ge=0, le=100_000)
    cache_write: float = Field(ge=0, le=100_000)
    context_window: int = Field(default=200_000, ge=1_000, le=100_000_000)
    overridden: bool = False


class Usage(BaseModel):
    """Tokens of one call. The four kinds are disjoint: together they are everything that was sent and received."""

    model_config = ConfigDict(frozen=True)

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def sent(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class ToolSpec(BaseModel):
    """A tool as a model is told about it."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    parameters: dict[str, Any]


class Prompt(BaseModel):
    """Everything one call sends. The same prefix of system, tools and messages is billed once and then re-read."""

    model_config = ConfigDict(frozen=True)

    system: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    max_output: int = Field(default=16_000, ge=1)
    temperature: float | None = None
    """None leaves it to the provider."""
    settled: list[int] = []
    """Indices of messages that end a stretch which will be sent again as it is: the provider is told to keep it."""
    answer: ToolSpec | None = None
    """When set, the model must answer by calling this tool: its parameters are the schema of the answer."""


class Reply(BaseModel):
    """What came back: a message to append to the conversation, why it ended, what it cost."""

    model_config = ConfigDict(frozen=True)

    message: AssistantMessage
    stop: StopReason
    usage: Usage
    provider: str
    model: str
    cost_micros: int
    call_id: str
    context_window: int
    first_token_ms: int | None = None
    latency_ms: int = 0


class CallStatus(StrEnum):
    OPEN = "open"
    """Under way: its worst case is reserved."""
    SETTLED = "settled"
    FAILED = "failed"
    LOST = "lost"
    """The process died during the call; booked at its worst case, since nobody knows better."""


class ModelCall(BaseModel):
    """One request to a provider, as it stands in the books."""

    id: str
    run_id: str | None
    role: Role
    provider: str
    model: str
    status: CallStatus
    stop: StopReason | None
    usage: Usage
    reserved_micros: int
    cost_micros: int
    first_token_ms: int | None
    latency_ms: int | None
    prompt_hash: str
    error: str | None
    started_at: datetime


class Spent(BaseModel):
    """What a budget has gone through, in millionths of a dollar."""

    budget: Budget
    spent_micros: int
    reserved_micros: int
    limit_micros: int


class Shortfall(BaseModel):
    """What a call may cost, and that so much is not left of a budget."""

    model_config = ConfigDict(frozen=True)

    budget: Budget
    ledger: str
    spent_micros: int
    """Or reserved."""
    limit_micros: int
    needed_micros: int


class Used(BaseModel):
    """What calls took together."""

    model_config = ConfigDict(frozen=True)

    tokens: int = 0
    cost_micros: int = 0


class RoleChoice(BaseModel):
    """The models of a role, in the order they are tried."""

    role: Role
    chain: list[str]
    source: ChoiceSource
    prices: list[Price | None] = []
    problem: str | None = None


class ProviderView(Provider):
    has_key: bool
    last_four: str = ""


class ModelsView(BaseModel):
    """All there is to know about models: what the settings page shows."""

    providers: list[ProviderView]
    roles: list[RoleChoice]
    prices: dict[str, Price]
    """Only those that people said themselves."""
    budgets: list[Spent]
    today_by_model: dict[str, int]
    known: list[str]
    """Models whose price is known: what can be chosen right away."""


class NewChain(BaseModel):
    model_config = ConfigDict(extra="forbid")

    chain: list[Annotated[str, Field(max_length=MAX_REF)]] = Field(min_length=1, max_length=5)


class NewProvider(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: ProviderKind
    base_url: str | None = Field(default=None, max_length=500)
    key_name: str | None = Field(default=None, pattern=KEY_PATTERN)


class NewPrice(BaseModel):
    """Dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0, le=100_000)
    output: float = Field(ge=0, le=100_000)
    cache_read: float | None = Field(default=None, ge=0, le=100_000)
    cache_write: float | None = Field(default=None, ge=0, le=100_000)
    context_window: int = Field(default=128_000, ge=1_000, le=100_000_000)


class NewBudget(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit_usd: float = Field(ge=0, le=1_000_000)


class NewTest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str = Field(max_length=MAX_REF)


class TestResult(BaseModel):
    """A real call: what it said, how long it took, what it cost."""

    model: str
    ok: bool
    answer: str = ""
    latency_ms: int
    cost_micros: int = 0
    code: str | None = None
    message: str | None = None
    hint: str | None = None
