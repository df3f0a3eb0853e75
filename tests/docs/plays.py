"""How the commands of each page are typed in a test: what is there before, what is asked, what is only an example."""

from tests.docs import preparing as made
from tests.support.page_reader import Play, Reader

NOT_PLAYED = {
    ".venv/bin/forge demo": "it stays up; tests/tour walks through it",
    "make test": "it is what runs this test",
    "make test-full": "as make test",
    "make dev": "it installed what runs this test",
    "make check": "it looks at the checkout, not at Forge",
    "make fix": "it changes the checkout",
    "make types": "it changes the checkout",
    "make docs": "it changes the checkout",
    "make lock": "it asks the package registries",
    "make bench": "it takes a quarter of an hour; tests/benchmarks plays short ones",
    'make bench ARGS="runs events"': "as make bench",
    "make bench ARGS=--quick": "as make bench",
    'make bench ARGS="--results /tmp/here"': "as make bench",
    "make soak": "it takes half an hour; tests/benchmarks has its arithmetic",
    'make soak ARGS="--minutes 5"': "as make soak",
    "claude mcp add forge -- forge mcp --dir /home/me/projects/shop": "it is a program of somebody else",
    "uv pip install ./house-checks": "it would change the environment of the tests, so its effect is prepared",
    "forge bots export atlas | ssh host forge bots import -": "it needs another machine",
}

YES = "y\n" * 9
FIRST = "1\n" * 60
"""Whatever an interview asks: the first of the options."""


def finished_interview(reader: Reader) -> str:
    begun = reader.type('forge new "a bot that knows opening hours" --json').data["session_id"]
    reader.type(f"forge new --resume {begun}", FIRST)
    return begun


def repository(reader: Reader) -> str:
    return f"file://{reader.home}/shelf/skills"


PLAYS = {
    "docs/guides/agents.md": Play(prepare=made.with_a_broken_calculator),
    "docs/guides/audits.md": Play(
        prepare=made.in_a_project,
        environment={"FORGE_AUDIT_ROOTS": "~/projects"},
        exits={
            'forge audit --claimed-files "app/cart.py,tests/test_cart.py" --phase "Phase 2"': 1,
            "forge audit --base origin/main": 1,  # the evidence is about what is not committed
        },
        stands_for={"/srv/projects/basket": lambda reader: f"{reader.home}/projects/basket"},
    ),
    "docs/guides/bots.md": Play(
        prepare=made.with_bots(),
        typed={
            "forge chat atlas": "Good morning!",
            "forge chat atlas --last": "And now?",
            "forge bots files accept atlas soul": YES,
            "forge bots sessions delete atlas ID": YES,
            "forge bots memories forget atlas ID": YES,
            "forge bots delete atlas": YES,
        },
        at_a_screen=(
            "forge bots files accept atlas soul",
            "forge bots sessions delete atlas ID",
            "forge bots delete atlas",
        ),
        before={
            "forge bots show atlas": made.break_identity,
            "forge bots files history atlas soul": made.mend_identity,
            "forge chat atlas --last": made.in_a_project,
            "forge bots import ~/bots/atlas": made.keep_a_copy_of_atlas,
        },
        stands_for={
            "sessions export atlas ID": lambda reader: f"sessions export atlas {session_of_atlas(reader)}",
            "sessions delete atlas ID": lambda reader: f"sessions delete atlas {session_of_atlas(reader)}",
            "memories change atlas ID": lambda reader: f"memories change atlas {memory_of_atlas(reader)}",
            "memories forget atlas ID": lambda reader: f"memories forget atlas {memory_of_atlas(reader)}",
        },
    ),
    "docs/guides/forge.md": Play(
        prepare=made.with_a_soul,
        typed={
            'forge new "a bot that answers questions about our returns policy"': FIRST,
            "forge new --resume": FIRST,
            "forge new --resume 01a1e113": FIRST,
            "forge drafts delete 01a1e113": YES,
            "forge new --reconfigure atlas": FIRST,
            'forge new --variants 3 "tutors for mathematics, each for another age"': FIRST,
            "forge new --soul SOUL.md": FIRST,
            'forge skill create "turn meeting notes into a list of decisions"': FIRST,
            "forge skill create --edit meeting-notes": FIRST,
            "forge interview memory --forget ID": YES,
            "forge interview memory --forget-all": YES,
        },
        at_a_screen=("forge drafts delete 01a1e113", "forge interview memory --forget-all"),
        before={
            command: made.begin_a_draft
            for command in (
                "forge new --resume",
                "forge new --resume 01a1e113",
                "forge drafts delete 01a1e113",
            )
        },
        stands_for={
            "01a1e113": lambda reader: reader.server.call("GET", "/api/v1/builder/drafts")[0]["session_id"],
            "interview show ID": lambda reader: f"interview show {finished_interview(reader)}",
            "interview replay ID": lambda reader: f"interview replay {finished_interview(reader)}",
            "--forget ID": lambda reader: f"--forget {made.newest('/builder/memory')(reader)}",
        },
    ),
    "docs/guides/mcp.md": Play(prepare=made.with_projects),
    "docs/guides/messages.md": Play(prepare=made.with_bots("Atlas", "Scout")),
    "docs/guides/models.md": Play(
        prepare=made.with_bots("Atlas"),
        typed={"forge secrets set ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef"},
        before={"forge models calls --run 0198c0de": made.begin_a_run},
        stands_for={
            "http://127.0.0.1:11434": lambda reader: reader.models,
            "0198c0de": made.newest("/runs"),
        },
    ),
    "docs/guides/postgresql.md": Play(
        stands_for={
            "postgresql://forge:password@db/forge": lambda reader: reader.new_database(),
            "/etc/forge/vault.key": lambda reader: f"{reader.home}/vault.key",
        },
    ),
    "docs/guides/scripted-models.md": Play(prepare=made.with_a_script),
    "docs/guides/skills.md": Play(
        prepare=made.with_skills_around,
        environment={"FORGE_SKILL_ROOTS": "~/shelf"},
        exits={'forge skill run weather --input \'{"city": "Oslo"}\'': 1},
        typed={"forge skill grant weather": YES, "forge chat atlas": "How long is this text?"},
        at_a_screen=("forge skill grant weather",),
        stands_for={
            "https://host/owner/skills.git": repository,
            "https://acme.example.com/skills.json": lambda reader: f"{reader.home}/shelf/skills.json",
        },
    ),
    "docs/guides/workflows.md": Play(
        exits={"forge workflow trigger morning --wait": 1},
        typed={"forge secrets set MORNING": "a-secret-of-the-guide"},
        before={"forge workflow create morning.yaml --update": made.add_the_webhook},
        stands_for={
            "http://127.0.0.1:8000/health": lambda reader: f"{reader.models}/_script/requests",
            "$SECRET": "a-secret-of-the-guide",
        },
    ),
    "docs/guides/workspaces.md": Play(
        typed={"forge workspaces remove shop": YES},
        at_a_screen=("forge workspaces remove shop",),
        before={
            "forge workspaces create site --path ~/code/site": lambda reader: made.write(
                reader.home / "code/site", {"index.html": "<p>Hello</p>\n"}
            ),
            "forge workspaces files shop src": made.fill_shop,
        },
    ),
    "docs/guides/write-a-check.md": Play(
        prepare=made.with_the_check_installed, exits={"forge audit --only HOUSE1": 1}, is_in_shell=True
    ),
    "docs/guides/write-a-skill.md": Play(
        prepare=made.with_bots(),
        exits={
            "forge skill test word-count --triggers": 1,  # the scripted model takes up no skill
            'forge skill run weather --input \'{"city": "Oslo"}\'': 1,
        },
        typed={"forge skill grant weather": YES},
        at_a_screen=("forge skill grant weather",),
        stands_for={"~/.forge": lambda reader: str(reader.data_dir)},
    ),
    "docs/reference/evidence.md": Play(
        prepare=made.with_a_change, stands_for={"trust KEY": f"trust {'ab' * 32}"}
    ),
    "docs/tutorial.md": Play(
        exits={
            "forge audit shop": 1,
            'forge skill run count-words --input \'{"text": "three more words"}\'': 1,
        },
        typed={'forge new "a bot that invents riddles"': FIRST},
    ),
}


def session_of_atlas(reader: Reader) -> str:
    return made.newest("/bots/atlas/sessions")(reader)


def memory_of_atlas(reader: Reader) -> str:
    return made.newest("/bots/atlas/memories")(reader)
