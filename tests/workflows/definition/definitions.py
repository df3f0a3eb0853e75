"""Hypothesis strategies for structurally valid definitions."""

from typing import Any

from hypothesis import strategies as st
from pydantic import JsonValue

from forge.workflows.definition.models import (
    AgentConfig,
    ApprovalConfig,
    AuditConfig,
    BotOwner,
    CatchUp,
    CodeConfig,
    ConcurrencyPolicy,
    ConditionalConfig,
    CronTrigger,
    Definition,
    EventTrigger,
    FileWatchTrigger,
    GlobalOwner,
    Goto,
    HttpConfig,
    Input,
    InputType,
    Language,
    LoopConfig,
    ManualTrigger,
    MessageConfig,
    OnError,
    Position,
    RetryPolicy,
    RetryStrategy,
    SkillConfig,
    Step,
    StepUi,
    SubWorkflowConfig,
    WaitConfig,
    WebhookAuth,
    WebhookTrigger,
)

AWKWARD = (
    *(
        "",
        " ",
        "\n",
        "\n\n",
        "a\n",
        "a\n\n",
        "\na",
        " a\n b",
        "a \nb",
        "\ta",
        "a\tb",
        "a\r\nb",
        "a\x85b",
        "\u2028",
        "\ufeff",
    ),
    *(
        "yes",
        "no",
        "null",
        "~",
        "true",
        "5",
        "-5",
        "+5",
        "0x1f",
        "0o17",
        "1e5",
        "1_000",
        "12:30:45",
        ".5",
        "5.",
        ".inf",
        "=",
    ),
    *(
        "# no comment",
        "a # b",
        "a: b",
        "- a",
        "? a",
        "{a}",
        "[a]",
        "{{ a }}",
        "'",
        '"',
        "''",
        "\\",
        "|",
        ">",
        "&a",
        "*a",
    ),
    *(
        "!a",
        "%a",
        "@a",
        "`a`",
        "---",
        "...",
        "a\n---\nb",
        "\x07",
        "\x7f",
        "🦊",
        "é",
        "<<",
        "a,b",
        "2026-11-16",
    ),
)
texts = st.sampled_from(AWKWARD) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20
)
lines = st.lists(st.sampled_from(["one", "  two", "", "three # four", "a: b", "- c"]), max_size=5).map(
    "\n".join
)
ids = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,4}\Z")
id_lists = st.lists(ids, max_size=3)
words = texts.filter(lambda text: 0 < len(text) <= 60)
templates = texts | lines
numbers = st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
seconds = st.floats(0.1, 86400) | st.integers(1, 86400)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | numbers | templates,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
expressions = words.filter(lambda text: "{{" not in text)
"""Braces around a condition are taken off, so no definition has any."""


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


configs = st.one_of(
    st.builds(
        AgentConfig,
        bot=words,
        prompt=templates,
        model=maybe(texts),
        output_schema=maybe(st.just({"type": "object"})),
    ),
    st.builds(SkillConfig, skill=words, input=values),
    st.builds(CodeConfig, language=st.sampled_from(Language), source=lines.filter(bool), input=values),
    st.builds(
        HttpConfig,
        method=st.sampled_from(["GET", "POST"]),
        url=templates,
        headers=st.dictionaries(texts, templates, max_size=2),
        body=values,
        expect_status=maybe(st.lists(st.integers(100, 599), min_size=1, max_size=3)),
    ),
    st.builds(ConditionalConfig, condition=expressions, then_steps=id_lists, else_steps=id_lists),
    st.builds(
        LoopConfig,
        condition=maybe(expressions),
        items=values,
        body_steps=st.lists(ids, min_size=1, max_size=2),
    ),
    st.builds(ApprovalConfig, prompt=templates, timeout_secs=maybe(seconds), rejected_steps=id_lists),
    st.builds(SubWorkflowConfig, workflow_name=words, input=values),
    st.builds(WaitConfig, seconds=maybe(seconds | templates), until=maybe(templates)),
    st.builds(MessageConfig, to=maybe(words), channel=maybe(words), body=templates, wait=st.booleans()),
    st.builds(AuditConfig, workspace=templates, base=maybe(templates), fail_on=st.just(["WARN"])),
)
retries = st.builds(
    RetryPolicy,
    max_attempts=st.integers(1, 10),
    strategy=st.sampled_from(RetryStrategy),
    delay_secs=st.floats(0, 3600),
    retry_on=maybe(st.just(["timeout", "*"])),
)
positions = st.builds(Position, x=st.floats(-1000, 1000), y=st.integers(-1000, 1000))


outcomes: st.SearchStrategy[OnError] = st.one_of(
    st.just("fail"), st.just("continue"), st.builds(Goto, goto=ids)
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    config = draw(configs)
    return Step(
        id=draw(ids),
        name=draw(texts),
        type=config.type,
        depends_on=draw(id_lists),
        condition=draw(maybe(expressions)),
        timeout_secs=draw(maybe(seconds)),
        retry=draw(maybe(retries)),
        on_error=draw(outcomes),
        config=config,
        ui=draw(
            maybe(st.builds(StepUi, position=maybe(positions), group=maybe(texts), collapsed=st.booleans()))
        ),
    )


triggers = st.one_of(
    st.just(ManualTrigger()),
    st.builds(
        CronTrigger,
        schedule=words,
        catch_up=st.sampled_from(CatchUp),
        inputs=st.dictionaries(ids, values, max_size=2),
    ),
    st.builds(
        WebhookTrigger,
        path=st.just("/a/b"),
        auth=maybe(st.builds(WebhookAuth, type=st.just("bearer_token"), secret_name=words)),
        when=maybe(expressions),
    ),
    st.builds(EventTrigger, event_type=st.just("run.finished"), when=maybe(expressions)),
    st.builds(
        FileWatchTrigger, paths=st.lists(words, min_size=1, max_size=2), patterns=st.lists(words, max_size=2)
    ),
)
inputs = st.builds(
    Input, type=st.sampled_from(InputType), description=texts, required=st.booleans(), default=values
)
definitions = st.builds(
    Definition,
    id=maybe(st.just("abc-1")),
    name=st.sampled_from(["a", "daily-digest", "1", "null", "täglich"]),
    description=texts,
    version=words,
    owner=st.just(GlobalOwner()) | st.builds(BotOwner, slug=words),
    concurrency=maybe(st.integers(1, 9)),
    concurrency_policy=st.sampled_from(ConcurrencyPolicy),
    timeout_secs=seconds,
    inputs=st.dictionaries(ids, inputs, max_size=2),
    triggers=st.lists(triggers, max_size=3),
    steps=st.lists(steps(), min_size=1, max_size=4, unique_by=lambda step: step.id),
    finally_steps=id_lists,
    outputs=st.dictionaries(ids, values, max_size=2),
    metadata=st.dictionaries(texts, values, max_size=2),
)
