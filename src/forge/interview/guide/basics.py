"""Questions about what a bot is: what it is for, whom it serves, how it is called."""

from forge.interview.categories import Known, defaults_for
from forge.interview.completing import for_audience, purpose_text
from forge.interview.config import MAX_PASSAGE, Fields
from forge.interview.guide.questions import Choice, Place, ask, clarify, first_of
from forge.interview.naming import names_for
from forge.interview.phases import Mode
from forge.interview.state import Asked, State
from forge.interview.wording import one_line, salient, shortened, words

KINDS = {
    Known.SIMPLE_UTILITY: (
        "Quick everyday help",
        "Reminders, conversions, short answers: few words, done at once.",
    ),
    Known.CUSTOMER_SERVICE: ("Helping customers", "Answers questions and complaints with patience."),
    Known.CREATIVE: ("Writing and ideas", "Texts, stories, slogans, names: more imagination than precision."),
    Known.CODING: ("Programming", "Writes, explains and reviews code; careful rather than inventive."),
    Known.RESEARCH: ("Research", "Reads, compares and summarises; says where things come from."),
    Known.COMPLEX_ANALYST: ("Analysis and reports", "Numbers and long documents; thorough and structured."),
}

_OFFERED = (*(Known.SIMPLE_UTILITY, Known.CREATIVE, Known.RESEARCH, Known.CODING, Known.CUSTOMER_SERVICE),)
"""An analyst is nearly always told by the words; and there is no room for all."""
_AUDIENCES = {
    Known.CUSTOMER_SERVICE: (
        ("customers", "Customers", "They want a solution and a kind word, not our terms."),
        ("colleagues", "Colleagues who answer customers", "It drafts, a person sends: it may be franker."),
        (
            "prospects",
            "People who have not bought yet",
            "They need to understand what suits them, without pressure.",
        ),
    ),
    Known.RESEARCH: (
        ("myself", "Mainly me", "It may take your knowledge of the field for granted."),
        ("students", "Students", "They need the steps and the sources, not only the result."),
        ("public", "People outside the field", "Everything has to be said in plain words."),
    ),
    Known.COMPLEX_ANALYST: (
        ("deciders", "People who decide", "They need the point first, then the numbers behind it."),
        ("analysts", "Other analysts", "They want the method and the uncertainty, too."),
        ("myself", "Mainly me", "It may take your context for granted."),
    ),
}
_IN_WORDS = {"myself": "the person who made it"}
_ANYBODY = (
    ("myself", "Mainly me", "It may take your context for granted."),
    ("team", "My team", "It should explain itself to several people."),
    ("public", "Anybody", "It assumes no knowledge and is careful with what it promises."),
)


def ask_purpose(place: Place) -> Asked:
    message = (
        "What should it do? One or two sentences are enough, for instance: “answers questions about our "
        "products” or “turns my meeting notes into a list of tasks”."
    )
    return clarify(place, message, free="description" if place.mode is Mode.SKILL else "purpose")


def ask_category(place: Place, state: State) -> Asked:
    about = shortened(one_line(state.config.description or state.config.purpose or ""), 80)
    usual = defaults_for(state.purpose).bot_category.value
    choices = [
        Choice(
            *("custom", "A bit of everything"),
            "It adapts to whoever it talks to; nothing is decided for you.",
            Fields(category=usual),
        ),
        *(
            Choice(known.value, *KINDS[known], Fields(category=defaults_for(known).bot_category.value))
            for known in _OFFERED
        ),
    ]
    question = f"“{about}”: what comes closest? Or say in your own words what it should do."
    return ask(place, question, choices, free="purpose")


def ask_name(place: Place, state: State) -> Asked:
    about = state.config.description or state.config.purpose or state.description
    names = names_for(about, state.purpose, state.facts.bot_names)
    choices = [
        Choice(f"name-{number}", name, _why_name(number, name, about), Fields(name=name))
        for number, name in enumerate(names, start=1)
    ]
    if len(choices) == 1:
        choices.append(
            Choice("name-2", f"{names[0]} II", "The same, for a second one.", Fields(name=f"{names[0]} II"))
        )
    question = "What should it be called?"
    if place.mode is Mode.BATCH:
        question = "What name should they have in common? Each gets something of its own behind it."
    return ask(place, question, choices, free="name")


def _why_name(number: int, name: str, about: str) -> str:
    parts = name.lower().split()
    said = " ".join(one for one in salient(about) if any(one.startswith(part[:4]) for part in parts))
    if not said:
        return "A name of its own: short, and easy to say."
    reasons = (
        f"The most telling one: you wrote “{said}”.",
        f"Says what it is about, “{said}”, and leaves room for more.",
        f"“{said}” is in it, and it sounds like somebody to work with.",
    )
    return reasons[min(number, len(reasons)) - 1]


def ask_audience(place: Place, state: State) -> Asked:
    purpose = state.purpose
    audiences = _AUDIENCES.get(purpose, _ANYBODY) if isinstance(purpose, Known) else _ANYBODY
    choices = [
        Choice(id, label, reason, Fields(purpose=for_audience(state, _IN_WORDS.get(id, label))))
        for id, label, reason in audiences
    ]
    is_own = not {"my", "me"}.isdisjoint(words(state.config.description or ""))
    ordered = first_of(choices, "myself" if is_own else None)
    return ask(place, "Who will it work for?", ordered, free="purpose")


def ask_other_purpose(place: Place, state: State) -> Asked:
    now = state.config.purpose or purpose_text(state.config) or "It helps."
    choices = [
        Choice(
            *("narrower", "Only that, and nothing else"),
            "It declines what does not belong to its task: easier to trust.",
            _purpose(now, "It stays with this task and politely declines the rest."),
        ),
        Choice(
            *("broader", "That, and what lies close to it"),
            "It also helps when a question goes a little further.",
            _purpose(now, "It also helps with what lies close to this."),
        ),
    ]
    return ask(
        place, "What should it be for? Say it in your own words to replace it.", choices, free="purpose"
    )


def _purpose(now: str, more: str) -> Fields:
    return Fields(purpose=f"{shortened(now, MAX_PASSAGE - len(more) - 1)} {more}")
