"""Options that Forge adds to a question of the guide or the model: skip, same as last time, set up a
model."""

from typing import Literal

from forge.interview.domain.build_config import DEFAULT_MODEL, NOTHING, Fields, SkillRequest
from forge.interview.domain.categories import defaults_for
from forge.interview.domain.dialogue import (
    MAX_LABEL,
    MAX_OPTIONS,
    MAX_REASON,
    MIN_OPTIONS,
    AskQuestion,
    Mode,
    Phase,
    QuestionOption,
)
from forge.interview.domain.state import Asked, Remembered, State
from forge.interview.domain.text_analysis import join_words, one_line, shorten

SKIP_FROM = 4
"""Answers after which the rest may be skipped."""

Extra = tuple[Literal["skip", "same", "setup"], QuestionOption, Fields]


def add_extra_options(state: State, asked: Asked) -> Asked:
    """Append the extra options. The last options of the question give way when there are too many."""
    if not isinstance(asked.turn, AskQuestion) or asked.extras:
        return asked
    extras = _extra_options(state, asked)[: MAX_OPTIONS - MIN_OPTIONS]
    if not extras:
        return asked
    own = asked.turn.options[: MAX_OPTIONS - len(extras)]
    options = [*own, *(option for _, option, _ in extras)]
    patches = [*asked.patches, *([NOTHING] * len(own))][: len(own)]
    return asked.model_copy(
        update={
            "turn": asked.turn.model_copy(update={"options": options}),
            "patches": [*patches, *(patch for _, _, patch in extras)],
            "extras": {len(own) + index: kind for index, (kind, _, _) in enumerate(extras)},
        }
    )


def _extra_options(state: State, asked: Asked) -> list[Extra]:
    extras = [
        _same(state) if _may_reuse(state, asked) else None,
        _setup(state) if _may_set_up(state, asked) else None,
        _skip(state) if _may_skip(state, asked) else None,
    ]
    taken = (
        {option.id for option in asked.turn.options} if isinstance(asked.turn, AskQuestion) else set[str]()
    )
    return [extra for extra in extras if extra is not None and extra[0] not in taken]


def _may_skip(state: State, asked: Asked) -> bool:
    is_own = asked.topic.startswith(("capability:", "what"))
    return (
        state.mode is not Mode.SKILL
        and state.question_count >= SKIP_FROM
        and asked.turn.phase is not Phase.REVIEW
        and not is_own
    )


def _skip(state: State) -> Extra:
    is_change = state.mode is Mode.RECONFIGURE
    usual = [] if is_change or state.config.skills is not None else _usual_skills(state)
    more = f" Skills: {join_words([skill.name for skill in usual])}." if usual else ""
    option = QuestionOption(
        id="skip",
        label="Skip the rest: leave it as it is" if is_change else "Skip the rest: use sensible defaults",
        reason=f"What you said so far is enough; you see everything before it is created.{more}",
    )
    return "skip", option, Fields(skills=usual) if usual else NOTHING


def _usual_skills(state: State) -> list[SkillRequest]:
    """Return the default skills of the purpose that are in the library."""
    usual = defaults_for(state.purpose).skills
    return [SkillRequest.of(offer) for offer in state.facts.skills if offer.name in usual]


def _may_reuse(state: State, asked: Asked) -> bool:
    """Offer it once: at the first question about the personality."""
    asked_before = any(one.asked.turn.phase is Phase.PERSONALITY for one in state.exchanges)
    is_new = state.mode in (Mode.BOT, Mode.BATCH)
    return (
        is_new and asked.turn.phase is Phase.PERSONALITY and not asked_before and bool(state.facts.remembered)
    )


def _same(state: State) -> Extra | None:
    last = state.facts.remembered[0]
    patch = _remembered_fields(state, last)
    if not patch.model_fields_set:
        return None
    bot = f" for {last.bot_slug}" if last.bot_slug else ""
    about = shorten(one_line(last.initial_description), 120)
    reason = f"You chose this{bot}" + (f": “{about}”." if about else ".")
    label = shorten(f"Same as last time: {_describe(state, patch)}", MAX_LABEL)
    return "same", QuestionOption(id="same", label=label, reason=shorten(reason, MAX_REASON)), patch


def _remembered_fields(state: State, last: Remembered) -> Fields:
    """Return the remembered choices that are still available."""
    known: dict[str, object] = {}
    if last.chosen_tone:
        known["tone"] = last.chosen_tone
    if last.chosen_model in {DEFAULT_MODEL, *(offer.ref for offer in state.facts.models)}:
        known["model"] = last.chosen_model
    if skills := [name for name in last.chosen_skills if name in state.facts.skill_names]:
        offers = {offer.name: offer for offer in state.facts.skills}
        known["skills"] = [
            SkillRequest.of(offers[name]) if name in offers else SkillRequest(name=name) for name in skills
        ]
    return Fields.model_validate(known)


def _describe(state: State, patch: Fields) -> str:
    labels = {offer.ref: offer.label for offer in state.facts.models}
    parts: list[str] = []
    if patch.tone:
        parts.append(f"{patch.tone} tone")
    if patch.model:
        is_default = patch.model == DEFAULT_MODEL
        parts.append("the model chosen for bots" if is_default else labels.get(patch.model, patch.model))
    if patch.skills:
        parts.append(join_words([skill.name for skill in patch.skills]))
    return ", ".join(parts)


def _may_set_up(state: State, asked: Asked) -> bool:
    """Offer it at the first question about the model, until that is answered."""
    is_later = any(
        one.asked.turn.phase is Phase.MODEL and isinstance(one.asked.turn, AskQuestion)
        for one in state.exchanges
    )
    return state.mode.makes_bots and asked.turn.phase is Phase.MODEL and not is_later


def _setup(state: State) -> Extra | None:
    if any(offer.has_key for offer in state.facts.models):
        return None
    option = QuestionOption(
        id="setup",
        label="Set up a model first",
        reason="No provider has a key yet: the bot can be created without one, but it cannot answer before that.",
    )
    return "setup", option, NOTHING
