"""What a skill may ask for, in words for the person who grants it, and which of it a description speaks of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from forge.skills.models import Capability
from forge.skills.words import quoted

MAX_WORDS = 3

BY_HOSTS = (Capability.HTTP_GET, Capability.HTTP_POST)
BY_ROOTS = (Capability.READ_FILE, Capability.WRITE_FILE)
BY_NAMES = (Capability.READ_ENV, Capability.GET_SECRET, Capability.EXEC_COMMAND)
"""What a grant of each goes by; of the others it goes by nothing."""


@dataclass(frozen=True)
class Meaning:
    title: str
    """As the end of “It asks to …”."""
    allows: str
    risk: str
    """What can go wrong when it is granted to a skill that should not have it."""


MEANINGS: Mapping[Capability, Meaning] = {
    Capability.READ_FILE: Meaning(
        "read files",
        "It may read files in the folders it is given.",
        "Whatever lies there can end up in its output.",
    ),
    Capability.WRITE_FILE: Meaning(
        "write files",
        "It may create and change files in the folders it is given.",
        "It can overwrite what you have there.",
    ),
    Capability.HTTP_GET: Meaning(
        "fetch from the web",
        "It may fetch pages and data from the internet.",
        "What it fetches is written by strangers, and an address can carry away what it knows.",
    ),
    Capability.HTTP_POST: Meaning(
        "send to the web",
        "It may send data to servers on the internet.",
        "It can send out everything it gets to see, and do things there in your name.",
    ),
    Capability.EXEC_COMMAND: Meaning(
        "run programs",
        "It may start other programs in its sandbox.",
        "A program can do all that the sandbox allows, not only what the skill is for.",
    ),
    Capability.READ_ENV: Meaning(
        "read settings",
        "It may read the environment variables it is given.",
        "Settings often hold passwords and addresses that nobody else should see.",
    ),
    Capability.RECALL_MEMORY: Meaning(
        "recall memories",
        "It may look up what the bot remembers about you.",
        "Personal things can end up in its output.",
    ),
    Capability.GET_SECRET: Meaning(
        "use a secret",
        "It may get the secrets you name for it from the vault.",
        "Whoever has a secret can use it, and a skill can pass it on.",
    ),
    Capability.KV: Meaning(
        "keep notes",
        "It may keep small values of its own from one use to the next.",
        "What it kept can change what it does next time.",
    ),
    Capability.LOG: Meaning(
        "write to the log",
        "It may write lines into the log of its run.",
        "What it writes there stays readable for those who read logs.",
    ),
}

_WORDS: Mapping[Capability, str] = {
    Capability.READ_FILE: "file files folder folders directory disk read reads reading load loads loading open opens",
    Capability.WRITE_FILE: "write writes writing save saves saving output outputs store stores export exports",
    Capability.HTTP_GET: (
        "fetch fetches fetching http https web website websites api apis url urls request requests download downloads"
        " scrape scrapes online internet database databases sql query queries"
    ),
    Capability.HTTP_POST: (
        "send sends sending post posts posting submit submits submitting publish publishes publishing upload uploads"
        " webhook webhooks"
    ),
    Capability.EXEC_COMMAND: (
        "execute executes executing command commands shell process processes run runs running program programs"
    ),
    Capability.READ_ENV: "environment env config configuration",
    Capability.RECALL_MEMORY: "remember remembers remembering memory memories recall recalls",
    Capability.GET_SECRET: "secret secrets api-key api-keys token tokens credential credentials password passwords",
    Capability.KV: "counter counters cache caches caching",
    Capability.LOG: "log logs logging",
}
_CAPABILITY_OF: Mapping[str, Capability] = {
    word.replace("-", " "): capability for capability, words in _WORDS.items() for word in words.split()
}
_LONGEST_FIRST = sorted(_CAPABILITY_OF, key=lambda word: (-len(word), word))
_FINDER = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, _LONGEST_FIRST)) + r")(?![\w-])")


def suggest_capabilities(text: str) -> dict[Capability, str]:
    """Those that whole words of the text speak of, each with the words. A person decides; nothing is granted here."""
    found: dict[Capability, dict[str, None]] = {}
    for match in _FINDER.finditer(" ".join(text.lower().split())):
        found.setdefault(_CAPABILITY_OF[match[0]], {})[match[0]] = None
    return {
        capability: f"The description says {quoted(list(found[capability])[:MAX_WORDS])}."
        for capability in Capability
        if capability in found
    }
