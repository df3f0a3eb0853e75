"""The `forge` command with a self-test that goes straight to its question: 1,000 complete ones would take minutes."""

from typing import Any

import forge.app
from forge.cli import main
from forge.runs.context import RunContext
from forge.runs.self_test_run import QUESTION, SelfTest, SelfTestInput


class Asking(SelfTest):
    async def run(self, context: RunContext, inputs: SelfTestInput) -> dict[str, Any]:
        await context.ask(QUESTION)
        return {}


if __name__ == "__main__":
    forge.app.SelfTest = Asking
    main()
