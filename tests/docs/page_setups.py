"""The setup of each page for tests/docs/test_commands.py: prerequisites, input, placeholders and exit codes."""

from tests.docs import preparations
from tests.support.page_runner import PageRunner, PageSetup

SKIPPED_COMMANDS = {
    ".venv/bin/forge demo": "does not exit; tested by tests/tour",
    "make test": "runs this test",
    "make test-full": "as make test",
    "make dev": "changes the environment of this test",
    "make check": "checks the checkout, not Forge",
    "make fix": "changes the checkout",
    "make types": "changes the checkout",
    "make docs": "changes the checkout",
    "make lock": "needs the package registries",
    "make bench": "takes a quarter of an hour; tests/benchmarks runs short ones",
    'make bench ARGS="runs events"': "as make bench",
    "make bench ARGS=--quick": "as make bench",
    'make bench ARGS="--results /tmp/here"': "as make bench",
    "make soak": "takes half an hour; tests/benchmarks tests its calculations",
    'make soak ARGS="--minutes 5"': "as make soak",
    "claude mcp add forge -- forge mcp --dir /home/me/projects/shop": "is another program",
    "uv pip install ./house-checks": "would change the environment of the tests; its effect is prepared",
    "forge bots export atlas | ssh host forge bots import -": "needs another machine",
}

CONFIRM = "y\n" * 9
FIRST_OPTIONS = "1\n" * 60
"""Answers every question of an interview with its first option."""


def finished_interview(runner: PageRunner) -> str:
    session_id = runner.run_command('forge new "a bot that knows opening hours" --json').data["session_id"]
    runner.run_command(f"forge new --resume {session_id}", FIRST_OPTIONS)
    return session_id


def repository(runner: PageRunner) -> str:
    return f"file://{runner.home}/registry/skills"


PAGE_SETUPS = {
    "docs/guides/agents.md": PageSetup(prepare=preparations.create_broken_calculator),
    "docs/guides/audits.md": PageSetup(
        prepare=preparations.create_project,
        environment={"FORGE_AUDIT_ROOTS": "~/projects"},
        exit_codes={
            'forge audit --claimed-files "app/cart.py,tests/test_cart.py" --phase "Phase 2"': 1,
            "forge audit --base origin/main": 1,  # the evidence is about uncommitted changes
        },
        replacements={"/srv/projects/basket": lambda runner: f"{runner.home}/projects/basket"},
    ),
    "docs/guides/team.md": PageSetup(prepare=preparations.serve_github),
    "docs/guides/bots.md": PageSetup(
        prepare=preparations.create_bots(),
        stdin={
            "forge chat atlas": "Good morning!",
            "forge chat atlas --last": "And now?",
            "forge bots files accept atlas soul": CONFIRM,
            "forge bots sessions delete atlas ID": CONFIRM,
            "forge bots memories forget atlas ID": CONFIRM,
            "forge bots delete atlas": CONFIRM,
        },
        terminal_commands=(
            "forge bots files accept atlas soul",
            "forge bots sessions delete atlas ID",
            "forge bots delete atlas",
        ),
        before={
            "forge bots show atlas": preparations.break_identity,
            "forge bots files history atlas soul": preparations.repair_identity,
            "forge chat atlas --last": preparations.create_project,
            "forge bots import ~/bots/atlas": preparations.copy_atlas,
        },
        replacements={
            "sessions export atlas ID": lambda runner: f"sessions export atlas {session_of_atlas(runner)}",
            "sessions delete atlas ID": lambda runner: f"sessions delete atlas {session_of_atlas(runner)}",
            "memories change atlas ID": lambda runner: f"memories change atlas {memory_of_atlas(runner)}",
            "memories forget atlas ID": lambda runner: f"memories forget atlas {memory_of_atlas(runner)}",
        },
    ),
    "docs/guides/forge.md": PageSetup(
        prepare=preparations.write_soul_example,
        stdin={
            'forge new "a bot that answers questions about our returns policy"': FIRST_OPTIONS,
            "forge new --resume": FIRST_OPTIONS,
            "forge new --resume 01a1e113": FIRST_OPTIONS,
            "forge drafts delete 01a1e113": CONFIRM,
            "forge new --reconfigure atlas": FIRST_OPTIONS,
            'forge new --variants 3 "tutors for mathematics, each for another age"': FIRST_OPTIONS,
            "forge new --soul SOUL.md": FIRST_OPTIONS,
            'forge skill create "turn meeting notes into a list of decisions"': FIRST_OPTIONS,
            "forge skill create --edit meeting-notes": FIRST_OPTIONS,
            "forge interview memory --forget ID": CONFIRM,
            "forge interview memory --forget-all": CONFIRM,
        },
        terminal_commands=("forge drafts delete 01a1e113", "forge interview memory --forget-all"),
        before={
            command: preparations.create_unfinished_draft
            for command in (
                "forge new --resume",
                "forge new --resume 01a1e113",
                "forge drafts delete 01a1e113",
            )
        },
        replacements={
            "01a1e113": lambda runner: runner.server.call("GET", "/api/v1/builder/drafts")[0]["session_id"],
            "interview show ID": lambda runner: f"interview show {finished_interview(runner)}",
            "interview replay ID": lambda runner: f"interview replay {finished_interview(runner)}",
            "--forget ID": lambda runner: f"--forget {preparations.first_id('/builder/memory')(runner)}",
        },
    ),
    "docs/guides/github-double.md": PageSetup(
        replacements={"http://127.0.0.1:8020": lambda runner: runner.github}
    ),
    "docs/guides/mcp.md": PageSetup(prepare=preparations.create_workspace),
    "docs/guides/messages.md": PageSetup(prepare=preparations.create_bots("Atlas", "Scout")),
    "docs/guides/models.md": PageSetup(
        prepare=preparations.create_bots("Atlas"),
        stdin={"forge secrets set ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef"},
        before={"forge models calls --run 0198c0de": preparations.start_run},
        replacements={
            "http://127.0.0.1:8081": lambda runner: runner.models,
            "0198c0de": preparations.first_id("/runs"),
        },
    ),
    "docs/guides/postgresql.md": PageSetup(
        replacements={
            "postgresql://forge:password@db/forge": lambda runner: runner.new_database(),
            "/etc/forge/vault.key": lambda runner: f"{runner.home}/vault.key",
        },
    ),
    "docs/guides/scripted-models.md": PageSetup(prepare=preparations.write_script_example),
    "docs/guides/skills.md": PageSetup(
        prepare=preparations.create_skill_sources,
        environment={"FORGE_SKILL_ROOTS": "~/registry"},
        exit_codes={'forge skill run weather --input \'{"city": "Oslo"}\'': 1},
        stdin={"forge skill grant weather": CONFIRM, "forge chat atlas": "How long is this text?"},
        terminal_commands=("forge skill grant weather",),
        replacements={
            "https://host/owner/skills.git": repository,
            "https://acme.example.com/skills.json": lambda runner: f"{runner.home}/registry/skills.json",
        },
    ),
    "docs/guides/workflows.md": PageSetup(
        exit_codes={"forge workflow trigger morning --wait": 1},
        stdin={"forge secrets set MORNING": "a-secret-of-the-guide"},
        before={"forge workflow create morning.yaml --update": preparations.add_webhook},
        replacements={
            "http://127.0.0.1:8000/health": lambda runner: f"{runner.models}/_script/requests",
            "$SECRET": "a-secret-of-the-guide",
        },
    ),
    "docs/guides/workspaces.md": PageSetup(
        stdin={"forge workspaces remove shop": CONFIRM},
        terminal_commands=("forge workspaces remove shop",),
        before={
            "forge workspaces create site --path ~/code/site": lambda runner: preparations.write(
                runner.home / "code/site", {"index.html": "<p>Hello</p>\n"}
            ),
            "forge workspaces files shop src": preparations.fill_shop,
        },
    ),
    "docs/guides/write-a-check.md": PageSetup(
        prepare=preparations.install_check, exit_codes={"forge audit --only HOUSE1": 1}, uses_shell=True
    ),
    "docs/guides/write-a-skill.md": PageSetup(
        prepare=preparations.create_bots(),
        exit_codes={
            "forge skill test word-count --triggers": 1,  # the scripted model uses no skill
            'forge skill run weather --input \'{"city": "Oslo"}\'': 1,
        },
        stdin={"forge skill grant weather": CONFIRM},
        terminal_commands=("forge skill grant weather",),
        replacements={"~/.forge": lambda runner: str(runner.data_dir)},
    ),
    "docs/reference/evidence.md": PageSetup(
        prepare=preparations.create_project_with_change, replacements={"trust KEY": f"trust {'ab' * 32}"}
    ),
    "docs/tutorial.md": PageSetup(
        exit_codes={
            "forge audit shop": 1,
            'forge skill run count-words --input \'{"text": "three more words"}\'': 1,
        },
        stdin={'forge new "a bot that invents riddles"': FIRST_OPTIONS},
    ),
}


def session_of_atlas(runner: PageRunner) -> str:
    return preparations.first_id("/bots/atlas/sessions")(runner)


def memory_of_atlas(runner: PageRunner) -> str:
    return preparations.first_id("/bots/atlas/memories")(runner)
