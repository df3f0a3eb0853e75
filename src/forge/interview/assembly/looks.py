"""How a new bot looks: chosen by what it is for and how it is called, the same every time."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from forge.bots.models import Category
from forge.interview.categories import Known, Purpose
from forge.kernel.hashing import hash_text

T = TypeVar("T")

COLOURS = ("#e2703a", "#c2483f", "#b0457b", "#7a5bc7", "#4667c9", "#2b7fa8", "#2a8a72", "#5b8a3c", "#a87a1f")

_BY_PURPOSE: Mapping[Known, Sequence[str]] = {
    Known.CODING: ("💻", "🛠️", "🧩", "⚙️"),
    Known.CREATIVE: ("🎨", "🪶", "🎭", "✨"),
    Known.RESEARCH: ("🔬", "📚", "🔎", "🧭"),
    Known.COMPLEX_ANALYST: ("📊", "📈", "🧮", "🔭"),
    Known.CUSTOMER_SERVICE: ("🤝", "💬", "🛎️", "🌟"),
    Known.SIMPLE_UTILITY: ("⏱️", "📌", "🧰", "✅"),
}
_BY_CATEGORY: Mapping[Category, Sequence[str]] = {
    Category.ASSISTANT: ("🤖", "🦉", "🌱", "🪄"),
    Category.CREATIVE: ("🎨", "🪶", "🎭", "✨"),
    Category.RESEARCH: ("🔬", "📚", "🔎", "🧭"),
    Category.UTILITY: ("🧰", "⏱️", "📌", "✅"),
}


def avatar_of(name: str, purpose: Purpose, category: Category) -> str:
    fitting = _BY_PURPOSE[purpose] if isinstance(purpose, Known) else _BY_CATEGORY[category]
    return _pick(fitting, f"avatar of {name}")


def colour_of(name: str) -> str:
    return _pick(COLOURS, f"colour of {name}")


def _pick(choices: Sequence[T], text: str) -> T:
    return choices[int(hash_text(text)[:8], 16) % len(choices)]
