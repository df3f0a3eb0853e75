"""`SOUL.md` as an interview writes it: the text that was written for these settings, or the template's."""

from forge.bots.files.soul import parse_soul, render_soul
from forge.bots.models import Soul
from forge.interview.assembly.sections import add_to_section
from forge.interview.config import BuilderConfig, VariantFields
from forge.interview.speaking.souls import template_soul
from forge.interview.state import State
from forge.interview.writing import soul_hash


def soul_of(state: State, config: BuilderConfig, variant: VariantFields | None = None) -> str:
    """One that was given is used as it is; in a batch, each bot has it with its name and its difference."""
    if state.basis.soul is not None:
        return _given(state.basis.soul, variant)
    name = variant.name if variant else config.name
    return front_and_body(config, name, _body(state, config, variant))


def front_and_body(config: BuilderConfig, name: str, body: str) -> str:
    personality = config.personality
    return render_soul(Soul(name=name, traits=personality.traits, tone=personality.tone, body=body))


def written_body(state: State, config: BuilderConfig) -> str | None:
    """What was written, if it was for these settings: text for others would say what is not so."""
    written = state.written
    if written is None or written.soul is None or written.of != soul_hash(config):
        return None
    return written.soul.rstrip() + "\n"


def varied(config: BuilderConfig, variant: VariantFields) -> BuilderConfig:
    """The settings of one bot of a batch."""
    purpose = "\n\n".join(part for part in (config.personality.purpose.strip(), variant.difference) if part)
    personality = config.personality.model_copy(update={"purpose": purpose})
    return config.model_copy(update={"name": variant.name, "personality": personality, "variants": []})


def _given(soul: str, variant: VariantFields | None) -> str:
    found = parse_soul(soul).value
    if variant is None or found is None:
        return soul
    return render_soul(found.model_copy(update={"name": variant.name, "body": _with(found.body, variant)}))


def _with(body: str, variant: VariantFields) -> str:
    return add_to_section(body, "Purpose", variant.difference) if variant.difference.strip() else body


def _body(state: State, config: BuilderConfig, variant: VariantFields | None) -> str:
    body = written_body(state, config)
    if variant is None:
        return body or template_soul(config)
    if body is None:
        return template_soul(varied(config, variant))
    return _with(body, variant)
