"""Parse free-text answers into settings, or ask back when that fails."""

import re
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from forge.bots.models import (
    MAX_BOT_DESCRIPTION,
    MAX_NAME,
    MAX_TAG,
    MAX_TAGS,
    MAX_TEMPERATURE,
    MAX_TOKENS,
    MAX_TONE,
    MAX_TRAIT,
)
from forge.interview.domain.build_config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    MAX_SKILLS,
    NOTHING,
    Fields,
    SkillRequest,
)
from forge.interview.domain.categories import KnownPurpose, classify, defaults_for
from forge.interview.domain.config_builder import purpose_with_audience
from forge.interview.domain.dialogue import Clarify, Mode
from forge.interview.domain.names import to_skill_name
from forge.interview.domain.parts import find_part
from forge.interview.domain.state import Asked, InterviewSpeaker, ModelOffer, State
from forge.interview.domain.text_analysis import (
    capitalize_first,
    clean_text,
    has_meaning,
    join_words,
    one_line,
    salient_words,
    shorten,
    to_sentence,
    words,
)
from forge.interview.domain.variants import create_variant
from forge.skills.models import MAX_SKILL_NAME, Capability, SkillKind

MAX_TRAITS = 10
MAX_AUDIENCE = 300

_NONE = frozenset(
    (
        *("no", "none", "nothing", "nope", "no thanks", "no thank you", "nothing special", "not really"),
        *("n/a", "-"),
    )
)
_DONE = frozenset(
    ("done", "ready", "ok", "okay", "yes", "it is there", "there", "i have", "i did", "set", "go on")
)
_FREEDOM = {
    0.2: "precise exact strict low cold factual",
    0.6: "balanced medium normal middle",
    1.0: "inventive creative free freely high wild",
}
_TEMPERATURES = {word: value for value, names in _FREEDOM.items() for word in names.split()}
_TOKENS = {"short": 1024, "brief": 1024, "medium": 4096, "normal": 4096, "long": 8192, "needed": 4096}
_KINDS = {
    SkillKind.PROMPT: ("prompt", "instructions", "instruction", "text"),
    SkillKind.SCRIPT: ("script", "python", "code", "wasm"),
    SkillKind.LOCAL: ("local", "program", "machine", "command"),
}
_LIST = re.compile(r"[,;\n]+|\s+and\s+", re.IGNORECASE)
_BULLET = re.compile(r"^[-*•]\s+")
_REMOVE = re.compile(r"(?:remove|drop|delete|without|no longer)\s+", re.IGNORECASE)
_ADD = re.compile(r"^(?:add|also|and)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")


_UNDECIDED = frozenset(
    (
        *("whatever", "you choose", "you decide", "up to you", "any", "surprise me", "i don't know"),
        *("don't know", "no idea", "not sure", "i do not know", "your choice", "no preference"),
        *("i don't care", "default", "i don't know yet", "not sure yet", "skip", "next"),
        *("egal", "keine ahnung", "ich weiß nicht", "weiß nicht", "weiß ich nicht", "such du aus"),
        *("je ne sais pas", "aucune idée", "peu importe", "no sé", "ni idea", "me da igual"),
        *("不知道", "随便", "都可以"),
    )
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Of Latin, Chinese and Arabic script."""
_RECOMMENDED_FIRST = frozenset(
    (
        *("name", "audience", "tone", "traits", "boundaries", "model", "creativity", "length", "skills"),
        *("steps", "trigger", "kind", "capabilities"),
    )
)
"""Questions of the guide whose first option is its recommendation. A model always puts the best one first."""


class UnclearAnswer(Exception):
    """The answer cannot be used. The message asks for another one."""


def parse_answer(state: State, asked: Asked, text: str) -> Fields:
    """Parse an answer. Raise only `UnclearAnswer` if it cannot be used."""
    text = clean_text(text)
    if not text:
        raise UnclearAnswer("That answer is empty. Please answer in words.")
    parse = _PARSERS.get(asked.free or "")
    if parse is None:
        raise UnclearAnswer("Please choose one of the options.")
    has_recommendation = asked.topic in _RECOMMENDED_FIRST or asked.speaker is InterviewSpeaker.MODEL
    if asked.patches and has_recommendation and _normalize(text) in _UNDECIDED:
        return asked.patches[0]
    try:
        return parse(state, asked, text)
    except ValidationError as error:
        raise UnclearAnswer("That does not fit here. Please rephrase it.") from error


# One parser per field


def _name(state: State, asked: Asked, text: str) -> Fields:
    line = one_line(text).strip("\"'“”«»` ")
    if state.mode is Mode.SKILL:
        slug = _slug(line)
        require_free_name(state, slug)
        return Fields(name=slug)
    if len(line) > MAX_NAME:
        raise UnclearAnswer(
            f"A name has at most {MAX_NAME} characters; that was {len(line)}. What should it be called?"
        )
    if not any(one.isalnum() for one in line):
        raise UnclearAnswer("A name needs a letter or a digit. What should it be called?")
    return Fields(name=line)


def is_taken(state: State, name: str) -> bool:
    """Tell whether another skill has this name. Bots may share a name."""
    return state.mode is Mode.SKILL and name in state.facts.skill_names and name != state.basis.skill_name


def require_free_name(state: State, name: str) -> None:
    if is_taken(state, name):
        raise UnclearAnswer(
            f"Skill {name} already exists. Choose another name, or start an interview that changes {name}."
        )


def _slug(line: str) -> str:
    slug = to_skill_name(line)
    if slug is None:
        raise UnclearAnswer(
            "The name of a skill consists of a-z, 0-9 and hyphens, such as `summarize-minutes`."
        )
    if len(line) > 2 * MAX_SKILL_NAME:
        raise UnclearAnswer(
            f"The name of a skill has at most {MAX_SKILL_NAME} characters, such as `summarize-minutes`."
        )
    return slug


def _description(state: State, asked: Asked, text: str) -> Fields:
    _require_meaning(text)
    known = Fields(description=shorten(one_line(text), MAX_BOT_DESCRIPTION))
    if len(text) <= MAX_BOT_DESCRIPTION:
        return known
    rest = "steps" if state.mode is Mode.SKILL else "purpose"
    return known.merged(Fields.model_validate({rest: _passage(text)}))


def is_no_answer(text: str) -> bool:
    """Check for an answer that says nothing about what was asked: a question, or that the person does not know."""
    line = _normalize(text)
    return line in _NONE | _UNDECIDED or line.endswith(_QUESTION_MARKS)


def _purpose(state: State, asked: Asked, text: str) -> Fields:
    if asked.speaker is InterviewSpeaker.MODEL and is_no_answer(text):
        return NOTHING  # the model interprets it
    if asked.topic == "audience":
        if len(text) > MAX_AUDIENCE or is_no_answer(text):
            raise UnclearAnswer("Who is it for, in a few words? For example “new colleagues”.")
        return Fields(purpose=purpose_with_audience(state, one_line(text)))
    _require_meaning(text)
    purpose = _passage(text)
    known: dict[str, Any] = {"purpose": to_sentence(purpose) if len(purpose) < MAX_PASSAGE else purpose}
    if asked.topic == "category" and state.config.description:
        known["purpose"] = _passage(f"{to_sentence(state.config.description)} {known['purpose']}")
    if not state.config.description or state.mode is Mode.RECONFIGURE:
        known["description"] = shorten(one_line(text), MAX_BOT_DESCRIPTION)
    found = classify(text)
    if state.config.category is None and isinstance(found, KnownPurpose):
        known["category"] = defaults_for(found).bot_category.value
    return Fields.model_validate(known)


def _require_meaning(text: str) -> None:
    if not has_meaning(text) or is_no_answer(text):
        raise UnclearAnswer(
            "Please say more: what should it do, and for whom? For example “answers questions about our "
            "opening hours”."
        )


def _passage(text: str) -> str:
    if len(text) > MAX_PASSAGE:
        raise UnclearAnswer(
            f"That was {len(text):,} characters; at most {MAX_PASSAGE:,} are allowed. Please shorten it."
        )
    return text


def _tone(state: State, asked: Asked, text: str) -> Fields:
    line = one_line(text)
    if len(line) > MAX_TONE:
        raise UnclearAnswer(
            f"A tone is a few words, at most {MAX_TONE} characters, such as “warm, but never chatty”."
        )
    return Fields(tone=line)


def _traits(state: State, asked: Asked, text: str) -> Fields:
    traits = _split_list(
        text, MAX_TRAIT, "Traits are single words or short phrases, such as “patient, precise”."
    )
    return Fields(traits=traits[:MAX_TRAITS])


def _tags(state: State, asked: Asked, text: str) -> Fields:
    return Fields(tags=_split_list(text, MAX_TAG, "Tags are single words, separated by commas.")[:MAX_TAGS])


def _boundaries(state: State, asked: Asked, text: str) -> Fields:
    return Fields(boundaries="" if _is_none(text) else _passage(text))


def _model(state: State, asked: Asked, text: str) -> Fields:
    line = one_line(text).casefold()
    if isinstance(asked.turn, Clarify) and _normalize(text) in _DONE:
        return NOTHING
    if "default" in words(line) or line in ("whatever is chosen for bots", "whatever"):
        return Fields(model=DEFAULT_MODEL)
    offers = state.facts.models
    exact = [one for one in offers if line in (one.ref.casefold(), one.label.casefold())]
    alike = exact or [one for one in offers if _is_about(line, one)]
    if len(alike) == 1:
        return Fields(model=alike[0].ref)
    names = join_words([shorten(one.label, 40) for one in (alike or list(offers))[:6]] or [DEFAULT_MODEL])
    if alike:
        raise UnclearAnswer(f"That could be {names}. Which one?")
    raise UnclearAnswer(
        f"That model is not available here. Choose from {names}; or say “default” for the one chosen for bots."
    )


def _is_about(line: str, offer: ModelOffer) -> bool:
    """Check whether the name of the model contains every word except fillers."""
    name = set(re.findall(r"[a-z]+|\d+", f"{offer.ref} {offer.label}".casefold()))
    query = [word for word in re.findall(r"[a-z]+|\d+", line) if word not in _FILLERS]
    return bool(query) and all(word in name for word in query)


_FILLERS = frozenset(
    ("the", "a", "use", "take", "model", "please", "with", "one", "i", "want", "would", "like")
)


def _temperature(state: State, asked: Asked, text: str) -> Fields:
    if number := _NUMBER.search(text):
        value = float(number[0].replace(",", "."))
        if not 0 <= value <= MAX_TEMPERATURE:
            raise UnclearAnswer(
                f"Enter a number from 0 (always the same) to {MAX_TEMPERATURE} (very free), such as 0.7."
            )
        return Fields(temperature=value)
    for word in words(text):
        if word in _TEMPERATURES:
            return Fields(temperature=_TEMPERATURES[word])
    raise UnclearAnswer("Answer precise, balanced or inventive, or a number from 0 to 2, such as 0.7.")


def _max_tokens(state: State, asked: Asked, text: str) -> Fields:
    if number := re.search(r"\d[\d.,' ]*", text):
        value = int(re.sub(r"\D", "", number[0])[:9])
        if not 1 <= value <= MAX_TOKENS:
            raise UnclearAnswer(
                f"Enter a number of tokens from 1 to {MAX_TOKENS:,}; 4,096 tokens are about six pages."
            )
        return Fields(max_tokens=value)
    for word in words(text):
        if word in _TOKENS:
            return Fields(max_tokens=_TOKENS[word])
    raise UnclearAnswer("Answer short, medium or long, or a number of tokens, such as 4096.")


def _skills(state: State, asked: Asked, text: str) -> Fields:
    if _is_none(text):
        return Fields(skills=[])
    is_change = state.mode is Mode.RECONFIGURE
    has = (state.config.skills or []) if is_change else []
    if is_change and (less := _REMOVE.match(text)):
        away = {
            to_skill_name(part)
            for part in _split_list(
                text[less.end() :], 200, "Name the skills to remove, such as “remove summarize”."
            )
        }
        return Fields(skills=[skill for skill in has if skill.name not in away])
    text = _ADD.sub("", text) if is_change else text
    parts = _split_list(text, 200, "Name the skills separated by commas, such as “summarize, code-review”.")
    found = {request.name: request for part in parts if (request := _skill(state, part))}
    every = {skill.name: skill for skill in has} | found
    if len(every) > MAX_SKILLS:
        raise UnclearAnswer(f"A bot has at most {MAX_SKILLS} skills; that would be {len(every)}.")
    if not found:
        raise UnclearAnswer(
            "The name of a skill consists of a-z, 0-9 and hyphens, such as `summarize-minutes`."
        )
    return Fields(skills=list(every.values()))


def _skill(state: State, part: str) -> SkillRequest | None:
    """Find a skill in the library, or request a new one with these words as its description."""
    slug = to_skill_name(part)
    if slug is None:
        return None
    for offer in state.facts.skills:
        if offer.name == slug:
            return SkillRequest.of(offer)
    return SkillRequest(name=slug, description=to_sentence(part))


def _variants(state: State, asked: Asked, text: str) -> Fields:
    others = list(state.config.variants or [])
    base, number = state.config.name or "Bot", len(others) + 1
    about = [capitalize_first(word) for word in salient_words(text)[:2]]
    is_short = len(words(text)) <= 4
    name = f"{base} {' '.join(about)}" if about and is_short else f"{base} {number}"
    variant = create_variant(name, to_sentence(_passage(text)), others, state.facts.bot_names)
    return Fields(variants=[*others, variant])


def _kind(state: State, asked: Asked, text: str) -> Fields:
    every = words(text)
    found = [kind for kind, names in _KINDS.items() if any(name in every for name in names)]
    if len(found) != 1:
        raise UnclearAnswer("Which one is it: instructions, script or program?")
    return Fields(kind=found[0])


def _trigger(state: State, asked: Asked, text: str) -> Fields:
    return Fields(trigger=to_sentence(_passage(text)[: MAX_PASSAGE - 1]))


def _steps(state: State, asked: Asked, text: str) -> Fields:
    known = Fields(steps=_passage(text))
    if state.config.description:
        return known
    return known.merged(Fields(description=shorten(one_line(text), MAX_BOT_DESCRIPTION)))


def _capabilities(state: State, asked: Asked, text: str) -> Fields:
    if _is_none(text):
        return Fields(capabilities=[])
    names = text.casefold().replace("-", "_").replace(" ", "_")
    found = [one for one in Capability if re.search(rf"(?<![a-z]){one.value}(?![a-z])", names)]
    if not found:
        raise UnclearAnswer(f"Choose from {join_words([one.value for one in Capability])}, or none.")
    return Fields(capabilities=found)


def _what(state: State, asked: Asked, text: str) -> Fields:
    """Check that the answer names a part to change. It sets nothing yet."""
    if find_part(state.mode, text) is None:
        raise UnclearAnswer("Which part should change: its name, purpose, personality, model or skills?")
    return NOTHING


def _is_none(text: str) -> bool:
    return _normalize(text) in _NONE


def _normalize(text: str) -> str:
    return one_line(text).casefold().replace("\u2019", "'").strip(".! ")


def _split_list(text: str, max_length: int, error_message: str) -> list[str]:
    parts = [_BULLET.sub("", one_line(part)).strip(" \"'“”").rstrip(".") for part in _LIST.split(text)]
    found = list({part.casefold(): part for part in reversed(parts) if part}.values())[::-1]
    if not found or any(len(part) > max_length for part in found):
        raise UnclearAnswer(error_message)
    return found


_PARSERS: dict[str, Callable[[State, Asked, str], Fields]] = {
    "name": _name,
    "description": _description,
    "tags": _tags,
    "tone": _tone,
    "traits": _traits,
    "purpose": _purpose,
    "boundaries": _boundaries,
    "model": _model,
    "temperature": _temperature,
    "max_tokens": _max_tokens,
    "skills": _skills,
    "variants": _variants,
    "kind": _kind,
    "trigger": _trigger,
    "steps": _steps,
    "capabilities": _capabilities,
    "what": _what,
}
