"""The definition of a workflow: one format for YAML, JSON, the canvas and the API.

Names are those of the format: durations end in `_secs`, lists of steps in `_steps`. Unknown keys are rejected, so that a
misspelled key is never ignored.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

HTTP_TIMEOUT_S = 30.0


MAX_STEPS = 1000
MAX_SOURCE = 1 << 20
"""Characters of a definition as YAML."""
MAX_ITERATIONS = 100
MAX_DEPTH = 5
"""Levels of workflows that start each other and of runs that cause each other."""
STEP_TIMEOUT_S = 300
RUN_TIMEOUT_S = 1800
LONGEST_S = 366 * 86400

StepId = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Name = Annotated[str, Field(pattern=r"^[^\W_]([^\W_]|-){0,63}$")]
"""Letters, digits and hyphens."""
Expression = Annotated[str, Field(min_length=1, max_length=4000)]
"""CEL: `steps.gather.output.count > 3`. Braces around it are removed."""
Template = Annotated[str, Field(max_length=200_000)]
"""Text with `{{ expression }}` in it."""
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class StepConfig(Part):
    """The config of a step type. `templated` lists the fields that may contain templates."""

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
    """Ask a bot."""

    templated: ClassVar[tuple[str, ...]] = ("prompt",)

    type: Literal["agent"] = "agent"
    bot: str = Field(min_length=1, max_length=64)
    """The slug of the bot."""
    prompt: Template
    model: str | None = Field(default=None, max_length=200)
    session: Literal["new", "reuse"] = "new"
    """`reuse`: share one conversation among all runs of this step."""
    output_schema: dict[str, JsonValue] | None = None
    """A JSON Schema that the answer must match; the parsed answer is in `output.json`."""


class SkillConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["skill"] = "skill"
    skill: str = Field(min_length=1, max_length=64)
    input: JsonValue = None
    """Templates are filled in. Values other than objects are wrapped as `{"input": …}`."""
    render: bool = False
    """Return the instructions of a prompt skill with the input inserted, instead of having a model follow them."""


class Language(StrEnum):
    JAVASCRIPT = "javascript"
    PYTHON = "python"
    WASM = "wasm"


class CodeConfig(StepConfig):
    """Run a function `run(input)` in the WebAssembly runtime, with no capability other than logging."""

    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["code"] = "code"
    language: Language
    source: str = Field(min_length=1, max_length=500_000)
    """For wasm, a component in base64. Templates are not filled in, so data never becomes code."""
    input: JsonValue = None


class HttpConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("url", "headers", "body")

    type: Literal["http"] = "http"
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: Template
    headers: dict[str, Template] = {}
    body: JsonValue = None
    """Text is sent as is, anything else as JSON."""
    expect_status: list[Annotated[int, Field(ge=100, le=599)]] | None = Field(default=None, min_length=1)
    """Any other status fails the step. Default: all below 400."""
    max_bytes: int = Field(default=1 << 20, ge=1, le=8 << 20)


class ConditionalConfig(StepConfig):
    type: Literal["conditional"] = "conditional"
    condition: Expression
    then_steps: list[StepId] = []
    else_steps: list[StepId] = []


class LoopConfig(StepConfig):
    """Repeat steps while `condition` is true, or once for each of `items`."""

    templated: ClassVar[tuple[str, ...]] = ("items",)

    type: Literal["loop"] = "loop"
    condition: Expression | None = None
    items: JsonValue = None
    """A list, or a template that evaluates to one."""
    max_iterations: int = Field(default=MAX_ITERATIONS, ge=1, le=MAX_ITERATIONS)
    parallel: int = Field(default=1, ge=1, le=20)
    """How many items are processed at a time."""
    body_steps: list[StepId] = Field(min_length=1)


class ApprovalConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("prompt",)

    type: Literal["approval"] = "approval"
    prompt: Template
    timeout_secs: Seconds | None = None
    on_timeout: Literal["fail", "reject", "approve"] = "fail"
    on_reject: Literal["skip", "fail", "continue"] = "skip"
    """`skip`: dependent steps are skipped, other steps continue."""
    rejected_steps: list[StepId] = []
    """Steps that run only if the approval is rejected."""


class SubWorkflowConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("input",)

    type: Literal["sub_workflow"] = "sub_workflow"
    workflow_name: str = Field(min_length=1, max_length=64)
    input: JsonValue = None
    """The payload of the child run: its inputs and `trigger`."""


class WaitConfig(StepConfig):
    templated: ClassVar[tuple[str, ...]] = ("seconds", "until")

    type: Literal["wait"] = "wait"
    seconds: Annotated[float, Field(ge=0, le=LONGEST_S)] | Template | None = None
    until: Template | None = None
    """A time with a time zone, such as `2026-12-01T09:00:00+01:00`."""


class MessageConfig(StepConfig):
    """Send a message to a bot or a channel; with `wait`, the output contains the reply."""

    templated: ClassVar[tuple[str, ...]] = ("to", "channel", "body")

    type: Literal["message"] = "message"
    to: str | None = Field(default=None, min_length=1, max_length=64)
    """The slug of the bot."""
    channel: str | None = Field(default=None, min_length=1, max_length=64)
    message_type: str = Field(default="text", pattern=r"^[a-z][a-z0-9_]{0,31}$")
    body: JsonValue
    wait: bool = False


class AuditConfig(StepConfig):
    """Audit a workspace; the step fails if the verdict is in `fail_on`."""

    templated: ClassVar[tuple[str, ...]] = ("workspace", "base")

    type: Literal["audit"] = "audit"
    workspace: Template
    """The name or id of the workspace."""
    base: Template | None = None
    """A commit, branch or tag that changes are compared with."""
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
    """A model rewrites the input, based on the error, before the next attempt."""


class RetryPolicy(Part):
    max_attempts: int = Field(default=3, ge=1, le=10)
    strategy: RetryStrategy = RetryStrategy.SIMPLE
    delay_secs: Annotated[float, Field(ge=0, le=3600)] = 1.0
    factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_delay_secs: Annotated[float, Field(ge=0, le=86400)] = 60.0
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.1
    """The random share of the delay."""
    retry_on: list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$|^\*$")]] | None = None
    """Error codes to retry; `*` for any. Default: transient errors, with self-correction all errors."""


class Goto(Part):
    goto: StepId
    """The step to run instead of the steps that depend on the failed one."""


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
    """What to do about occurrences missed while the server was down."""

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
    """The name of a secret in the vault."""


class WebhookTrigger(Part):
    type: Literal["webhook"] = "webhook"
    path: str = Field(pattern=r"^/[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9._~-]+)*$", max_length=200)
    auth: WebhookAuth | None = None
    when: Expression | None = None
    tolerance_secs: int = Field(default=300, ge=10, le=86400)
    """The maximum age of deliveries that have a timestamp."""


class EventTrigger(Part):
    type: Literal["event"] = "event"
    event_type: str = Field(pattern=r"^[a-z][a-z_.]{0,63}$")
    source: str = Field(default="*", max_length=128)
    """The subject: `workflow:<name>`, `bot:<slug>`, `skill:<name>` or `kind:<run kind>`; `*` for any."""
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
    """The maximum number of concurrent runs. Default: unlimited."""
    concurrency_policy: ConcurrencyPolicy = ConcurrencyPolicy.QUEUE
    timeout_secs: Seconds = RUN_TIMEOUT_S
    """Time limit of a run. Waiting for people, times and other runs does not count."""
    parallel: int = Field(default=16, ge=1, le=64)
    """The maximum number of parallel steps."""
    inputs: dict[StepId, Input] = Field(default={}, max_length=100)
    triggers: list[Trigger] = Field(default=[ManualTrigger()], max_length=50)
    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)
    finally_steps: list[StepId] = Field(default=[], alias="finally")
    """Steps that run last, however the others ended, unless the run was cancelled."""
    outputs: dict[StepId, JsonValue] = Field(default={}, max_length=100)
    """Templates for the output of the run. Default: the output of the last step."""
    metadata: dict[str, JsonValue] = {}

    model_config = ConfigDict(populate_by_name=True)

    def as_json(self) -> dict[str, Any]:
        """Return the normalized JSON: every field that has a value, under the names of the format."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Place(BaseModel):
    """A problem or warning in a definition, with its position."""

    model_config = ConfigDict(frozen=True)

    line: int
    """Counts from 1. For a JSON definition, the line in the YAML that it is converted to."""
    column: int
    path: str
    """For example `steps[2].config.url`."""
    step: str | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False
