"""Whether a model lets anybody choose its temperature. Some refuse a request that names one, so it is not sent to them."""

import asyncio

from forge.llm.models import ProviderKind


async def takes_temperature(kind: ProviderKind, model: str) -> bool:
    """What is known of models takes seconds to import: not before the first question, and not on the event loop."""
    return await asyncio.to_thread(_claude_does if kind is ProviderKind.ANTHROPIC else _gpt_does, model)


def _claude_does(model: str) -> bool:
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    profile = AnthropicModelProfile(**(AnthropicProvider.model_profile(model) or {}))
    return not profile.get("anthropic_disallows_sampling_settings", False)


def _gpt_does(model: str) -> bool:
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    profile = OpenAIModelProfile(**(OpenAIProvider.model_profile(model) or {}))
    if not profile.get("openai_supports_reasoning", False):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    can_rest = (
        profile.get("openai_supports_reasoning_effort_none", False) if efforts is None else "none" in efforts
    )
    return can_rest and not profile.get("thinking_enabled_by_default", False)
