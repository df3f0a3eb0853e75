"""Public models of roles, providers, prices, budgets and calls."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.llm.messages import AssistantMessage, Message, StopReason

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,31}$"
REF_PATTERN = r"^([a-z][a-z0-9_-]{0,31}:)?[!-9;-~][!-~]{0,199}$"
"""`provider:model`; without a provider it is an Anthropic model."""
MAX_REF = 240
KEY_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$"
"""The name of a secret in the vault."""
SCOPE_PATTERN = r"^(bot:[A-Za-z0-9_-]{1,64})?$"

MICROS = 1_000_000
"""Amounts of money are integers in millionths of a dollar."""

Budget = Literal["run", "day", "shared", "server"]
"""`shared`: what a member may spend per day with a provider that the owner of the server shares."""
OwnBudget = Literal["run", "day"]
"""Budgets that an account can set."""
ChoiceSource = Literal["bot", "account", "default"]


class Role(StrEnum):
    """What a model is used for; a model is chosen for each role."""

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
    """Any server with OpenAI's chat API: OpenAI, Ollama, vLLM, llama.cpp."""


class ServerKind(StrEnum):
    """Servers for local models. They have OpenAI's chat API, and report more about their models than it does."""

    LLAMA_CPP = "llama_cpp"
    OLLAMA = "ollama"
    VLLM = "vllm"
    LM_STUDIO = "lm_studio"


MAX_PARALLEL = 1000


class Provider(BaseModel):
    """An API endpoint for models."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(pattern=NAME_PATTERN)
    kind: ProviderKind
    base_url: str | None = None
    """Null: the provider's public address."""
    key_name: str | None = None
    """Name of the secret with the API key; null for an endpoint without keys."""
    server: ServerKind | None = None
    """The server behind the endpoint, if it is known to run local models."""
    parallel: int | None = Field(default=None, ge=1, le=MAX_PARALLEL)
    """Maximum number of concurrent requests; null for no limit."""
    built_in: bool = False
    is_shared: bool = False
    """Whether the owner of the server shares this provider with the account and pays for it."""

    @property
    def writes_text_tool_calls(self) -> bool:
        """Whether its models may write tool calls as text: local servers and gateways pass on what they cannot parse, the
        public APIs do not."""
        return self.kind is ProviderKind.OPENAI and self.base_url is not None


class Price(BaseModel):
    """Dollars per million tokens of each kind, and the size of the context window."""

    model_config = ConfigDict(frozen=True)

    input: float = Field(ge=0, le=100_000)
    output: float = Field(ge=0, le=100_000)
    cache_read: float = Field(ge=0, le=100_000)
    cache_write: float = Field(ge=0, le=100_000)
    context_window: int = Field(default=200_000, ge=1_000, le=100_000_000)
    text_tool_calls: bool | None = None
    """Whether tool calls that the model writes as text are executed; null: see `Provider.writes_text_tool_calls`."""
    overridden: bool = False
    detected: bool = False
    """Set by Forge, with the context window that the server reports."""


class Usage(BaseModel):
    """Tokens of one call. The four kinds are disjoint and add up to everything sent and received."""

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
    """The definition of a tool for a model."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    parameters: dict[str, Any]


class Prompt(BaseModel):
    """The content of one call. Providers cache a repeated prefix of system, tools and messages."""

    model_config = ConfigDict(frozen=True)

    system: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    max_output: int = Field(default=16_000, ge=1)
    temperature: float | None = None
    """None: the provider's default."""
    settled: list[int] = []
    """Indices of messages up to which the prefix will be sent again unchanged: cache breakpoints for the provider."""
    continues: bool = False
    """The last message only asks to continue the assistant message before it. Servers that can continue a message
    do not get it."""
    answer: ToolSpec | None = None
    """If set, the model must answer by calling this tool, whose parameters are the schema of the answer."""


class Reply(BaseModel):
    """A model's answer: the message to append to the conversation, its stop reason and cost."""

    model_config = ConfigDict(frozen=True)

    message: AssistantMessage
    stop: StopReason
    usage: Usage
    provider: str
    model: str
    cost_micros: int
    call_id: str
    context_window: int
    text_tool_calls: bool = False
    """Whether the model may have written tool calls as text."""
    first_token_ms: int | None = None
    latency_ms: int = 0


class CallStatus(StrEnum):
    OPEN = "open"
    """In progress: its worst-case cost is reserved."""
    SETTLED = "settled"
    FAILED = "failed"
    LOST = "lost"
    """The process died during the call; recorded at its worst-case cost, because the actual cost is unknown."""


class ModelCall(BaseModel):
    """A recorded request to a provider."""

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
    """The state of a budget, in millionths of a dollar."""

    budget: Budget
    provider: str | None = None
    """The provider of a `shared` budget."""
    spent_micros: int
    reserved_micros: int
    limit_micros: int


class Shortfall(BaseModel):
    """The amount a call needs and what is left of the budget that is too small for it."""

    model_config = ConfigDict(frozen=True)

    budget: Budget
    ledger: str
    spent_micros: int
    """Spent or reserved."""
    limit_micros: int
    needed_micros: int


class Used(BaseModel):
    """Total usage of several calls."""

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
    """Everything the settings page shows about models."""

    providers: list[ProviderView]
    roles: list[RoleChoice]
    prices: dict[str, Price]
    """Prices set by users."""
    budgets: list[Spent]
    today_by_model: dict[str, int]
    known: list[str]
    """Models with a known price, which can be chosen."""


class NewChain(BaseModel):
    model_config = ConfigDict(extra="forbid")

    chain: list[Annotated[str, Field(max_length=MAX_REF)]] = Field(min_length=1, max_length=5)


class NewProvider(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: ProviderKind = ProviderKind.OPENAI
    base_url: str | None = Field(
        default=None, max_length=500, description="Default: the usual address of `server`."
    )
    key_name: str | None = Field(default=None, pattern=KEY_PATTERN)
    server: ServerKind | None = Field(
        default=None,
        description="The server for local models behind the endpoint. Default: what the last probe detected.",
    )
    parallel: int | None = Field(
        default=None,
        ge=1,
        le=MAX_PARALLEL,
        description="Maximum number of concurrent requests. Default: 1 for a known `server`, else no limit.",
    )


class NewPrice(BaseModel):
    """Dollars per million tokens. What is missing keeps its value; for a new price of a local model it is 0."""

    model_config = ConfigDict(extra="forbid")

    input: float | None = Field(default=None, ge=0, le=100_000)
    output: float | None = Field(default=None, ge=0, le=100_000)
    cache_read: float | None = Field(default=None, ge=0, le=100_000)
    cache_write: float | None = Field(default=None, ge=0, le=100_000)
    context_window: int | None = Field(
        default=None,
        ge=1_000,
        le=100_000_000,
        description="Default: the previous value, else what the server reports. Required if it reports none.",
    )
    text_tool_calls: bool | None = Field(
        default=None,
        description="Execute tool calls that the model writes as text. Default: only for providers of the kind `openai` "
        "with an address of their own.",
    )


class Share(BaseModel):
    """A provider that the owner of the server shares with the members."""

    provider: str
    day_micros: int
    """What each member may spend per day, in millionths of a dollar."""


class NewShare(BaseModel):
    model_config = ConfigDict(extra="forbid")

    day_usd: float = Field(ge=0, le=1_000_000)


class NewBudget(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit_usd: float = Field(ge=0, le=1_000_000)


class NewTest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str = Field(max_length=MAX_REF)


class TestResult(BaseModel):
    """The result of a test call: answer, latency and cost."""

    model: str
    ok: bool
    answer: str = ""
    latency_ms: int
    cost_micros: int = 0
    code: str | None = None
    message: str | None = None
    hint: str | None = None


class ToolSupport(StrEnum):
    """How a model answered when it was asked to call a tool."""

    NATIVE = "native"
    TEXT = "text"
    """It wrote the call as text."""
    NONE = "none"


class ServerModel(BaseModel):
    """A model that a server lists."""

    name: str
    context_window: int | None = None
    """In tokens; null if the server does not report it."""
    is_loaded: bool = False


class NewProbe(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(
        default=None,
        max_length=MAX_REF,
        description="Name of the model to test. Default: one in use, else one that is loaded, else the first.",
    )


class ModelTrial(BaseModel):
    """What a few short calls showed of a model."""

    model: str
    """`provider:model`."""
    tools: ToolSupport | None = None
    schema_support: bool | None = None
    """Whether it answers in the format of a JSON schema."""
    first_token_ms: int | None = None
    tokens_per_second: float | None = None
    cost_micros: int = 0
    problem: str | None = None
    """Why the rest is unknown."""
    hint: str | None = None


class ProviderProbe(BaseModel):
    """What a server reports about itself and its models, and a test of one of them."""

    provider: ProviderView
    models: list[ServerModel] = []
    priced: list[str] = []
    """Models that got a price of 0 and the context window above, because they had no price."""
    trial: ModelTrial | None = None
    problem: str | None = None
    """Why the server cannot be asked."""
    hint: str | None = None


def dollars(micros: int) -> str:
    """Format with significant digits only: `$0`, `$0.0042`, `$0.02`, `$0.42`, `$12.50`, `$1,204`."""
    amount = micros / MICROS
    if amount == 0:
        return "$0"
    if amount < 0.0001:
        return "< $0.0001"
    if amount < 0.1:
        return f"${round(amount, 4):g}"
    return f"${amount:.2f}" if amount < 1000 else f"${amount:,.0f}"
