"""A GitHub double for the tests of one file, and clients of its API."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from tests.support.github import Control, open_api, open_github

OpenApi = Callable[..., httpx2.Client]


@pytest.fixture(scope="module")
def double() -> Iterator[Control]:
    with open_github() as double:
        yield double


@pytest.fixture
def recovered(double: Control) -> Iterator[Control]:
    """The double, without the faults and limits of the test afterwards."""
    yield double
    double.recover()
    double.configure(rate_limit=5000)


@pytest.fixture(scope="module")
def octo(double: Control) -> Iterator[httpx2.Client]:
    """A client with a token of `octo` that may do everything."""
    with open_api(double) as client:
        yield client


@pytest.fixture
def client_with(double: Control) -> Iterator[OpenApi]:
    """Return clients for tokens with the given scopes, or permissions and repositories."""
    with ExitStack() as stack:

        def open_client(login: str = "octo", **options: Any) -> httpx2.Client:
            token = double.add_token(login, **options).value
            return stack.enter_context(open_api(double, token))

        yield open_client


@pytest.fixture
def anonymous(double: Control) -> Iterator[httpx2.Client]:
    with open_api(double, "") as client:
        yield client
