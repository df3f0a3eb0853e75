"""Texts that are hard to lay out: long, without spaces, right-to-left, with emoji."""

LONG = (
    "The assistant that reads all incoming letters from every office and answers each of them on the same day"
)
UNBROKEN = "donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
ARABIC = "مساعد يجيب على أسئلة العملاء حول الدراجات"
EMOJI = "Ada 🚀 of the 🌍 🏳️"
NAMES = (LONG, UNBROKEN[:100], ARABIC, EMOJI)
