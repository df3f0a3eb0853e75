"""Render interviews and their results for a terminal."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.interview.domain.build_config import DEFAULT_MODEL, BuilderConfig, Preview, SkillBuildRequest
from forge.interview.domain.dialogue import (
    AskQuestion,
    Clarify,
    Mode,
    ReadyToAssemble,
    ReadyToCreateSkill,
    phase_label,
)
from forge.interview.domain.state import BotMade, InterviewSpeaker, Made, SkillMade
from forge.interview.domain.text_analysis import one_line, shorten
from forge.interview.models import DraftSummary, FileChange, MemoryEntry, SessionView, SpokenBy
from forge.llm.models import dollars
from forge.skills.models import Case, TrialReport
from forge.terminal.output import FAINT, Columns, Fields, dot, marked, words
from forge.terminal.text import clean

MAX_CELL = 60

drafts_table = Columns[DraftSummary](
    {
        "DESCRIPTION": lambda draft: draft_title(draft),
        "MODE": "mode",
        "PHASE": lambda draft: words(draft.problem, "red") if draft.problem else draft.phase.value,
        "ANSWERS": "question_count",
        "UPDATED": "updated_at",
        "ID": "session_id",
    }
)
memory_table = Columns[MemoryEntry](
    {
        "WHEN": "created_at",
        "KIND": lambda entry: entry.purpose_category.replace("_", " "),
        "DESCRIPTION": lambda entry: one_line(entry.initial_description),
        "TONE": "chosen_tone",
        "MODEL": "chosen_model",
        "SKILLS": "chosen_skills",
        "BOT": "bot_slug",
        "ID": "id",
    }
)
_config_fields = Fields[BuilderConfig](
    "name description category tags",
    {
        "tone": lambda config: config.personality.tone,
        "traits": lambda config: config.personality.traits,
        "purpose": lambda config: config.personality.purpose,
        "boundaries": lambda config: config.personality.boundaries,
        "model": lambda config: _model(config.model_settings.model),
        "temperature": lambda config: f"{config.model_settings.temperature:g}",
        "max tokens": lambda config: config.model_settings.max_tokens,
        "skills": lambda config: ", ".join(skill.name for skill in config.skills) or "none",
        "variants": lambda config: "\n".join(
            f"{one.name}: {one.difference}" if one.difference else one.name for one in config.variants
        ),
    },
)
_skill_fields = Fields[SkillBuildRequest](
    "name description",
    {
        "kind": "skill_type",
        "capabilities": lambda skill: ", ".join(one.value for one in skill.capabilities or ()) or "none",
    },
)
_bot_made_fields = Fields[BotMade](
    {"soul": "soul_path", "identity": "identity_path", "user": "user_path", "skills": "skills_attached"},
    {"chat": lambda bot: f"forge chat {bot.bot_slug}"},
)
_skill_made_fields = Fields[SkillMade]("folder description")
_session_fields = Fields[SessionView](
    {
        "session": "session_id",
        "mode": "mode",
        "description": "initial_description",
        "phase": lambda view: "finished" if view.made else phase_label(view.mode, view.phase),
        "questions": lambda view: speaker_line(view.spoken_by),
        "cost": lambda view: dollars(view.cost_micros),
        "updated": "updated_at",
    }
)


def _model(name: str) -> str:
    return "the model chosen for bots" if name == DEFAULT_MODEL else name


def draft_title(draft: DraftSummary) -> str:
    return shorten(one_line(draft.initial_description or draft.name or "(no description)"), MAX_CELL)


def question(view: SessionView) -> Text:
    """Render the label of the phase and the question."""
    label = phase_label(view.mode, view.phase)
    match view.turn:
        case AskQuestion(question=asked) as turn:
            label = turn.phase_label or phase_label(view.mode, turn.phase)
        case Clarify(message=asked):
            pass
        case _ if view.mode is Mode.RECONFIGURE and not view.lines:
            asked, label = "These are the current settings. What would you like to do?", "Current settings"
        case _:
            asked = "This is what is known so far. Continue?"
    return _exchange(label, asked)


def _exchange(label: str, asked: str) -> Text:
    return Text.assemble((f"\n{clean(label)}\n", FAINT), (clean(asked), "bold"))


def answered(label: str) -> Text:
    return Text.assemble((" ▸ ", "blue"), clean(label))


def speaker_line(spoken: SpokenBy) -> Text:
    if spoken.speaker is InterviewSpeaker.MODEL:
        return words(f"{spoken.model or 'A model'} asks the questions.", FAINT)
    return words(f"Forge asks its own questions, without a model. {spoken.why or ''}".rstrip(), FAINT)


def preview_page(preview: Preview, mode: Mode) -> Table:
    """Render what is known so far; without rows if that is nothing."""
    about = "how it works" if mode is Mode.SKILL else "personality"
    return Fields[Preview]("name description", {about: "personality_summary"}, "model skills")(preview)


def ready_page(view: SessionView) -> RenderableType:
    match view.turn:
        case ReadyToAssemble(config=config):
            what = _config_fields(config)
        case ReadyToCreateSkill(skill_request=request):
            what = _skill_fields(request)
        case _:
            return Group()
    is_change = view.mode is Mode.RECONFIGURE
    head = "Ready. These settings will be saved:" if is_change else "Ready. This will be created:"
    cost = f"This interview cost {dollars(view.cost_micros)}." if view.cost_micros else ""
    parts = [heading(head), what, *([trial_page(view.trial)] if view.trial else [])]
    return Group(*parts, words(cost, FAINT)) if cost else Group(*parts)


def trial_page(trial: TrialReport) -> RenderableType:
    """Render the result of the skill's own tests."""
    if trial.passed and not trial.ran:
        return words("The files are valid; instructions have no tests to run.", FAINT)
    how = f"in the sandbox ({trial.sandbox}, {trial.duration_ms} ms)" if trial.ran else "not run"
    head = dot("ok" if trial.passed else "failed").append_text(words(f"  tests {how}", FAINT))
    output = [words(trial.output, "red")] if trial.output and not trial.passed else []
    return Group(head, *map(_case_line, trial.cases), *output)


def _case_line(case: Case) -> Text:
    tone, verdict = ("ok", "passed") if case.passed else ("bad", "failed")
    return marked(tone, f"{verdict} {case.name}", case.detail or None)


def files_page(files: Iterable[FileChange]) -> RenderableType:
    """Render new files in full and existing ones as diffs."""
    parts: list[RenderableType] = []
    for change in files:
        parts.append(words(f"\n── {change.path}", "bold"))
        parts.append(words(change.content.rstrip("\n")) if change.before is None else _diff_text(change))
    return Group(*parts)


def changes_page(files: Iterable[FileChange]) -> RenderableType:
    """Render only the files that change."""
    changed = [change for change in files if change.content != change.before]
    return files_page(changed) if changed else words("No changes.", FAINT)


def _diff_text(change: FileChange) -> Text:
    if change.content == change.before:
        return words("unchanged", FAINT)
    tones = {"+": "green", "-": "red", "@": FAINT}
    return Text("\n").join(Text(line, tones.get(line[:1], "")) for line in clean(change.diff).splitlines())


def made_page(made: Made) -> RenderableType:
    parts: list[RenderableType] = []
    for bot in made.bots:
        verb = "Created" if bot.is_new else "Changed" if made.hashes else "No changes to"
        parts += [_made_line(verb, bot.bot_name, f" ({bot.bot_slug})"), _bot_made_fields(bot)]
    if made.skill is not None:
        parts += [_made_line("Created skill", made.skill.name), _skill_made_fields(made.skill)]
    return Group(*parts)


def _made_line(verb: str, name: str, more: str = "") -> Text:
    return Text.assemble("\n", ("✓ ", "green"), f"{verb} ", (clean(name), "bold"), more)


def session_page(view: SessionView) -> RenderableType:
    """Render all questions and answers of an interview, and its progress or result."""
    lines: list[Text] = []
    for line in view.lines:
        lines += [_exchange(phase_label(view.mode, line.phase), line.question), answered(line.answer)]
    ending = made_page(view.made) if view.made else preview_page(view.preview, view.mode)
    return Group(_session_fields(view), *lines, Text(), ending)


def heading(text: str) -> Text:
    return words(f"\n{text}", "bold")
