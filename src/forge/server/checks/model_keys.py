"""Whether there is a key for a model. Without one you can look around, but nothing can think."""

from forge.accounts.models import SecretView
from forge.errors import ForgeError
from forge.server.checks.check import Check, Server, Situation, bad, ok, warn

NAMES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def check_model_keys(situation: Situation) -> Check:
    try:
        found = _known_to_server(situation.server) if situation.server else []
    except ForgeError as error:
        return bad("model keys", error.message, error.hint or "Use a key that may read: forge login URL")
    if situation.server is None or situation.server.is_local:
        found = found or _in_settings(situation)
    if found:
        return ok("model keys", ", ".join(found))
    start = "restart the server with" if situation.server else "start with"
    return warn(
        "model keys",
        "none",
        f"Set it: forge secrets set {NAMES[0]}, or under Settings, Models, or {start} {NAMES[0]}=… set. "
        "To look around without one: forge models serve, then forge models demo.",
    )


def _known_to_server(server: Server) -> list[str]:
    secrets = server.client.get("/secrets", list[SecretView])
    return [
        f"{secret.name} (…{secret.last_four}, {secret.source})" for secret in secrets if secret.name in NAMES
    ]


def _in_settings(situation: Situation) -> list[str]:
    return [NAMES[0]] if situation.settings.anthropic_api_key else []
