"""How an interview looks in a terminal."""

from collections.abc import Iterable, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
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
from forge.interview.domain.state import InterviewSpeaker, Made
from forge.interview.domain.text_analysis import one_line, shorten
from forge.interview.models import DraftSummary, FileChange, MemoryEntry, SessionView, SpokenBy
from forge.kernel.clock import now
from forge.llm.models import dollars
from forge.skills.models import TrialReport
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean

FAINT = "bright_black"
MAX_CELL = 60


def question(view: SessionView) -> Text:
    """Where it stands, faintly; and what is asked."""
    match view.turn:
        case AskQuestion(question=asked) as turn:
            label = turn.phase_label or phase_label(view.mode, turn.phase)
        case Clarify(message=asked):
            label = phase_label(view.mode, view.phase)
        case _ if view.mode is Mode.RECONFIGURE and not view.lines:
            asked, label = "This is how it is now. What shall become of it?", "As it is"
        case _:
            asked, label = "This is how it stands. Shall we go on?", phase_label(view.mode, view.phase)
    return Text.assemble((f"\n{clean(label)}\n", FAINT), (clean(asked), "bold"))


def answered(label: str) -> Text:
    return Text.assemble((" ▸ ", "blue"), clean(label))


def speaker_line(spoken: SpokenBy) -> Text:
    if spoken.speaker is InterviewSpeaker.MODEL:
        return Text(f"Forge asks with {clean(spoken.model or 'a model')}.", FAINT)
    why = f" {clean(spoken.why)}" if spoken.why else ""
    return Text(f"Forge asks its own questions, without a model.{why}", FAINT)


def preview_panel(preview: Preview, mode: Mode) -> Panel:
    pairs = [
        ("name", preview.name),
        ("description", preview.description),
        ("how it works" if mode is Mode.SKILL else "personality", preview.personality_summary),
        ("model", preview.model),
        ("skills", ", ".join(preview.skills) or None),
        ("still open", ", ".join(preview.missing) or None),
    ]
    title = Text("so far", FAINT)
    return Panel(
        key_values(pairs), title=title, title_align="left", border_style=FAINT, box=ROUNDED, expand=False
    )


def is_worth_showing(preview: Preview) -> bool:
    return any(
        (preview.name, preview.description, preview.personality_summary, preview.model, preview.skills)
    )


def ready_page(view: SessionView) -> RenderableType:
    match view.turn:
        case ReadyToAssemble(config=config):
            is_change = view.mode is Mode.RECONFIGURE
            head = "Ready: this is how it will be." if is_change else "Ready: this is what will be made."
            parts: list[RenderableType] = [heading(head), _config(config)]
        case ReadyToCreateSkill(skill_request=request):
            parts = [heading("Ready: this is what will be made."), _skill(request)]
        case _:
            return Group()
    if view.trial is not None:
        parts.append(trial_page(view.trial))
    if view.cost_micros:
        parts.append(Text(f"This interview cost {dollars(view.cost_micros)}.", FAINT))
    return Group(*parts)


def _config(config: BuilderConfig) -> Table:
    personality, model = config.personality, config.model_settings
    return key_values(
        [
            ("name", config.name),
            ("description", config.description or None),
            ("category", config.category),
            ("tags", ", ".join(config.tags) or None),
            ("tone", personality.tone),
            ("traits", ", ".join(personality.traits) or None),
            ("purpose", personality.purpose or None),
            ("boundaries", personality.boundaries or None),
            ("model", "what is chosen for bots" if model.model == DEFAULT_MODEL else model.model),
            ("temperature", f"{model.temperature:g}"),
            ("max tokens", f"{model.max_tokens:,}"),
            ("skills", ", ".join(skill.name for skill in config.skills) or "none"),
            *(
                (f"variant {n}", _variant(one.name, one.difference))
                for n, one in enumerate(config.variants, start=1)
            ),
        ]
    )


def _variant(name: str, difference: str) -> str:
    return f"{name}: {difference}" if difference else name


def _skill(request: SkillBuildRequest) -> Table:
    capabilities = request.capabilities or []
    return key_values(
        [
            ("name", request.name),
            ("description", request.description),
            ("kind", request.skill_type.value),
            ("may", ", ".join(one.value for one in capabilities) or "nothing beyond its own words"),
        ]
    )


def trial_page(trial: TrialReport) -> RenderableType:
    """What came of the skill's own test."""
    if trial.passed and not trial.ran:
        return Text("Its files are valid; instructions have nothing to execute.", FAINT)
    head = dot("ok" if trial.passed else "failed")
    how = f"in the sandbox ({clean(trial.sandbox)}, {trial.duration_ms} ms)" if trial.ran else "not run"
    head.append(f"  its test, {how}", FAINT)
    lines = [
        Text.assemble(
            "  ",
            dot("ok" if case.passed else "failed"),
            f"  {clean(case.name)}",
            (_detail(case.detail), FAINT),
        )
        for case in trial.cases
    ]
    output = [words(trial.output, "red")] if trial.output and not trial.passed else []
    return Group(head, *lines, *output)


def _detail(detail: str) -> str:
    return f"  {clean(detail)}" if detail else ""


def files_page(files: Iterable[FileChange]) -> RenderableType:
    """Whole files; of those that are there already, what changes."""
    parts: list[RenderableType] = []
    for change in files:
        parts.append(Text(f"\n── {clean(change.path)}", "bold"))
        parts.append(diff_text(change) if change.before is not None else words(change.content.rstrip("\n")))
    return Group(*parts)


def changes_page(files: Iterable[FileChange]) -> RenderableType:
    """Only what becomes different."""
    changed = [change for change in files if change.content != change.before]
    return files_page(changed) if changed else faint("Nothing changes.")


def diff_text(change: FileChange) -> Text:
    if change.content == change.before:
        return Text("stays as it is", FAINT)
    tones = {"+": "green", "-": "red", "@": FAINT}
    lines = clean(change.diff).splitlines()
    return Text("\n").join(Text(line, tones.get(line[:1], "")) for line in lines)


def made_page(made: Made) -> RenderableType:
    parts: list[RenderableType] = []
    for bot in made.bots:
        verb = "Made" if bot.is_new else "Changed" if made.hashes else "Nothing was changed in"
        parts.append(
            Text.assemble(
                "\n", ("✓ ", "green"), f"{verb} ", (clean(bot.bot_name), "bold"), f" ({bot.bot_slug})"
            )
        )
        parts.append(
            key_values(
                [
                    ("soul", bot.soul_path),
                    ("identity", bot.identity_path),
                    ("user", bot.user_path),
                    ("skills", ", ".join(bot.skills_attached) or None),
                    ("talk to it", f"forge chat {bot.bot_slug}"),
                ]
            )
        )
    if made.skill is not None:
        parts.append(
            Text.assemble("\n", ("✓ ", "green"), "Wrote the skill ", (clean(made.skill.name), "bold"))
        )
        parts.append(key_values([("folder", made.skill.folder), ("description", made.skill.description)]))
    return Group(*parts)


def drafts_table(drafts: Sequence[DraftSummary]) -> Table:
    rows = table("DESCRIPTION", "MODE", "PHASE", "ANSWERS", "CHANGED", "ID", wrapped={"DESCRIPTION"})
    at = now()
    for draft in drafts:
        phase = words(draft.problem, "red") if draft.problem else words(draft.phase.value)
        rows.add_row(
            words(draft_title(draft)),
            draft.mode.value,
            phase,
            str(draft.question_count),
            ago(draft.updated_at, at),
            draft.session_id,
        )
    return rows


def draft_title(draft: DraftSummary) -> str:
    return shorten(one_line(draft.initial_description or draft.name or "without a description"), MAX_CELL)


def memory_table(entries: Iterable[MemoryEntry]) -> Table:
    rows = table(
        "WHEN",
        "KIND",
        "DESCRIPTION",
        "TONE",
        "MODEL",
        "SKILLS",
        "BOT",
        "ID",
        wrapped={"DESCRIPTION", "SKILLS"},
    )
    at = now()
    for entry in entries:
        rows.add_row(
            ago(entry.created_at, at),
            words(entry.purpose_category.replace("_", " ")),
            words(" ".join(entry.initial_description.split())),
            words(entry.chosen_tone or ""),
            words(entry.chosen_model or ""),
            words(", ".join(entry.chosen_skills)),
            words(entry.bot_slug or ""),
            entry.id,
        )
    return rows


def session_page(view: SessionView) -> RenderableType:
    """The whole conversation, and where it stands."""
    said: list[RenderableType] = []
    for line in view.lines:
        head = f"\n{clean(phase_label(view.mode, line.phase))}\n"
        said.append(Text.assemble((head, FAINT), (clean(line.question), "bold"), "\n", answered(line.answer)))
    pairs = [
        ("session", view.session_id),
        ("mode", view.mode.value),
        ("about", view.initial_description or None),
        ("stands at", "finished" if view.made else phase_label(view.mode, view.phase)),
        ("asked by", speaker_line(view.spoken_by)),
        ("cost", dollars(view.cost_micros)),
        ("changed", ago(view.updated_at, now())),
    ]
    ending = made_page(view.made) if view.made else preview_panel(view.preview, view.mode)
    return Group(key_values(pairs), *said, Text(""), ending)


def faint(text: str) -> Text:
    return words(text, FAINT)


def heading(text: str) -> Text:
    return words(f"\n{text}", "bold")
