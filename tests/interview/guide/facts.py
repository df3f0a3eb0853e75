"""Facts for interviews, and a description for every purpose."""

from forge.interview.domain.build_config import DEFAULT_MODEL, Fields, SkillRequest
from forge.interview.domain.categories import KnownPurpose
from forge.interview.domain.state import Basis, Facts, ModelOffer, Remembered
from forge.skills.models import SkillKind, SkillOffer, SkillSource

DESCRIPTIONS = {
    KnownPurpose.SIMPLE_UTILITY: "Remind me to water my plants",
    KnownPurpose.COMPLEX_ANALYST: "Analyze our sales data and prepare weekly reports",
    KnownPurpose.CREATIVE: "A storyteller that writes bedtime stories",
    KnownPurpose.CODING: "Review pull requests and debug Python code",
    KnownPurpose.RESEARCH: "Find papers and keep track of citations for my thesis",
    KnownPurpose.CUSTOMER_SERVICE: "Answer support emails of our customers",
    None: "A party planner for the garden club",
}


def skill(name: str, kind: SkillKind = SkillKind.PROMPT) -> SkillOffer:
    return SkillOffer(
        name=name,
        description=f"Does {name}.",
        kind=kind,
        source=SkillSource.STARTER,
        reason=f"Your description mentions “{name}”.",
    )


OPUS = ModelOffer(ref="anthropic:claude-opus-5", label="Claude Opus 5", reason="The best.", has_key=True)
SONNET = ModelOffer(ref="anthropic:claude-sonnet-5", label="Claude Sonnet 5", reason="Quick.", has_key=True)
KEYLESS = ModelOffer(
    ref="openai:gpt-7",
    label="GPT 7",
    reason="Another provider.",
    has_key=False,
    problem="There is no key for openai: the secret OPENAI_API_KEY is not set.",
)
USUAL = ModelOffer(
    ref=DEFAULT_MODEL, label="What is chosen for bots", reason="Follows Settings.", has_key=True
)
FACTS = Facts(
    skills=[skill("summarize"), skill("editing"), skill("code-review"), skill("plan-tasks")],
    models=[USUAL, KEYLESS, OPUS, SONNET],
    bot_names=["Atlas", "Party Planner"],
    skill_names=["code-review", "editing", "plan-tasks", "summarize"],
)
REMEMBERED = Remembered(
    initial_description="Answer letters",
    chosen_tone="empathetic",
    chosen_model=OPUS.ref,
    chosen_skills=["summarize", "own-thing"],
    bot_slug="letters",
)
ATLAS = Basis(
    bot_slug="atlas",
    fields=Fields(
        name="Atlas",
        description="Plans trips",
        category="assistant",
        tags=["travel"],
        tone="friendly",
        traits=["calm"],
        purpose="Atlas plans trips.",
        boundaries="Never book anything.",
        model=DEFAULT_MODEL,
        temperature=0.7,
        max_tokens=4096,
        skills=[SkillRequest(name="summarize", description="Does summarize.")],
    ),
)
EDITED_SKILL = Basis(
    skill_name="summarize",
    fields=Fields(
        name="summarize", description="Summarizes long texts", kind=SkillKind.PROMPT, capabilities=[]
    ),
)
