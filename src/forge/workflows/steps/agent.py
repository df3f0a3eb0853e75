"""Executor of agent steps: asks a bot in a conversation, with its soul, memory, skills, model and budget."""

from pydantic import JsonValue

from forge.bots.chat.answers import Answers, FinishedAnswer, QuestionRef
from forge.bots.chat.models import WorkflowOrigin
from forge.bots.chat.questions import AnswerInProgress, NewQuestion, Questions, ReadyBot
from forge.bots.management.service import Bots
from forge.bots.models import Bot
from forge.errors import Invalid, NotFound
from forge.kernel.ids import derived_id
from forge.kernel.text import storable
from forge.llm.messages import StopReason
from forge.llm.models import Usage
from forge.store.database import Tx
from forge.workflows.definition.models import AgentConfig
from forge.workflows.definition.output_schema import OutputSchema, repair
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult
from forge.workflows.models import LogLine

CUT_OFF = LogLine(level="warn", text="The answer was cut off at the bot's token limit.")


class AgentStepExecutor:
    def __init__(self, bots: Bots, questions: Questions, answers: Answers) -> None:
        self._bots = bots
        self._questions = questions
        self._answers = answers

    async def execute(self, call: StepCall, config: AgentConfig) -> StepResult:
        schema = _schema(config)
        bot = await self._find(call, config.bot)
        readied = await self._questions.check_ready(call.account_id, bot, model=config.model)
        prompt = storable(schema.prompt(config.prompt) if schema else config.prompt)
        question = await self._ask(call, config, bot, readied, prompt)
        answers = [await self._answer(call, readied, question)]
        output: dict[str, JsonValue] = {}
        if schema is not None:
            output["json"] = await self._read(call, readied, schema, answers)
        return _done(bot, answers, output)

    async def _find(self, call: StepCall, slug: str) -> Bot:
        try:
            return await self._bots.find(call.account_id, slug)
        except NotFound as error:
            raise StepError("unknown_bot", f"There is no bot {slug!r}.", hint=error.hint) from error

    async def _ask(
        self, call: StepCall, config: AgentConfig, bot: Bot, readied: ReadyBot, prompt: str
    ) -> QuestionRef:
        if not prompt.strip():
            raise StepError("empty_prompt", "The prompt is empty.")
        new_question = NewQuestion(
            prompt,
            session_id=_lasting_session(call, bot) if config.session == "reuse" else None,
            opens=config.session == "reuse",
            origin=WorkflowOrigin(
                workflow=call.workflow_name,
                workflow_id=call.workflow_id,
                run_id=call.run_id,
                step=call.step_id,
            ),
            title=f"{call.workflow_name}: {call.step.title}",
            parent_run_id=call.run_id,
        )

        async def ask(tx: Tx) -> JsonValue:
            return QuestionRef.of(await self._questions.ask(tx, readied, new_question)).model_dump()

        while True:
            try:
                return QuestionRef.model_validate(await call.begin(ask))
            except AnswerInProgress as busy:
                async with call.waits("The bot is answering another question in this conversation."):
                    await self._answers.wait_until_free(new_question.session_id or "", busy)

    async def _answer(self, call: StepCall, readied: ReadyBot, question: QuestionRef) -> FinishedAnswer:
        """Wait for the complete answer. Raises StepError if it failed."""
        answered = await self._answers.wait(
            readied,
            question,
            parent_run_id=call.run_id,
            on_waiting=lambda note: call.waits(note),
            on_run=call.link,
        )
        if answered.problem is not None:
            raise StepError.of(answered.problem, cost_micros=answered.cost_micros)
        answer = answered.last.answer
        if answer and answer.stop in (StopReason.LENGTH, StopReason.REPEATED):
            await call.log(CUT_OFF)
        return answered

    async def _read(
        self, call: StepCall, readied: ReadyBot, schema: OutputSchema, answers: list[FinishedAnswer]
    ) -> JsonValue:
        """Read the JSON of an answer. If it does not match the schema, ask the bot once more."""
        found = schema.read(answers[-1].last.text)
        if not found.faults:
            return found.value
        await call.log(
            LogLine(level="warn", text="The answer did not match output_schema; asking the bot again.")
        )
        again = await self._answers.follow_up(
            readied, answers[-1].last, storable(repair(found.faults)), parent_run_id=call.run_id
        )
        answers.append(await self._answer(call, readied, again))
        found = schema.read(answers[-1].last.text)
        if not found.faults:
            return found.value
        raise StepError(
            "bad_output",
            f"The answer does not match output_schema: {found.faults[0]}",
            hint="Describe the expected output in the prompt, or simplify the schema.",
            cost_micros=sum(one.cost_micros for one in answers),
            logs=tuple(LogLine(level="error", text=fault) for fault in found.faults),
        )


def _schema(config: AgentConfig) -> OutputSchema | None:
    if config.output_schema is None:
        return None
    try:
        return OutputSchema(config.output_schema)
    except Invalid as error:
        raise StepError("bad_schema", error.message) from error


def _lasting_session(call: StepCall, bot: Bot) -> str:
    """Return the id of the conversation that all runs of this step share."""
    return derived_id("workflow session", call.account_id, call.workflow_id, call.step_id, bot.id)


def _done(bot: Bot, answers: list[FinishedAnswer], more: dict[str, JsonValue]) -> StepResult:
    last = answers[-1].last
    usage = sum((one.last.answer.usage for one in answers if one.last.answer), Usage())
    output: dict[str, JsonValue] = {
        "type": "agent",
        "bot": bot.slug,
        "model": last.answer.model if last.answer else "",
        "response": last.text,
        "usage": {"input_tokens": usage.sent, "output_tokens": usage.output},
        "session_id": last.session_id,
    }
    return StepResult(output | more, sum(one.cost_micros for one in answers))
