"""Questions about the personality of a bot: its tone, traits and boundaries."""

from forge.interview.domain.build_config import Fields
from forge.interview.domain.categories import KnownPurpose, Purpose, defaults_for
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Asked, State
from forge.interview.domain.text_analysis import capitalize_first, join_words, words
from forge.interview.guide.bot_questions import KINDS
from forge.interview.guide.questions import Choice, QuestionContext, build_question

MAX_TONES = 5

TONES = {
    "direct": ("Direct", "short, to the point, no small talk", "quick tasks and busy people"),
    "analytical": (
        "Analytical",
        "sober, structured, shows how it got there",
        "numbers, reports and decisions",
    ),
    "expressive": (
        "Expressive",
        "vivid, full of images, takes chances",
        "texts that should not sound like everyone else's",
    ),
    "technical": ("Technical", "exact terms, few words, examples in code", "people who know the subject"),
    "scholarly": (
        "Scholarly",
        "careful, names sources and what is uncertain",
        "work that others have to be able to check",
    ),
    "empathetic": (
        "Empathetic",
        "patient and kind, takes feelings seriously",
        "people with a problem or a complaint",
    ),
    "adaptive": (
        "Adaptive",
        "picks up the tone of the person it talks to",
        "many kinds of people and questions",
    ),
    "friendly": ("Friendly", "warm and relaxed, without being chatty", "everyday conversations"),
    "formal": ("Formal", "polite, reserved, complete sentences", "letters, customers and authorities"),
    "playful": ("Playful", "light, with humour", "routine that should be more fun"),
}
_TONE_SYNONYMS = {
    "friendly": "warm warmer casual relaxed friendlier",
    "empathetic": "kind kinder patient gentle caring",
    "playful": "funny funnier witty humorous humour",
    "formal": "polite professional formally",
    "direct": "concise brief strict shorter",
    "analytical": "sober",
    "scholarly": "academic",
}
_TONE_BY_SYNONYM = {word: tone for tone, synonyms in _TONE_SYNONYMS.items() for word in synonyms.split()}
_OTHER_TONES: dict[KnownPurpose | None, tuple[str, ...]] = {
    KnownPurpose.SIMPLE_UTILITY: ("friendly", "formal", "playful", "adaptive"),
    KnownPurpose.COMPLEX_ANALYST: ("direct", "scholarly", "formal", "friendly"),
    KnownPurpose.CREATIVE: ("playful", "friendly", "formal", "direct"),
    KnownPurpose.CODING: ("direct", "friendly", "analytical", "playful"),
    KnownPurpose.RESEARCH: ("analytical", "direct", "friendly", "formal"),
    KnownPurpose.CUSTOMER_SERVICE: ("friendly", "formal", "direct", "playful"),
    None: ("friendly", "direct", "formal", "playful"),
}
_TRAIT_SETS: dict[KnownPurpose | None, tuple[tuple[str, tuple[str, ...], str], ...]] = {
    KnownPurpose.SIMPLE_UTILITY: (
        ("friendly", ("cheerful", "quick"), "A little warmth without more words."),
        ("careful", ("careful", "reliable", "concise"), "It would rather check twice than be wrong once."),
    ),
    KnownPurpose.COMPLEX_ANALYST: (
        (
            "sceptical",
            ("sceptical", "precise", "honest about gaps"),
            "It questions the data before it trusts it.",
        ),
        ("clear", ("clear", "pragmatic", "decisive"), "It ends with what to do, not only with what is."),
        ("curious", ("curious", "thorough", "creative"), "It looks beyond the question."),
    ),
    KnownPurpose.CREATIVE: (
        ("elegant", ("elegant", "observant", "restrained"), "Fewer effects, better sentences."),
        ("bold", ("bold", "surprising", "witty"), "It would rather be too much than too little."),
        ("warm", ("warm", "encouraging", "imaginative"), "For people who write with it, not only read."),
    ),
    KnownPurpose.CODING: (
        ("teaching", ("patient", "explaining", "precise"), "It says why, so that people learn on the way."),
        ("strict", ("strict", "security-minded", "thorough"), "It finds what others let through."),
        ("fast", ("pragmatic", "quick", "concise"), "A working version first, polish later."),
    ),
    KnownPurpose.RESEARCH: (
        ("sceptical", ("sceptical", "precise", "citation-aware"), "It is sceptical, and shows its sources."),
        ("curious", ("curious", "connecting", "thorough"), "It follows leads and sees links between fields."),
        ("clear", ("clear", "balanced", "concise"), "It makes hard things readable."),
    ),
    KnownPurpose.CUSTOMER_SERVICE: (
        ("solving", ("solution-minded", "quick", "clear"), "It goes for what can be done now."),
        ("calm", ("calm", "diplomatic", "honest"), "It stays calm when others do not."),
        ("cheerful", ("cheerful", "warm", "helpful"), "A good mood is part of the service."),
    ),
    None: (
        ("careful", ("careful", "honest", "clear"), "It says what it does not know."),
        ("curious", ("curious", "inventive", "encouraging"), "It asks back and brings ideas of its own."),
        ("quick", ("pragmatic", "quick", "concise"), "Results first, explanations on request."),
    ),
}
_BOUNDARIES: dict[KnownPurpose | None, tuple[tuple[str, str, str], ...]] = {
    KnownPurpose.CUSTOMER_SERVICE: (
        (
            "promises",
            "Never promise refunds, discounts or dates that are not confirmed.",
            "A promise made in a chat is binding.",
        ),
        (
            "person",
            "Hand over to a person when someone is angry or asks for one.",
            "People remember being stuck with a machine.",
        ),
        ("data", "Never ask for passwords or whole card numbers.", "Data that was never given cannot leak."),
    ),
    KnownPurpose.CODING: (
        (
            "destructive",
            "Never propose a command that deletes or overwrites something without a warning.",
            "People run what they copy.",
        ),
        ("secrets", "Never put passwords or keys into code.", "They end up in the history of the project."),
        ("honest", "Say what was not run or tested.", "Code that looks right may still not work."),
    ),
    KnownPurpose.RESEARCH: (
        (
            "sources",
            "Never name a source that it has not been given or is not sure of.",
            "Invented sources ruin trust in the rest.",
        ),
        ("opinion", "Keep findings and opinions apart.", "Readers have to be able to judge for themselves."),
        ("advice", "Give no medical or legal advice.", "That requires a responsible expert."),
    ),
    KnownPurpose.COMPLEX_ANALYST: (
        (
            "numbers",
            "Never state a number that is not in the data.",
            "One invented number spoils a whole report.",
        ),
        ("causes", "Do not call a correlation a cause.", "That is the most common wrong conclusion."),
        ("private", "Never name individual people in a report.", "Figures about people are sensitive."),
    ),
    None: (
        ("facts", "Never invent facts, numbers or quotations.", "People will rely on what it says."),
        (
            "advice",
            "Give no medical, legal or financial advice.",
            "That requires a responsible expert.",
        ),
        (
            "topic",
            "Stay with its subject and decline the rest politely.",
            "It is easier to trust a bot that knows what it is for.",
        ),
    ),
}


def known_purpose(purpose: Purpose) -> KnownPurpose | None:
    return purpose if isinstance(purpose, KnownPurpose) else None


def ask_tone(context: QuestionContext, state: State) -> Asked:
    purpose = state.purpose
    usual = defaults_for(purpose).tone
    wanted = _find_tone(
        state.description if state.mode is Mode.RECONFIGURE else state.config.description or ""
    )
    first = [usual] if wanted is None else [wanted[1], usual]
    tones = list(dict.fromkeys([*first, *_OTHER_TONES[known_purpose(purpose)]]))[:MAX_TONES]
    choices = [_tone_choice(tone, _why_tone(tone, usual, wanted, purpose)) for tone in tones]
    return build_question(context, "How should it talk?", choices, free="tone")


def _tone_choice(tone: str, why: str) -> Choice:
    label, what, _ = TONES[tone]
    return Choice(tone, f"{label}: {what}", why, Fields(tone=tone))


def _why_tone(tone: str, usual: str, wanted: tuple[str, str] | None, purpose: Purpose) -> str:
    best = TONES[tone][2]
    if wanted and wanted[1] == tone:
        return f"Your description says “{wanted[0]}”. Best for {best}."
    if tone == usual and isinstance(purpose, KnownPurpose):
        return f"The usual choice for {KINDS[purpose][0].lower()}. Best for {best}."
    return f"Best for {best}."


def _find_tone(description: str) -> tuple[str, str] | None:
    """Find a word of the description that names a tone, and that tone."""
    for word in words(description):
        tone = _TONE_BY_SYNONYM.get(word, word)
        if tone in TONES:
            return word, tone
    return None


def ask_traits(context: QuestionContext, state: State) -> Asked:
    purpose = state.purpose
    usual = list(defaults_for(purpose).traits)
    kind = KINDS[purpose][0].lower() if isinstance(purpose, KnownPurpose) else "a special purpose"
    choices = [
        Choice(
            "usual", capitalize_first(join_words(usual)), f"A good start for {kind}.", Fields(traits=usual)
        ),
        *(
            Choice(id, capitalize_first(join_words(list(traits))), reason, Fields(traits=list(traits)))
            for id, traits, reason in _TRAIT_SETS[known_purpose(purpose)]
        ),
    ]
    return build_question(context, "What should people notice about its character?", choices, free="traits")


def ask_boundaries(context: QuestionContext, state: State) -> Asked:
    limits = _BOUNDARIES.get(known_purpose(state.purpose), _BOUNDARIES[None])
    every = "\n".join(f"- {limit}" for _, limit, _ in limits)
    all_of_them = Choice("all", "All of these", _combined_reason(limits), Fields(boundaries=every))
    choices = [
        all_of_them,
        *(Choice(id, limit, reason, Fields(boundaries=f"- {limit}")) for id, limit, reason in limits),
        Choice(
            *("none", "Nothing beyond the usual"),
            "Every bot is already told to be honest and do no harm.",
            Fields(boundaries=""),
        ),
    ]
    return build_question(context, "Which rules should it always keep to?", choices, free="boundaries")


def _combined_reason(limits: tuple[tuple[str, str, str], ...]) -> str:
    return "They can be combined: " + " ".join(limit for _, limit, _ in limits)
