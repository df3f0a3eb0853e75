"""Run every command of the documentation, page by page, each with its own server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.page_setups import PAGE_SETUPS, SKIPPED_COMMANDS
from tests.support.models import StartModels
from tests.support.page_runner import PageRunner, PageSetup
from tests.support.pages import PAGES, ROOT, Page
from tests.support.postgres import Postgres

DEMO = ROOT / "src/forge/demo/scripts/demo.yaml"
TESTED_PAGES = [page for page in PAGES if set(page.commands()) - set(SKIPPED_COMMANDS)]


@pytest.mark.timeout(1500)
@pytest.mark.sample(10)
@pytest.mark.parametrize("page", TESTED_PAGES, ids=str)
def test_commands_of_a_page_run_in_order(
    page: Page, model_server: StartModels, tmp_path: Path, request: pytest.FixtureRequest
):
    def new_database() -> str:
        postgres: Postgres = request.getfixturevalue("postgres")
        return postgres.new_database()

    models = model_server(DEMO.read_text().replace("delay_s: 0.03", "delay_s: 0")).url
    setup = PAGE_SETUPS.get(str(page), PageSetup())
    with PageRunner(
        tmp_path, setup, models=models, new_database=new_database, skipped=SKIPPED_COMMANDS
    ) as runner:
        runner.run(page)


def all_commands() -> Iterator[str]:
    for page in PAGES:
        yield from page.commands()


def test_skipped_blocks_exist():
    assert set(SKIPPED_COMMANDS) <= set(all_commands())


@pytest.mark.parametrize("name", PAGE_SETUPS)
def test_page_setups_refer_to_existing_blocks(name: str):
    setup, page = PAGE_SETUPS[name], Page(ROOT / name)
    commands = set(page.commands())
    assert {
        *setup.exit_codes,
        *setup.stdin,
        *setup.before,
        *setup.terminal_commands,
        *setup.background,
    } <= commands
    assert [placeholder for placeholder in setup.replacements if placeholder not in page.text] == []
