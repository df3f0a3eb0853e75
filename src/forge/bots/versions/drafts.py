"""A text while it is in somebody's editor: whatever happens to the save, the text is not lost."""

import tempfile
from pathlib import Path
from types import TracebackType

import click

from forge.bots.models import FileProblem
from forge.bots.versions.models import FileConflict, FileState
from forge.bots.versions.show import diff_text, place_of
from forge.errors import Conflict, Invalid
from forge.terminal.given import read_file
from forge.terminal.output import console
from forge.terminal.text import clean


def base_of(state: FileState, which: str) -> str:
    """The hash of what is edited, when there is something to edit."""
    if state.hash is None:
        raise Conflict(
            f"{state.file.file_name} cannot be edited as it is.",
            hint=f"Write an older version back: forge bots files rollback {which}",
        )
    return state.hash


class Draft:
    """A copy of a file in a folder of its own, removed when it was saved and kept when it was not."""

    def __init__(self, state: FileState, which: str) -> None:
        self.base = base_of(state, which)
        self._before = state.content or ""
        self._which = which
        self._path = Path(tempfile.mkdtemp(prefix="forge-")) / state.file.file_name

    def __enter__(self) -> "Draft":
        self._path.write_bytes(self._before.encode())
        return self

    def edit(self) -> str | None:
        """What it became; None when it is the same as before."""
        click.edit(filename=str(self._path))
        content = read_file(self._path)
        return None if content == self._before else content

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._path.unlink()
            self._path.parent.rmdir()
            return
        base = self.base
        if isinstance(error, Conflict) and error.detail:
            base = self._show_conflict(FileConflict.model_validate(error.detail))
        elif isinstance(error, Invalid) and error.detail:
            self._show_problems(error.detail.get("problems", []))
        click.echo(f"Your text is in {self._path}", err=True)
        click.echo(f"Save it: forge bots files save {self._which} {self._path} --base {base}", err=True)

    def _show_conflict(self, conflict: FileConflict) -> str:
        """Returns what the text can be saved on once both are put together."""
        console(stderr=True).print(diff_text(conflict.theirs or conflict.yours))
        return conflict.current.hash or self.base

    def _show_problems(self, problems: list[object]) -> None:
        for problem in map(FileProblem.model_validate, problems):
            click.echo(f"{place_of(problem)} {clean(problem.message)}", err=True)
