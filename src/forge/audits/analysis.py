"""An analysis: a pure function of one file's content, so that its result can be kept by the content's hash."""

from typing import Protocol, TypeVar, runtime_checkable

R_co = TypeVar("R_co", covariant=True)


class Analyzer(Protocol[R_co]):
    """Must be picklable (a module-level class; a frozen dataclass is ideal): it may be sent to another process."""

    @property
    def key(self) -> str:
        """Names the analyzer, its version and everything of its configuration that the result depends on."""
        ...

    @property
    def result(self) -> type[R_co]:
        """What it returns: msgspec must be able to encode and decode it."""
        ...

    def __call__(self, suffix: str, data: bytes) -> R_co:
        """Never fails, whatever the bytes are: what cannot be read is a result too."""
        ...


@runtime_checkable
class Forgiving(Protocol[R_co]):
    """An analyzer that also has an answer for a file that kills or stalls its process.

    Without it such a file is an error of the whole check: never a file that is left out.
    """

    def unreadable(self) -> R_co: ...
