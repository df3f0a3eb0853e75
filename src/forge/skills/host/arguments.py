"""Arguments of the host operations, the capability each needs, and how to grant it."""

import shlex
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from forge.kernel.text import NO_NUL, repair_surrogates
from forge.outgoing.models import MAX_URL, Method
from forge.outgoing.target import parse_url
from forge.skills.host.resources import MAX_TEXT
from forge.skills.models import Capability

MAX_RECALLED = 20

Text = Annotated[str, AfterValidator(repair_surrogates)]
Key = Annotated[str, Field(min_length=1, max_length=200), NO_NUL, AfterValidator(repair_surrogates)]
Name = Annotated[str, Field(max_length=100)]
Path = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(repair_surrogates)]


def _upper(given: object) -> object:
    return given.upper() if isinstance(given, str) else given


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def needs(self) -> Capability | None:
        """The capability the operation needs; None if every skill may call it."""
        return None

    @property
    def asks(self) -> str:
        """What a grant has to cover, as written after `capability=`."""
        return ""


class Nothing(Arguments):
    pass


class Log(Arguments):
    level: str = "info"
    message: JsonValue = ""


class Http(Arguments):
    method: Annotated[Method, BeforeValidator(_upper)] = Method.GET
    url: Annotated[str, Field(max_length=MAX_URL)]
    headers: dict[str, str] = {}
    body: Text | None = None

    @property
    def needs(self) -> Capability:
        return Capability.HTTP_GET if self.method.only_reads else Capability.HTTP_POST

    @property
    def asks(self) -> str:
        return parse_url(self.url).authority


class _OfKeys(Arguments):
    @property
    def needs(self) -> Capability:
        return Capability.KV


class OneKey(_OfKeys):
    key: Key


class SetKey(_OfKeys):
    key: Key
    value: JsonValue


class Keys(_OfKeys):
    prefix: Text = ""


class Secret(Arguments):
    name: Name

    @property
    def needs(self) -> Capability:
        return Capability.GET_SECRET

    @property
    def asks(self) -> str:
        return self.name


class Env(Arguments):
    name: Name

    @property
    def needs(self) -> Capability:
        return Capability.READ_ENV

    @property
    def asks(self) -> str:
        return self.name


class Memory(Arguments):
    query: Annotated[Text, Field(min_length=1, max_length=2000)]
    limit: Annotated[int, Field(ge=1, le=MAX_RECALLED)] = 5

    @property
    def needs(self) -> Capability:
        return Capability.RECALL_MEMORY


class ReadFile(Arguments):
    path: Path

    @property
    def needs(self) -> Capability:
        return Capability.READ_FILE

    @property
    def asks(self) -> str:
        return self.path if self.path.startswith("/") else ""


class ListFiles(ReadFile):
    path: Path = "."


class WriteFile(ReadFile):
    text: Annotated[Text, Field(max_length=MAX_TEXT)]

    @property
    def needs(self) -> Capability:
        return Capability.WRITE_FILE


class Exec(Arguments):
    argv: Annotated[list[Annotated[Text, Field(max_length=100_000)]], Field(min_length=1, max_length=100)]
    input: Annotated[Text, Field(max_length=1_000_000)] | None = None

    @property
    def needs(self) -> Capability:
        return Capability.EXEC_COMMAND

    @property
    def asks(self) -> str:
        return self.argv[0]


MAX_ENTRY_CHARS = 300


def how_to_grant(skill: str, capability: Capability, covering: Sequence[str]) -> str:
    """Return the command that grants the capability. Its arguments are quoted, since they come from the skill."""
    entries = [entry for entry in covering if entry and entry.isprintable() and len(entry) <= MAX_ENTRY_CHARS]
    request = f"{capability.value}={','.join(entries)}" if entries else capability.value
    return f"forge skill grant {skill} {shlex.quote(request)}"
