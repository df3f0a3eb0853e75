"""Rendering of skills for the terminal."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from pydantic import JsonValue
from rich.console import Console, RenderableType

from forge.skills.cli.views import (
    case_line,
    entries_table,
    format_source,
    installed_line,
    problem_line,
    registries_table,
    result_text,
    runs_table,
    skill_page,
    skills_table,
    staged_page,
    staged_table,
)
from forge.skills.execution import RunEnd
from forge.skills.installation.views import Installed, Registry, RegistryEntry, StagedSkill
from forge.skills.models import (
    Capability,
    Case,
    FolderSource,
    GitSource,
    Grant,
    Manifest,
    Origin,
    OwnSource,
    RegistrySource,
    Scope,
    SkillKind,
    SkillProblem,
    StarterSource,
    Tier,
    ZipSource,
)
from forge.skills.views import (
    AskedView,
    LimitsView,
    RelationView,
    SkillDetail,
    SkillFileView,
    SkillRan,
    SkillRun,
    SkillState,
)

HASH, OLD = "a" * 64, "b" * 64
AT = datetime(2026, 1, 1, tzinfo=UTC)
HOSTS = Scope(hosts=["api.example.com"])
EVIL = "\x1b[2J\u202eevil"


def render(renderable: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=10_000, markup=False, highlight=False).print(renderable)
    return out.getvalue()


def requested(capability: Capability, scope: Scope | None = None, parent: str | None = None) -> AskedView:
    return AskedView(
        capability=capability, scope=scope or Scope(), title="t", allows="a", risk="r", from_parent=parent
    )


def granted(capability: Capability, folder_hash: str, scope: Scope | None = None) -> Grant:
    return Grant(
        capability=capability,
        scope=scope or Scope(),
        folder_hash=folder_hash,
        granted_at=AT,
        granted_by="Ada",
    )


DETAIL = SkillDetail(
    name="weather",
    description=f"Tells the weather\n{EVIL}",
    kind=SkillKind.SCRIPT,
    version="1.2.0",
    tier=Tier.UNTRUSTED,
    source=GitSource(url="https://host/o/r.git", ref="v1", path="skills/weather", commit="c" * 40),
    state=SkillState.REVIEW,
    problem="It asks for http_get and kv.",
    capabilities=[Capability.HTTP_GET, Capability.KV],
    granted=[Capability.HTTP_GET],
    bots=["atlas"],
    folder="/data/skills/weather",
    folder_hash=HASH,
    entry="skill.js",
    files=[SkillFileView(path=f"f{number}", bytes=1500, is_text=True) for number in range(45)],
    problems=[SkillProblem(line=4, message="`x` is not a field.", hint="Remove it.", is_warning=True)],
    asks=[
        requested(Capability.HTTP_GET, HOSTS),
        requested(Capability.KV, parent="base"),
        requested(Capability.LOG),
    ],
    grants=[
        granted(Capability.HTTP_GET, HASH, HOSTS),
        granted(Capability.KV, OLD),
        granted(Capability.READ_ENV, HASH),
    ],
    limits=LimitsView(memory_bytes=16 << 20, fuel=20_000_000_000, seconds=10),
    dependencies=[RelationView(name="dates", range="^1.0", problem="It is not in the library.")],
    parents=[RelationView(name="base", version="0.1.0")],
)


def test_page_shows_grants_with_scope_and_effect():
    page = render(skill_page(DETAIL))
    assert "● http_get (api.example.com): granted for api.example.com by Ada" in page
    assert "● kv from base: granted by Ada" in page
    assert "not in effect: the skill changed since" in page
    assert "● log: not granted" in page
    assert "● read_env: granted, but no longer requested" in page


def test_page_shows_limits_relations_files_and_problems():
    page = render(skill_page(DETAIL))
    for text in (
        "16 MB, 10 s",
        "script (skill.js)",
        "https://host/o/r.git@v1#skills/weather (cccccccccccc)",
        "dates  ^1.0   It is not in the library.",
        "base  *      0.1.0",
        "f0    1.5 kB",
        "● SKILL.md:4 `x` is not a field.\n  Remove it.",
        "atlas",
    ):
        assert text in page


def test_text_of_a_skill_is_sanitized_for_the_terminal():
    manifest = Manifest(name="weather", description=EVIL, license=EVIL)
    staged = StagedSkill(
        name=EVIL,
        path=EVIL,
        valid=True,
        manifest=manifest,
        folder_hash=HASH,
        source=ZipSource(name=EVIL, sha256=OLD),
    )
    run = SkillRun(
        id="1",
        skill="weather",
        version="1",
        folder_hash=HASH,
        kind=SkillKind.SCRIPT,
        tier=Tier.LOCAL,
        purpose="cli",
        by=EVIL,
        end=RunEnd.RAISED,
        error=EVIL,
        input_hash=HASH,
        duration_ms=12,
        at=AT,
    )
    entry = RegistryEntry(registry="acme", name=EVIL, version=EVIL, description=EVIL, capabilities=[EVIL])
    for page in (
        skill_page(DETAIL),
        skills_table([DETAIL]),
        staged_page(staged),
        staged_table([staged]),
        installed_line(Installed(name=EVIL, installed=False, problem=EVIL, hint=EVIL)),
        problem_line(SkillProblem(message=EVIL, hint=EVIL)),
        case_line(Case(name=EVIL, passed=False, detail=EVIL)),
        runs_table([run]),
        registries_table([Registry(name="acme", url=EVIL, problem=EVIL)]),
        entries_table([entry]),
    ):
        page_text = render(page)
        assert "evil" in page_text and "\x1b" not in page_text and "\u202e" not in page_text


def test_list_shows_the_first_sentence_of_a_description():
    card = DETAIL.model_copy(update={"description": "Knows v1.2 of it. Use when asked."})
    assert render(skills_table([card])).rstrip().endswith("Knows v1.2 of it.")


def test_staged_page_shows_changes_and_relations():
    staged = StagedSkill(
        name="weather",
        path="skills/weather",
        valid=True,
        manifest=Manifest(name="weather", description="Tells.", metadata={"version": "2.0.0"}),
        folder_hash=HASH,
        files=[SkillFileView(path="SKILL.md", bytes=10, is_text=True)],
        asks=[requested(Capability.HTTP_GET, HOSTS), requested(Capability.HTTP_GET, parent="base")],
        source=OwnSource(),
        replaces="1.2.0",
        changes=["SKILL.md", "skill.js"],
        needs=[RelationView(name="dates", problem="It is not in the library.")],
        conflicts=[RelationView(name="rain", version="1.0.0", problem="It is in the library.")],
    )
    page = render(staged_page(staged))
    for text in (
        "weather 2.0.0",
        "version 1.2.0",
        "SKILL.md, skill.js",
        "1, 10 bytes",
        "NEEDS",
        "dates",
        "rain",
    ):
        assert text in page
    assert page.count("http_get") == 1


@pytest.mark.parametrize(
    ("done", "line"),
    [
        (
            Installed(name="a", installed=True, is_new=True, version="1.0.0", state=SkillState.READY),
            "● installed a 1.0.0\n",
        ),
        (Installed(name="a", installed=True, version="1.0.0"), "● unchanged a 1.0.0\n"),
        (Installed(name="a", installed=False, problem="No.", hint="Do."), "● a: No.\n  Do.\n"),
        (
            Installed(name="a", installed=True, is_new=True, state=SkillState.REVIEW),
            "● installed a\n  Not all requested capabilities are granted: forge skill grant a\n",
        ),
    ],
)
def test_install_result_is_one_line(done: Installed, line: str):
    assert render(installed_line(done)) == line


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (OwnSource(), "created here"),
        (StarterSource(), "built in"),
        (FolderSource(path="/srv/a"), "the folder /srv/a"),
        (ZipSource(name="a.zip", sha256=HASH), "the archive a.zip"),
        (GitSource(url="https://host/r"), "https://host/r"),
        (RegistrySource(registry="acme", name="pdf", version="1.0.0"), "acme:pdf@1.0.0"),
    ],
)
def test_source_is_shown_as_it_can_be_typed(source: Origin, text: str):
    assert format_source(source) == text


@pytest.mark.parametrize(
    ("kind", "output", "text"),
    [
        (SkillKind.SCRIPT, "as\nit is", "as\nit is"),
        (SkillKind.SCRIPT, {"ä": [1, None]}, '{\n  "ä": [\n    1,\n    null\n  ]\n}'),
        (SkillKind.SCRIPT, None, "null"),
        (SkillKind.SCRIPT, {"text": "x"}, '{\n  "text": "x"\n}'),
        (SkillKind.PROMPT, {"text": "# Notes\n\nShort."}, "# Notes\n\nShort."),
    ],
)
def test_text_output_is_printed_unchanged_and_others_as_json(kind: SkillKind, output: JsonValue, text: str):
    ran = SkillRan(
        id="1",
        skill="a",
        version="1.0.0",
        folder_hash=HASH,
        kind=kind,
        tier=Tier.LOCAL,
        purpose="cli",
        end=RunEnd.DONE,
        input_hash=HASH,
        duration_ms=1,
        at=AT,
        output=output,
    )
    assert result_text(ran) == text
