"""What a skill is granted: what was said before, or what the person at the terminal answers."""

import click
import pytest
from click.testing import CliRunner

from forge.skills.cli.arguments import read_grants
from forge.skills.cli.grants import Consent, decide, tell_beyond
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


def answered(lines: str, until_now: list[GrantWish] | None = None) -> tuple[list[GrantWish], str]:
    """What comes of answers, and what was asked."""
    decided: list[GrantWish] = []

    @click.command()
    def ask() -> None:
        decided.extend(decide(Consent(is_there=True), SkillKind.SCRIPT, ASKS, until_now or []))

    result = CliRunner().invoke(ask, input=lines)
    assert result.exception is None, result.output
    assert result.stdout == ""
    return decided, result.stderr


def test_default_answer_grants_nothing():
    decided, asked = answered("\n\n\n")
    assert decided == []
    for ask in ASKS:
        assert ask.allows in asked and ask.risk in asked and f"Grant {ask.capability.value}? [y/N]" in asked
    assert "Asked for: api.example.com" in asked
    assert "It comes from its parent base." in asked
    assert asked.count("Without it the skill cannot run.") == 1


def test_yes_grants_the_requested_scopes():
    assert answered("y\nn\ny\n")[0] == [
        GrantWish(capability=Capability.HTTP_GET, scope=HOSTS),
        GrantWish(capability=Capability.KV),
    ]


def test_how_far_is_asked_where_the_skill_does_not_say():
    decided, asked = answered("n\ny\na/b\nKEY OTHER\nn\n")
    assert decided == [GrantWish(capability=Capability.GET_SECRET, scope=Scope(names=["KEY", "OTHER"]))]
    assert asked.count("Which secrets, with blanks between?") == 2
    decided, asked = answered("n\ny\n\nn\n")
    assert (decided, "Nothing is named: not granted." in asked) == ([], True)


def test_what_was_granted_until_now_is_said_and_asked_again():
    decided, asked = answered("\n\n\n", [GrantWish(capability=Capability.KV)])
    assert (decided, asked.count("It was granted until now.")) == ([], 1)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_said_is_the_whole_answer(is_there: bool):
    said = Consent(read_grants(["http_get=b.example.com", "get_secret"]), is_there=is_there)
    assert decide(said, SkillKind.SCRIPT, ASKS) == [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=["b.example.com"])),
        GrantWish(capability=Capability.GET_SECRET),
    ]


@pytest.mark.parametrize("is_there", [True, False])
def test_all_is_all_that_says_how_far_it_goes(is_there: bool):
    every = Consent(is_everything=True, is_there=is_there)
    assert decide(every, SkillKind.SCRIPT, ASKS) == [
        GrantWish(capability=Capability.HTTP_GET, scope=HOSTS),
        GrantWish(capability=Capability.KV),
    ]


def test_without_anybody_to_ask_nothing_is_granted():
    assert decide(Consent(), SkillKind.SCRIPT, ASKS) == []


def test_what_it_does_not_ask_for_it_does_not_get():
    assert decide(Consent(read_grants(["exec_command"])), SkillKind.SCRIPT, ASKS) == []


def asking(capability: Capability, **scope: list[str]) -> AskedView:
    return AskedView(
        capability=capability,
        scope=Scope.model_validate(scope),
        title="",
        allows="",
        risk="",
        is_needed=False,
    )


@pytest.mark.parametrize(
    ("asks", "said", "beyond"),
    [
        ([HTTP], "http_get=evil.com", "evil.com"),
        ([HTTP], "http_get=api.example.com,evil.com,b.org", "evil.com, b.org"),
        ([HTTP], "http_get=*", "*"),
        ([HTTP], "http_get=api.example.com:8443", "api.example.com:8443"),
        ([HTTP], "http_get=api.example.com", ""),
        ([HTTP], "http_get", ""),
        ([HTTP, asking(Capability.HTTP_GET, hosts=["b.org"])], "http_get=b.org", ""),
        ([asking(Capability.HTTP_GET, hosts=["*.b.org"])], "http_get=a.b.org", ""),
        ([asking(Capability.HTTP_GET, hosts=["*.b.org"])], "http_get=b.org,evilb.org", "b.org, evilb.org"),
        ([asking(Capability.HTTP_GET, hosts=["*"])], "http_get=b.org", ""),
        ([asking(Capability.HTTP_GET, hosts=["*"])], "http_get=10.0.0.1,localhost", "10.0.0.1, localhost"),
        ([asking(Capability.READ_FILE, roots=["/srv/data"])], "read_file=/srv/data/in", ""),
        ([asking(Capability.READ_FILE, roots=["/srv/data"])], "read_file=/srv/database", "/srv/database"),
        ([asking(Capability.READ_FILE, roots=["/srv"])], "read_file=/srv/../etc", "/srv/../etc"),
        ([asking(Capability.READ_FILE)], "read_file=/etc", "/etc"),
        ([asking(Capability.GET_SECRET, names=["KEY"])], "get_secret=KEY,OTHER", "OTHER"),
        ([SECRET], "get_secret=KEY", ""),
    ],
)
def test_what_goes_further_than_the_skill_asks_is_said(
    asks: list[AskedView], said: str, beyond: str, capsys: pytest.CaptureFixture[str]
):
    tell_beyond("it", read_grants([said]), asks)
    told = f"it: It does not ask for {beyond}; granted as you said.\n" if beyond else ""
    assert capsys.readouterr() == ("", told)
