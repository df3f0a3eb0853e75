"""Questions about a bot: its basics, its model and its skills."""

from forge.interview.domain.build_config import DEFAULT_MODEL, MAX_PASSAGE, MAX_SKILLS, Fields, SkillRequest
from forge.interview.domain.categories import KnownPurpose, defaults_for
from forge.interview.domain.config_builder import purpose_text, purpose_with_audience
from forge.interview.domain.dialogue import MIN_OPTIONS, Mode
from forge.interview.domain.names import make_unique, suggest_names
from forge.interview.domain.state import Asked, ModelOffer, State
from forge.interview.domain.text_analysis import join_words, one_line, salient_words, shorten, words
from forge.interview.guide.questions import (
    Choice,
    QuestionContext,
    build_clarification,
    build_question,
    move_to_front,
)
from forge.skills.models import SkillOffer

KINDS = {
    KnownPurpose.SIMPLE_UTILITY: (
        "Quick everyday help",
        "Reminders, conversions, short answers: few words, done at once.",
    ),
    KnownPurpose.CUSTOMER_SERVICE: ("Helping customers", "Answers questions and complaints with patience."),
    KnownPurpose.CREATIVE: (
        "Writing and ideas",
        "Texts, stories, slogans, names: more imagination than precision.",
    ),
    KnownPurpose.CODING: ("Programming", "Writes, explains and reviews code; careful rather than inventive."),
    KnownPurpose.RESEARCH: ("Research", "Reads, compares and summarizes; says where things come from."),
    KnownPurpose.COMPLEX_ANALYST: (
        "Analysis and reports",
        "Numbers and long documents; thorough and structured.",
    ),
}

_OFFERED = (
    *(
        KnownPurpose.SIMPLE_UTILITY,
        KnownPurpose.CREATIVE,
        KnownPurpose.RESEARCH,
        KnownPurpose.CODING,
        KnownPurpose.CUSTOMER_SERVICE,
    ),
)
"""Without the analyst: there is no room for all, and descriptions of analysts are nearly always
recognized."""
_AUDIENCES = {
    KnownPurpose.CUSTOMER_SERVICE: (
        ("customers", "Customers", "They want a solution and a kind word, not internal terms."),
        (
            "colleagues",
            "Colleagues who answer customers",
            "It writes drafts that a person sends, so it can be more frank.",
        ),
        (
            "prospects",
            "People who have not bought yet",
            "They need to find out what suits them, without pressure.",
        ),
    ),
    KnownPurpose.RESEARCH: (
        ("myself", "Mainly me", "It can take your knowledge of the field for granted."),
        ("students", "Students", "They need the steps and the sources, not only the result."),
        ("public", "People outside the field", "Everything has to be explained in plain words."),
    ),
    KnownPurpose.COMPLEX_ANALYST: (
        ("deciders", "People who decide", "They need the point first, then the numbers behind it."),
        ("analysts", "Other analysts", "They also want the method and the uncertainty."),
        ("myself", "Mainly me", "It can take your context for granted."),
    ),
}
_AUDIENCE_TEXTS = {"myself": "the person who made it"}
_DEFAULT_AUDIENCES = (
    ("myself", "Mainly me", "It can take your context for granted."),
    ("team", "My team", "Several people should be able to follow it."),
    ("public", "Anyone", "It assumes no prior knowledge and is careful with promises."),
)


def ask_purpose(context: QuestionContext) -> Asked:
    message = (
        "What should it do? One or two sentences are enough, for example: “answers questions about our "
        "products” or “turns my meeting notes into a list of tasks”."
    )
    return build_clarification(
        context, message, free="description" if context.mode is Mode.SKILL else "purpose"
    )


def ask_category(context: QuestionContext, state: State) -> Asked:
    about = shorten(one_line(state.config.description or state.config.purpose or ""), 80)
    usual = defaults_for(state.purpose).bot_category.value
    choices = [
        Choice(
            *("custom", "A bit of everything"),
            "It adapts to the people it talks to; nothing is decided for you.",
            Fields(category=usual),
        ),
        *(
            Choice(known.value, *KINDS[known], Fields(category=defaults_for(known).bot_category.value))
            for known in _OFFERED
        ),
    ]
    question = f"“{about}”: what comes closest? Or say in your own words what it should do."
    return build_question(context, question, choices, free="purpose")


def ask_name(context: QuestionContext, state: State) -> Asked:
    about = state.config.description or state.config.purpose or state.description
    names = suggest_names(about, state.purpose, state.facts.bot_names)
    choices = [
        Choice(f"name-{number}", name, _why_name(number, name, about), Fields(name=name))
        for number, name in enumerate(names, start=1)
    ]
    if len(choices) == 1:
        second = make_unique(f"{names[0]} II", state.facts.bot_names)
        choices.append(Choice("name-2", second, "The same name, for a second bot.", Fields(name=second)))
    question = "What should it be called?"
    if context.mode is Mode.BATCH:
        question = "What name should they share? Each gets a suffix of its own."
    return build_question(context, question, choices, free="name")


def _why_name(number: int, name: str, about: str) -> str:
    parts = name.lower().split()
    matching = " ".join(
        one for one in salient_words(about) if any(one.startswith(part[:4]) for part in parts)
    )
    if not matching:
        return "A proper name: short, and easy to say."
    reasons = (
        f"The most descriptive one: you wrote “{matching}”.",
        f"Says what it is about, “{matching}”, and leaves room for more.",
        f"It contains “{matching}”, and sounds like a colleague.",
    )
    return reasons[min(number, len(reasons)) - 1]


def ask_audience(context: QuestionContext, state: State) -> Asked:
    purpose = state.purpose
    audiences = (
        _AUDIENCES.get(purpose, _DEFAULT_AUDIENCES)
        if isinstance(purpose, KnownPurpose)
        else _DEFAULT_AUDIENCES
    )
    choices = [
        Choice(
            id, label, reason, Fields(purpose=purpose_with_audience(state, _AUDIENCE_TEXTS.get(id, label)))
        )
        for id, label, reason in audiences
    ]
    is_own = not {"my", "me"}.isdisjoint(words(state.config.description or ""))
    ordered = move_to_front(choices, "myself" if is_own else None)
    return build_question(context, "Who will it work for?", ordered, free="purpose")


def ask_other_purpose(context: QuestionContext, state: State) -> Asked:
    now = state.config.purpose or purpose_text(state.config) or "It helps."
    choices = [
        Choice(
            *("narrower", "Only that, and nothing else"),
            "It declines what does not belong to its task: easier to trust.",
            _extended_purpose(now, "It stays with this task and politely declines the rest."),
        ),
        Choice(
            *("broader", "That, and closely related tasks"),
            "It also helps when a question goes a little further.",
            _extended_purpose(now, "It also helps with what lies close to this."),
        ),
    ]
    return build_question(
        context, "What should it be for? Say it in your own words to replace it.", choices, free="purpose"
    )


def _extended_purpose(now: str, more: str) -> Fields:
    return Fields(purpose=f"{shorten(now, MAX_PASSAGE - len(more) - 1)} {more}")


MAX_MODELS = 4
LONG_ANSWERS = 8192

CREATIVITY = {
    "precise": (
        0.2,
        "Precise",
        "The same question gets nearly the same answer. Best for facts, code and rules.",
    ),
    "balanced": (0.6, "Balanced", "Reliable, but not stiff. Best when it both informs and converses."),
    "inventive": (
        1.0,
        "Inventive",
        "Surprising turns, and now and then a wrong one. Best for ideas and texts.",
    ),
}
LENGTHS = {
    "short": (1024, "Short: a paragraph or two", "Quick to read and cheap."),
    "medium": (4096, "As long as needed: up to about six pages", "Enough for nearly everything."),
    "long": (LONG_ANSWERS, "Long: whole reports and files", "Nothing is cut off; long answers cost more."),
}


_ANY_DEFAULT = ModelOffer(
    ref=DEFAULT_MODEL,
    label="The model chosen for bots",
    reason="It follows Settings, Models: this bot uses the model you choose there.",
    has_key=True,
)


def ask_model(context: QuestionContext, state: State) -> Asked:
    default = next((offer for offer in state.facts.models if offer.ref == DEFAULT_MODEL), _ANY_DEFAULT)
    others = [offer for offer in state.facts.models if offer.ref != DEFAULT_MODEL]
    usable_first = sorted([default, *others], key=lambda offer: not offer.has_key)[:MAX_MODELS]
    choices = [
        Choice(offer.ref, offer.label, offer.full_reason, Fields(model=offer.ref)) for offer in usable_first
    ]
    if len(choices) < MIN_OPTIONS:
        choices.append(
            Choice(
                *("default-long", "The same, with room for long answers"),
                "Whole reports and files are not cut off; long answers cost more.",
                Fields(model=DEFAULT_MODEL, max_tokens=LONG_ANSWERS),
            )
        )
    return build_question(context, "Which model should it run on?", choices, free="model")


def ask_creativity(context: QuestionContext, state: State) -> Asked:
    usual = defaults_for(state.purpose).temperature
    nearest = min(CREATIVITY, key=lambda id: abs(CREATIVITY[id][0] - usual))
    choices = [_creativity_choice(id, usual if id == nearest else None) for id in CREATIVITY]
    return build_question(
        context, "How freely should it express itself?", move_to_front(choices, nearest), free="temperature"
    )


def _creativity_choice(id: str, usual: float | None) -> Choice:
    temperature, label, reason = CREATIVITY[id]
    why = reason if usual is None else f"{reason} The usual choice for this purpose."
    return Choice(id, label, why, Fields(temperature=temperature if usual is None else usual))


def ask_length(context: QuestionContext, state: State) -> Asked:
    usual = defaults_for(state.purpose).max_tokens
    nearest = min(LENGTHS, key=lambda id: abs(LENGTHS[id][0] - usual))
    choices = [
        Choice(id, label, reason, Fields(max_tokens=tokens))
        for id, (tokens, label, reason) in LENGTHS.items()
    ]
    return build_question(
        context, "How long may an answer be?", move_to_front(choices, nearest), free="max_tokens"
    )


MAX_SINGLE_SKILLS = 3
MAX_OFFERED_SKILLS = 5


def ask_skills(context: QuestionContext, state: State) -> Asked | None:
    """Ask which skills to add; None when there is nothing to choose from."""
    offers = state.facts.skills[:MAX_OFFERED_SKILLS]
    if not offers:
        return None
    together = [_all_offers_choice(offers)] if len(offers) > 1 else []
    choices = [
        *together,
        *(_single_offer_choice(offer) for offer in offers[:MAX_SINGLE_SKILLS]),
        Choice(
            "none",
            "None for now",
            "It stays simple without skills, and you can add some at any time.",
            Fields(skills=[]),
        ),
    ]
    question = "Which skills should it have? You can also name others from the library, or describe new ones."
    return build_question(context, question, choices, free="skills")


def ask_other_skills(context: QuestionContext, state: State) -> Asked | None:
    """Ask which skills to add or remove; None when there is neither."""
    has = state.config.skills or []
    names = {skill.name for skill in has}
    offers = [offer for offer in state.facts.skills if offer.name not in names]
    choices = [
        *(
            Choice(
                offer.name, f"Add {offer.name}", offer.reason, Fields(skills=[*has, SkillRequest.of(offer)])
            )
            for offer in offers[:MAX_SINGLE_SKILLS]
            if len(has) < MAX_SKILLS
        ),
        *(
            [
                Choice(
                    "none",
                    "Remove all of them",
                    "It stays simple and answers without skills.",
                    Fields(skills=[]),
                )
            ]
            if has
            else []
        ),
    ]
    if not choices:
        return None
    keep = Choice("keep", "Keep what it has", "This is the current setting.")
    question = "Which skills should it have? Name skills to add, or say “remove” and their names."
    return build_question(context, question, [keep, *choices], free="skills")


def _all_offers_choice(offers: list[SkillOffer]) -> Choice:
    names = [offer.name for offer in offers]
    return Choice(
        "all",
        f"All of these: {join_words(names)}",
        "They go well together, and a skill costs nothing until it is used.",
        Fields(skills=[SkillRequest.of(offer) for offer in offers]),
    )


def _single_offer_choice(offer: SkillOffer) -> Choice:
    return Choice(offer.name, f"Only {offer.name}", offer.reason, Fields(skills=[SkillRequest.of(offer)]))
