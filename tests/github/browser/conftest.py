"""A browser for a Forge server whose users sign in at a GitHub double."""

from collections.abc import Iterator

import pytest
from tests.browser.conftest import browser, session, visit
from tests.github.team_server import TeamServer, open_team_server
from tests.support.server import Server

__all__ = ["browser", "session", "visit"]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with open_team_server(tmp_path_factory.mktemp("team")) as team:
        yield team


@pytest.fixture(scope="module")
def server(team: TeamServer) -> Server:
    return team.server
