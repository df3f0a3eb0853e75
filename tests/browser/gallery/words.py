"""What people write that pages have to bear: long, unbroken, from right to left, with pictures in it."""

LONG = "The one who looks after the letters that come in from everywhere and have to be answered the same day"
UNBROKEN = "donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
ARABIC = "مساعد يجيب على أسئلة العملاء حول الدراجات"
EMOJI = "Ada 🚀 of the 🌍 🏳️"
NAMES = (LONG, UNBROKEN[:100], ARABIC, EMOJI)
