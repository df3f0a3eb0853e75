"""Where a skill came from: enough to fetch it again."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.kernel.text import NO_NUL

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Address = Annotated[str, Field(min_length=1, max_length=2000), NO_NUL]
Path = Annotated[str, Field(max_length=1000), NO_NUL]


class _Source(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OwnSource(_Source):
    """Made here: by hand, in the editor, in an interview; or a folder somebody put into the library."""

    type: Literal["own"] = "own"


class StarterSource(_Source):
    """Comes with Forge."""

    type: Literal["starter"] = "starter"


class FolderSource(_Source):
    """A folder on the machine of whoever installed it. Fetching it again is up to them."""

    type: Literal["folder"] = "folder"
    path: Path


class ZipSource(_Source):
    type: Literal["zip"] = "zip"
    name: Annotated[str, Field(max_length=255), NO_NUL]
    """Of the archive, as it was given."""
    sha256: Sha256


class GitSource(_Source):
    type: Literal["git"] = "git"
    url: Address
    ref: Annotated[str, Field(max_length=200), NO_NUL] | None = None
    """A branch, tag or commit; None for whatever the repository has as its default."""
    path: Path = ""
    """Of the skill's folder in the repository; empty when the repository is the skill."""
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")] | None = None
    """Which one was installed."""


class RegistrySource(_Source):
    type: Literal["registry"] = "registry"
    registry: Annotated[str, Field(max_length=64)]
    name: Annotated[str, Field(max_length=64)]
    version: Annotated[str, Field(max_length=64)]
    sha256: Sha256 | None = None


Origin = Annotated[
    OwnSource | StarterSource | FolderSource | ZipSource | GitSource | RegistrySource,
    Field(discriminator="type"),
]
