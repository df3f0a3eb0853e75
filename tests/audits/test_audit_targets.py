"""Which folders may be audited, and what an error reveals about others."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.accounts.models import owner_id
from forge.audits.audit_targets import AuditTarget, AuditTargets
from forge.audits.models import AuditRoots
from forge.errors import Denied, ForgeError, Invalid, NotFound
from forge.workspace.filesystem.allowed_roots import default_roots
from forge.workspace.service import Workspaces


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    return path


def places(tmp_path: Path, *roots: Path, start: Path | None = None) -> AuditTargets:
    nobody: Any = None  # no test here uses a workspace
    workspaces: Workspaces = nobody
    return AuditTargets(workspaces, tmp_path / "data", start or tmp_path, roots or None)


async def find(where: AuditTargets, path: str | None) -> AuditTarget:
    return await where.find(owner_id(), workspace_id=None, path=path)


async def refusal(where: AuditTargets, path: str | None) -> ForgeError:
    with pytest.raises(ForgeError) as refused:
        await find(where, path)
    return refused.value


async def test_repository_inside_root_is_found_from_any_subfolder(tmp_path: Path):
    project = repository(tmp_path / "projects" / "basket")
    (project / "app" / "deep").mkdir(parents=True)
    where = places(tmp_path, tmp_path / "projects")
    for path in (project, project / "app" / "deep", project / "app" / ".."):
        assert await find(where, str(path)) == AuditTarget(project, None, "basket")


async def test_path_outside_roots_is_rejected_whether_it_exists_or_not(tmp_path: Path):
    repository(tmp_path / "other")
    repository(tmp_path / "projects" / "basket")
    where = places(tmp_path, tmp_path / "projects")
    outside = [tmp_path / "other", tmp_path / "none", tmp_path / "projects" / ".." / "other", Path("/")]
    for path in outside:
        refused = await refusal(where, str(path))
        assert isinstance(refused, Denied) and "FORGE_AUDIT_ROOTS" in str(refused.hint)


async def test_links_are_resolved_before_checking_roots(tmp_path: Path):
    inside, outside = repository(tmp_path / "projects" / "basket"), repository(tmp_path / "other")
    (tmp_path / "projects" / "way-out").symlink_to(outside)
    (tmp_path / "way-in").symlink_to(inside)
    where = places(tmp_path, tmp_path / "projects")
    refused = await refusal(where, str(tmp_path / "projects" / "way-out"))
    assert isinstance(refused, Denied)
    assert ("way-out" in refused.message, str(outside) in refused.message) == (True, False)
    assert await find(where, str(tmp_path / "way-in")) == AuditTarget(inside, None, "basket")


async def test_root_inside_repository_does_not_allow_repository(tmp_path: Path):
    project = repository(tmp_path / "basket")
    (project / "docs").mkdir()
    assert isinstance(await refusal(places(tmp_path, project / "docs"), str(project / "docs")), Denied)


async def test_repository_with_git_directory_outside_roots_is_rejected(tmp_path: Path):
    secret = repository(tmp_path / "secret")
    borrowed = tmp_path / "projects" / "borrowed"
    borrowed.mkdir(parents=True)
    (borrowed / ".git").write_text(f"gitdir: {secret}/.git\n")
    assert isinstance(await refusal(places(tmp_path, tmp_path / "projects"), str(borrowed)), Denied)


async def test_roots_and_projects_are_listed(tmp_path: Path):
    inside, alone = repository(tmp_path / "projects" / "basket"), repository(tmp_path / "alone")
    (tmp_path / "projects" / "plain").mkdir()
    (tmp_path / "projects" / "way-out").symlink_to(repository(tmp_path / "other"))
    roots = [tmp_path / "projects", alone, tmp_path / "none"]
    offered = await places(tmp_path, *roots).roots(owner_id())
    assert offered == AuditRoots(
        roots=[str(root) for root in roots], projects=[str(alone), str(inside)], start=None
    )
    assert (await places(tmp_path, start=alone).roots(owner_id())).start == str(alone)


async def test_data_directory_cannot_be_audited(tmp_path: Path):
    repository(tmp_path / "data" / "workspaces" / "1" / "tree")
    path = str(tmp_path / "data" / "workspaces" / "1" / "tree")
    assert isinstance(await refusal(places(tmp_path, tmp_path), path), Denied)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("plain", Invalid), ("none", NotFound), ("x" * 5000, NotFound), ("circle", Invalid)],
)
async def test_folder_without_repository_is_rejected(tmp_path: Path, path: str, kind: type[ForgeError]):
    (tmp_path / "plain").mkdir()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert isinstance(await refusal(places(tmp_path, tmp_path), path), kind)


async def test_default_path_is_start_directory(tmp_path: Path):
    project = repository(tmp_path / "basket")
    assert await find(places(tmp_path, start=project), None) == AuditTarget(project, None, "basket")
    assert isinstance(await refusal(places(tmp_path, tmp_path / "other", start=project), None), Invalid)


def test_home_and_file_system_root_are_not_default_roots(tmp_path: Path):
    assert default_roots(tmp_path) == (tmp_path,)
    assert default_roots(Path.home().resolve()) == default_roots(Path("/")) == ()
