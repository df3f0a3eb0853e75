"""A workflow as it is written down: one form for YAML, JSON, the canvas and the API.

Names are those of the format: durations are `_secs`, lists of steps end in `_steps`. What a person leaves out has its
default here; what is not known is refused, so that a misspelt key never counts as nothing.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

MAX_STEPS = 1000
MAX_SOURCE = 1 << 20
"""Characters of a definition as YAML."""
MAX_ITERATIONS = 100
MAX_DEPTH = 5
"""Of workflows that start workflows, and of runs that cause runs."""
STEP_TIMEOUT_S = 300
RUN_TIMEOUT_S = 1800
LONGEST_S = 366 * 86400

StepId = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Name = Annotated[str, Field(pattern=r"^[^\W_]([^\W_]|-){0,63}$")]
"""Letters, digits and hyphens."""
Expression = Annotated[str, Field(min_length=1, max_length=4000)]
"""CEL: `steps.gather.output.count > 3`. Braces around it are taken off."""
Template = Annotated[str, Field(max_length=200_000)]
"""Text with `{{ expression }}` in it."""
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class StepConfig(Part):
    """What a kind of step does. `templated` names the fields with templates in them."""

    templated: ClassVar[tuple[str, ...]] = ()


class StepType(StrEnum):
    AGENT = "agent"
    SKILL = "skill"
    HTTP = "http"
    CODE = "code"
    CONDITIONAL = "conditional"
    LOOP = "loop"
    APPROVAL = "approval"
    SUB_WORKFLOW = "sub_workflow"
    WAIT = "wait"
    MESSAGE = "message"
    AUDIT = "audit"


class AgentConfig(StepConfig):
    """Ask a bot, through its own pipeline."""

    templated: ClassVar[tuple[str, ...]] = ("prompt",)

    type: Literal["agent"] = "agent"
    bot: str = Field(min_length=1, max_length=64)
    """Its slug."""
    prompt: Template
    model: str | None = Field(default=None, max_length=200)
    session: Literal["new", "reuse"] = "new"
    """`reuse`: one conversation for all runs of this step."""
    output_schema: dict[str, JsonValue] | None = None
    """A JSON Schema: the answer has to be JSON that fits it, and is in `output.json`."""


class SkillConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["skill"] = "skill"
    skill: str = Field(min_length=1, max_length=64)
    input: JsonValue = None
    """Templates in it are filled in. A text goes in as `{"input": text}`."""


class Language(StrEnum):
    JAVASCRIPT = "javascript"
    PYTHON = "python"
    WASM = "wasm"


class CodeConfig(StepConfig):
    """A function `run(input)` in the WebAssembly runtime, with no capability but its log."""

    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["code"] = "code"
    language: Language
    source: str = Field(min_length=1, max_length=500_000)
    """Of WASM: a component in base64. Never a template: code is not put together from data."""
    input: JsonValue = None


class HttpConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("url", "headers", "body")

    type: Literal["http"] = "http"
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: Template
    headers: dict[str, Template] = {}
    body: JsonValue = None
    """A text is sent as it is; anything else as JSON."""
    expect_status: list[Annotated[int, Field(ge=100, le=599)]] | None = Field(default=None, min_length=1)
    """Others fail the step. Without it: anything below 400 is fine."""
    max_bytes: int = Field(default=1 << 20, ge=1, le=8 << 20)


class ConditionalConfig(StepConfig):
    type: Literal["conditional"] = "conditional"
    condition: Expression
    then_steps: list[StepId] = []
    else_steps: list[StepId] = []


class LoopConfig(StepConfig):
    """While `condition` is true, or once for each of `items`."""

    templated: ClassVar[tuple[str, ...]] = ("items",)

    type: Literal["loop"] = "loop"
    condition: Expression | None = None
    items: JsonValue = None
    """A list, or a template that gives one."""
    max_iterations: int = Field(default=MAX_ITERATIONS, ge=1, le=MAX_ITERATIONS)
    parallel: int = Field(default=1, ge=1, le=20)
    """Of `items`, how many at a time."""
    body_steps: list[StepId] = Field(min_length=1)


class ApprovalConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("prompt",)

    type: Literal["approval"] = "approval"
    prompt: Template
    timeout_secs: Seconds | None = None
    on_timeout: Literal["fail", "reject", "approve"] = "fail"
    on_reject: Literal["skip", "fail", "continue"] = "skip"
    """`skip`: what depends on it is skipped, the rest goes on."""
    rejected_steps: list[StepId] = []
    """Run only when it was rejected."""


class SubWorkflowConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["sub_workflow"] = "sub_workflow"
    workflow_name: str = Field(min_length=1, max_length=64)
    input: JsonValue = None
    """Its inputs, and its `trigger`."""


class WaitConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("seconds", "until")

    type: Literal["wait"] = "wait"
    seconds: Annotated[float, Field(ge=0, le=LONGEST_S)] | Template | None = None
    until: Template | None = None
    """A time such as `2026-12-01T09:00:00+01:00`."""


class MessageConfig(StepConfig):
    """Send to a bot or a channel; with `wait`, the reply is the output."""

    templated: ClassVar[tuple[str, ...]] = ("to", "channel", "body")

    type: Literal["message"] = "message"
    to: str | None = Field(default=None, min_length=1, max_length=64)
    """A bot's slug."""
    channel: str | None = Field(default=None, min_length=1, max_length=64)
    message_type: str = Field(default="text", pattern=r"^[a-z][a-z0-9_]{0,31}$")
    body: JsonValue
    wait: bool = False


class AuditConfig(StepConfig):
    """Audit a workspace; the step fails when the verdict is among `fail_on`."""

    templated: ClassVar[tuple[str, ...]] = ("workspace", "base")

    type: Literal["audit"] = "audit"
    workspace: Template
    """Its name or id."""
    base: Template | None = None
    """A commit, branch or tag the changes are counted from."""
    fail_on: list[Literal["FAIL", "ERROR", "WARN"]] = ["FAIL", "ERROR"]


Config = Annotated[
    AgentConfig
    | SkillConfig
    | CodeConfig
    | HttpConfig
    | ConditionalConfig
    | LoopConfig
    | ApprovalConfig
    | SubWorkflowConfig
    | WaitConfig
    | MessageConfig
    | AuditConfig,
    Field(discriminator="type"),
]


class RetryStrategy(StrEnum):
    SIMPLE = "simple"
    LLM_SELF_CORRECT = "llm_self_correct"
    """A model looks at what went in and what went wrong, and writes what goes in next."""


class RetryPolicy(Part):
    max_attempts: int = Field(default=3, ge=1, le=10)
    strategy: RetryStrategy = RetryStrategy.SIMPLE
    delay_secs: Annotated[float, Field(ge=0, le=3600)] = 1.0
    factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_delay_secs: Annotated[float, Field(ge=0, le=86400)] = 60.0
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.1
    """A share of the delay that is left to chance."""
    retry_on: list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$|^\*$")]] | None = None
    """Codes of errors; `*` for any. Without it: what may pass by itself, and with self-correction anything."""


class Goto(Part):
    goto: StepId
    """Runs instead of what depends on the step that failed."""


OnError = Literal["fail", "continue"] | Goto


class Position(Part):
    x: float = Field(ge=-1e6, le=1e6)
    y: float = Field(ge=-1e6, le=1e6)


class StepUi(Part):
    position: Position | None = None
    group: str | None = Field(default=None, max_length=100)
    collapsed: bool = False


class Step(Part):
    id: StepId
    name: str = Field(default="", max_length=200)
    type: StepType
    depends_on: list[StepId] = []
    condition: Expression | None = None
    timeout_secs: Seconds | None = None
    retry: RetryPolicy | None = None
    on_error: OnError = "fail"
    config: Config
    ui: StepUi | None = None

    @property
    def title(self) -> str:
        return self.name or self.id


class InputType(StrEnum):
    STRING = "string"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    ANY = "any"


class Input(Part):
    type: InputType = InputType.ANY
    description: str = Field(default="", max_length=2000)
    required: bool = False
    default: JsonValue = None
    enum: list[JsonValue] | None = Field(default=None, min_length=1)


class CatchUp(StrEnum):
    """What becomes of occurrences nobody was there for."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class ManualTrigger(Part):
    type: Literal["manual"] = "manual"


class CronTrigger(Part):
    type: Literal["cron"] = "cron"
    schedule: str = Field(min_length=1, max_length=200)
    """Five or six fields (seconds first), or a phrase: `daily at 9am`, `every 15 minutes`."""
    timezone: str = Field(default="UTC", max_length=64)
    catch_up: CatchUp = CatchUp.ONCE
    inputs: dict[str, JsonValue] = {}


class WebhookAuth(Part):
    type: Literal["hmac_sha256", "bearer_token"]
    secret_name: str = Field(min_length=1, max_length=128)
    """Of a secret in the vault."""


class WebhookTrigger(Part):
    type: Literal["webhook"] = "webhook"
    path: str = Field(pattern=r"^/[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9._~-]+)*$", max_length=200)
    auth: WebhookAuth | None = None
    when: Expression | None = None
    tolerance_secs: int = Field(default=300, ge=10, le=86400)
    """How old a delivery that says its time may be."""


class EventTrigger(Part):
    type: Literal["event"] = "event"
    event_type: str = Field(pattern=r"^[a-z][a-z_.]{0,63}$")
    source: str = Field(default="*", max_length=128)
    """`*`, or what it is about: `workflow:<name>`, `bot:<slug>`, `skill:<name>`, `kind:<kind of run>`."""
    when: Expression | None = None


class FileWatchTrigger(Part):
    type: Literal["file_watch"] = "file_watch"
    paths: list[Annotated[str, Field(min_length=1, max_length=4096)]] = Field(min_length=1, max_length=20)
    patterns: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[], max_length=50)
    when: Expression | None = None


Trigger = Annotated[
    ManualTrigger | CronTrigger | WebhookTrigger | EventTrigger | FileWatchTrigger,
    Field(discriminator="type"),
]


class BotOwner(Part):
    type: Literal["bot"] = "bot"
    bot_id: str | None = None
    slug: str = Field(min_length=1, max_length=64)


class GlobalOwner(Part):
    type: Literal["global"] = "global"


Owner = Annotated[BotOwner | GlobalOwner, Field(discriminator="type")]


class ConcurrencyPolicy(StrEnum):
    REJECT = "reject"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class Definition(Part):
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    name: Name
    description: str = Field(default="", max_length=4000)
    version: str = Field(default="1.0", min_length=1, max_length=64)
    owner: Owner = GlobalOwner()
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    """Runs at a time; any number without it."""
    concurrency_policy: ConcurrencyPolicy = ConcurrencyPolicy.QUEUE
    timeout_secs: Seconds = RUN_TIMEOUT_S
    """Of work: waiting for people and times does not count."""
    parallel: int = Field(default=16, ge=1, le=64)
    """Steps at a time."""
    inputs: dict[StepId, Input] = Field(default={}, max_length=100)
    triggers: list[Trigger] = Field(default=[ManualTrigger()], max_length=50)
    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)
    finally_steps: list[StepId] = Field(default=[], alias="finally")
    """Run last, however the others ended, unless the run was cancelled."""
    outputs: dict[StepId, JsonValue] = Field(default={}, max_length=100)
    """Templates; without it the output is that of the last step."""
    metadata: dict[str, JsonValue] = {}

    model_config = ConfigDict(populate_by_name=True)

    def as_json(self) -> dict[str, Any]:
        """In its one form: every field with a value, under the names of the format."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
