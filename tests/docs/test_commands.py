"""Every command the documentation shows is typed, page by page, by a reader with a server of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.plays import NOT_PLAYED, PLAYS
from tests.support.models import StartModels
from tests.support.page_reader import Play, Reader
from tests.support.pages import PAGES, ROOT, Page
from tests.support.postgres import Postgres

DEMO = ROOT / "src/forge/demo/scripts/demo.yaml"
PLAYED = [page for page in PAGES if set(page.commands()) - set(NOT_PLAYED)]


@pytest.mark.timeout(1500)
@pytest.mark.sample(10)
@pytest.mark.parametrize("page", PLAYED, ids=str)
def test_commands_of_a_page_run_in_order(
    page: Page, model_server: StartModels, tmp_path: Path, request: pytest.FixtureRequest
):
    def new_database() -> str:
        postgres: Postgres = request.getfixturevalue("postgres")
        return postgres.new_database()

    models = model_server(DEMO.read_text().replace("delay_s: 0.03", "delay_s: 0")).url
    play = PLAYS.get(str(page), Play())
    with Reader(tmp_path, play, models=models, new_database=new_database, left_out=NOT_PLAYED) as reader:
        reader.read(page)


def commands() -> Iterator[str]:
    for page in PAGES:
        yield from page.commands()


def test_skipped_blocks_exist():
    assert set(NOT_PLAYED) <= set(commands())


@pytest.mark.parametrize("name", PLAYS)
def test_page_setups_refer_to_existing_blocks(name: str):
    play, page = PLAYS[name], Page(ROOT / name)
    shown = set(page.commands())
    assert {*play.exits, *play.typed, *play.before, *play.at_a_screen, *play.beside} <= shown
    assert [words for words in play.stands_for if words not in page.text] == []
