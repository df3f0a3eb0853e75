"""Whether a model lets anybody choose its temperature. Some refuse a request that names one, so it is not sent to them."""

from pydantic_ai.profiles.anthropic import AnthropicModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from forge.llm.models import ProviderKind


def takes_temperature(kind: ProviderKind, model: str) -> bool:
    if kind is ProviderKind.ANTHROPIC:
        claude = AnthropicModelProfile(**(AnthropicProvider.model_profile(model) or {}))
        return not claude.get("anthropic_disallows_sampling_settings", False)
    gpt = OpenAIModelProfile(**(OpenAIProvider.model_profile(model) or {}))
    if not gpt.get("openai_supports_reasoning", False):
        return True
    efforts = gpt.get("openai_reasoning_efforts")
    can_rest = (
        gpt.get("openai_supports_reasoning_effort_none", False) if efforts is None else "none" in efforts
    )
    return can_rest and not gpt.get("thinking_enabled_by_default", False)
