"""The dialogue as a model is shown it: what was really asked and answered, and last what holds now.

What changes from turn to turn stands only in the last message; everything before it is sent again as it was.
"""

import re

from forge.interview.budget import budget_of
from forge.interview.categories import purpose_name
from forge.interview.completing import missing
from forge.interview.phases import Mode
from forge.interview.speaking.instructions import SYSTEMS
from forge.interview.state import Asked, Exchange, State
from forge.interview.turns import AskQuestion, Clarify, ReadyToAssemble, ReadyToCreateSkill, ShowPreview
from forge.llm.messages import AssistantMessage, Text, UserMessage, said
from forge.llm.models import Prompt
from forge.skills.models import SKILL_MD

MAX_ONE = 4_000
"""Characters of a description, an answer or a file; of a longer one the beginning."""
_TAG = re.compile(r"<(?=\s*[/!?A-Za-z])")
MAX_IN_A_LIST = 30
MAX_OUTPUT = 4_000


def prompt_for(state: State) -> Prompt:
    """For the model's next turn."""
    messages: list[UserMessage | AssistantMessage] = [said(_opening(state))]
    for exchange in state.exchanges:
        question = _asked(exchange.asked).strip() or "(a question)"
        messages.append(AssistantMessage(parts=[Text(text=plain(question))]))
        messages.append(said(framed("answer", exchange.label)))
    settled = len(messages) - 1
    messages.append(said(_now(state)))
    return Prompt(system=SYSTEMS[state.mode], messages=messages, max_output=MAX_OUTPUT, settled=[settled])


def framed(name: str, text: str, most: int = MAX_ONE) -> str:
    return f"<{name}>\n{plain(text, most)}\n</{name}>"


def plain(text: str, most: int = MAX_ONE) -> str:
    """Nothing that was said can end its own frame. All else stays as it is: a model copies from it into settings."""
    cut = text if len(text) <= most else f"{text[:most]} […]"
    return _TAG.sub("&lt;", cut.strip())


def _opening(state: State) -> str:
    """What the interview began with."""
    parts = [framed("description", state.description or "(nothing was said yet)"), *_basis(state)]
    facts = "\n\n".join(part for part in _facts(state) if part)
    return "\n\n".join([*parts, f"<facts>\n{facts}\n</facts>"] if facts else parts)


def _basis(state: State) -> list[str]:
    basis, parts = state.basis, list[str]()
    if basis.bot_slug is not None:
        parts.append(f"The bot that is changed: {plain(basis.bot_slug)}")
    if basis.variants:
        parts.append(f"How many variants are wanted: {basis.variants}")
    if (soul := basis.soul or basis.old_soul) is not None:
        parts.append(f"The soul it has; it is kept as it is unless it is to change:\n{framed('soul', soul)}")
    if basis.skill_files is not None:
        text = basis.skill_files.files.get(SKILL_MD, "")
        parts.append(f"The skill that is changed:\n{framed('skill', text)}")
    return parts


def _facts(state: State) -> list[str]:
    facts = state.facts
    if state.mode is Mode.SKILL:
        return [_listed("Skills that exist already", facts.skill_names)]
    skills = [f"{skill.name}: {skill.description} ({skill.reason})" for skill in facts.skills]
    models = [
        f"{model.ref}: {model.label}. {model.reason}{'' if model.has_key else ' (no key is set for it yet)'}"
        for model in facts.models
    ]
    earlier = [
        f"“{one.initial_description}”: tone {one.chosen_tone or 'not chosen'}, model {one.chosen_model or 'default'}, "
        f"skills {', '.join(one.chosen_skills) or 'none'}"
        for one in facts.remembered
    ]
    return [
        _listed("Skills in the library, the most suitable first", skills),
        _listed("Models it could run on", models),
        _listed("What this person chose for bots of this kind before", earlier),
        _listed("Names that are taken", facts.bot_names),
    ]


def _listed(title: str, lines: list[str]) -> str:
    shown = "\n".join(f"- {plain(' '.join(line.split()), 600)}" for line in lines[:MAX_IN_A_LIST])
    return f"{title}:\n{shown}" if shown else ""


def _asked(asked: Asked) -> str:
    match asked.turn:
        case AskQuestion(question=question, options=options):
            labels = (f"{number}. {option.label}" for number, option in enumerate(options, 1))
            return "\n".join([question, *labels])
        case Clarify(message=message):
            return message
        case ShowPreview():
            return "This is what I have so far. Shall we go on like this?"
        case ReadyToAssemble() | ReadyToCreateSkill():
            return "That is all I need. It can be made now, or changed."


def _now(state: State) -> str:
    budget = budget_of(state)
    known = state.config.model_dump_json(exclude_none=True)
    needed = missing(state)
    lines = [
        f"Turns so far: {len(state.exchanges)}.",
        f"Questions answered: {state.question_count}; at least {budget.fewest}, at most {budget.most} in all.",
        f"It looks like: {plain(purpose_name(state.purpose))}.",
        f"Known so far: {plain(known, 3 * MAX_ONE)}",
        f"Still needed: {plain('; '.join(needed)) or 'nothing; ask only what makes it better'}.",
        *_set_aside(state),
    ]
    return "<now>\n" + "\n".join(lines) + "\n</now>\n\nGive your next turn."


def _set_aside(state: State) -> list[str]:
    aside = [one for one in state.set_aside if not isinstance(one.asked.turn, ShowPreview)]
    if not aside:
        return []
    return ["Set aside when an earlier answer was changed:", *map(_aside, aside)]


def _aside(exchange: Exchange) -> str:
    question = _asked(exchange.asked).partition("\n")[0]
    return f"{exchange.number}. {plain(question, 300)} Answer: {plain(exchange.label, 300)}"
