"""Deciding what to grant: from the command line, or by asking at the terminal."""

import click
import pytest
from click.testing import CliRunner

from forge.skills.cli.arguments import read_grants
from forge.skills.cli.grants import Consent, decide, report_excess
from forge.skills.models import Capability, GrantWish, Scope, SkillKind
from forge.skills.views import AskedView

HOSTS = Scope(hosts=["api.example.com"])
HTTP = AskedView(
    capability=Capability.HTTP_GET,
    scope=HOSTS,
    title="fetch",
    allows="It may fetch.",
    risk="Strangers write it.",
)
SECRET = AskedView(
    capability=Capability.GET_SECRET,
    title="read files",
    allows="It may read.",
    risk="It may tell.",
    is_needed=True,
)
NOTES = AskedView(
    capability=Capability.KV,
    title="keep notes",
    allows="It may keep.",
    risk="It changes.",
    from_parent="base",
)
ASKS = [HTTP, SECRET, NOTES]


def answer(lines: str, previous: list[GrantWish] | None = None) -> tuple[list[GrantWish], str]:
    """Return the decided grants, and what was printed."""
    decided: list[GrantWish] = []

    @click.command()
    def ask() -> None:
        decided.extend(decide(Consent(is_interactive=True), SkillKind.SCRIPT, ASKS, previous or []))

    result = CliRunner().invoke(ask, input=lines)
    assert result.exception is None, result.output
    assert result.stdout == ""
    return decided, result.stderr


def test_default_answer_grants_nothing():
    decided, output = answer("\n\n\n")
    assert decided == []
    for ask in ASKS:
        assert (
            ask.allows in output and ask.risk in output and f"Grant {ask.capability.value}? [y/N]" in output
        )
    assert "Requested: api.example.com" in output
    assert "Inherited from base." in output
    assert output.count("The skill cannot run without it.") == 1


def test_yes_grants_the_requested_scopes():
    assert answer("y\nn\ny\n")[0] == [
        GrantWish(capability=Capability.HTTP_GET, scope=HOSTS),
        GrantWish(capability=Capability.KV),
    ]


def test_missing_scope_is_asked_for():
    decided, output = answer("n\ny\na/b\nKEY OTHER\nn\n")
    assert decided == [GrantWish(capability=Capability.GET_SECRET, scope=Scope(names=["KEY", "OTHER"]))]
    assert output.count("Which secrets (separated by spaces)?") == 2
    decided, output = answer("n\ny\n\nn\n")
    assert (decided, "Nothing entered: not granted." in output) == ([], True)


def test_previous_grant_is_shown_and_asked_for_again():
    decided, output = answer("\n\n\n", [GrantWish(capability=Capability.KV)])
    assert (decided, output.count("Previously granted.")) == ([], 1)


@pytest.mark.parametrize("is_interactive", [True, False])
def test_grants_of_the_command_line_are_not_asked_for(is_interactive: bool):
    consent = Consent(read_grants(["http_get=b.example.com", "get_secret"]), is_interactive=is_interactive)
    assert decide(consent, SkillKind.SCRIPT, ASKS) == [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=["b.example.com"])),
        GrantWish(capability=Capability.GET_SECRET),
    ]


@pytest.mark.parametrize("is_interactive", [True, False])
def test_grants_all_covers_capabilities_with_a_scope(is_interactive: bool):
    consent = Consent(grants_all=True, is_interactive=is_interactive)
    assert decide(consent, SkillKind.SCRIPT, ASKS) == [
        GrantWish(capability=Capability.HTTP_GET, scope=HOSTS),
        GrantWish(capability=Capability.KV),
    ]


def test_nothing_is_granted_without_a_terminal():
    assert decide(Consent(), SkillKind.SCRIPT, ASKS) == []


def test_unrequested_capability_is_not_granted():
    assert decide(Consent(read_grants(["exec_command"])), SkillKind.SCRIPT, ASKS) == []


def request(capability: Capability, **scope: list[str]) -> AskedView:
    return AskedView(
        capability=capability,
        scope=Scope.model_validate(scope),
        title="",
        allows="",
        risk="",
        is_needed=False,
    )


@pytest.mark.parametrize(
    ("asks", "grants", "excess"),
    [
        ([HTTP], "http_get=evil.com", "evil.com"),
        ([HTTP], "http_get=api.example.com,evil.com,b.org", "evil.com, b.org"),
        ([HTTP], "http_get=*", "*"),
        ([HTTP], "http_get=api.example.com:8443", "api.example.com:8443"),
        ([HTTP], "http_get=api.example.com", ""),
        ([HTTP], "http_get", ""),
        ([HTTP, request(Capability.HTTP_GET, hosts=["b.org"])], "http_get=b.org", ""),
        ([request(Capability.HTTP_GET, hosts=["*.b.org"])], "http_get=a.b.org", ""),
        ([request(Capability.HTTP_GET, hosts=["*.b.org"])], "http_get=b.org,evilb.org", "b.org, evilb.org"),
        ([request(Capability.HTTP_GET, hosts=["*"])], "http_get=b.org", ""),
        ([request(Capability.HTTP_GET, hosts=["*"])], "http_get=10.0.0.1,localhost", "10.0.0.1, localhost"),
        ([request(Capability.READ_FILE, roots=["/srv/data"])], "read_file=/srv/data/in", ""),
        ([request(Capability.READ_FILE, roots=["/srv/data"])], "read_file=/srv/database", "/srv/database"),
        ([request(Capability.READ_FILE, roots=["/srv"])], "read_file=/srv/../etc", "/srv/../etc"),
        ([request(Capability.READ_FILE)], "read_file=/etc", "/etc"),
        ([request(Capability.GET_SECRET, names=["KEY"])], "get_secret=KEY,OTHER", "OTHER"),
        ([SECRET], "get_secret=KEY", ""),
    ],
)
def test_grants_beyond_the_request_are_reported(
    asks: list[AskedView], grants: str, excess: str, capsys: pytest.CaptureFixture[str]
):
    report_excess("notes", read_grants([grants]), asks)
    message = f"notes does not request {excess}; granted anyway.\n" if excess else ""
    assert capsys.readouterr() == ("", message)
