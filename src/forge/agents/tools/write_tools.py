"""Tools that write whole files or edit passages."""

import asyncio

from pydantic import BaseModel, Field

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext
from forge.agents.tools import syntax
from forge.agents.tools.read_tools import MAX_FILE_BYTES, SHOWN_HASH, ToolInput, failed
from forge.agents.tools.text_edits import Document, EditRefused, Replacement
from forge.errors import NotFound
from forge.kernel.hashing import hash_bytes
from forge.workspace.filesystem.files import FileContent, Files

MAX_CHARS = 500_000
MAX_EDITS = 100
CREATED, UNCHANGED = "created", "unchanged"


class WriteFileInput(ToolInput):
    path: str = Field(description="Relative to the workspace; missing directories are created.")
    content: str = Field(max_length=MAX_CHARS, description="The whole content of the file.")


class WriteFile(Tool[WriteFileInput]):
    name = "write_file"
    description = (
        "Write a whole file; missing directories are created. To change an existing file, prefer edit_file. "
        "Reports Python, JSON or TOML that cannot be parsed; the file is written anyway."
    )
    brief = "Write a whole file."
    effect = Effect.WRITES
    input = WriteFileInput

    async def use(self, arguments: WriteFileInput, context: ToolContext) -> ToolOutcome:
        data = arguments.content.encode()
        meant = WriteIntent(
            after=hash_bytes(data), verb=await asyncio.to_thread(_verb, arguments.path, data, context.files)
        )
        done = await _write(context, arguments.path, data, meant)
        found = await syntax.check(arguments.path, data)
        warning = f"But it cannot be parsed: {found.problem}" if found.is_broken else ""
        return _outcome(arguments.path, done, len(data), warning)


def _verb(path: str, data: bytes, files: Files) -> str:
    """Return the verb that describes the write."""
    try:
        found = files.read(path, limit=len(data))
    except NotFound:
        return CREATED
    return UNCHANGED if found.hash and found.data == data else "replaced"


class Edit(ToolInput):
    old_text: str = Field(
        min_length=1,
        max_length=MAX_CHARS,
        description="Copied exactly from the file, long enough to occur only once.",
    )
    new_text: str = Field(max_length=MAX_CHARS, description="The replacement; empty to delete the passage.")


class EditFileInput(ToolInput):
    path: str = Field(description="Relative to the workspace; the file must exist.")
    edits: list[Edit] = Field(
        min_length=1, max_length=MAX_EDITS, description="Applied in this order, all or none."
    )
    base_hash: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{8,64}$",
        description="From read_file: the edit is refused if the file has changed since.",
    )


class EditFile(Tool[EditFileInput]):
    name = "edit_file"
    description = (
        "Replace passages of a file. Each old_text must occur exactly once in the file after the previous edits, "
        "else nothing is written. An edit that breaks the syntax of Python, JSON or TOML is rejected."
    )
    brief = "Replace passages of a file. Each old_text is copied from it and occurs exactly once."
    effect = Effect.WRITES
    input = EditFileInput

    async def use(self, arguments: EditFileInput, context: ToolContext) -> ToolOutcome:
        old = await asyncio.to_thread(context.files.read, arguments.path, limit=MAX_FILE_BYTES)
        if old.hash is None:
            return failed(
                arguments.path, f"{arguments.path!r} is too large to be edited ({old.size:,} bytes)."
            )
        if (done := await _find_completed(context, old)) is not None:
            return _outcome(arguments.path, done, old.size)
        if arguments.base_hash and not old.hash.startswith(arguments.base_hash):
            return _has_changed(arguments.path, old.hash)
        try:
            data = await asyncio.to_thread(_apply, old, arguments.edits)
        except EditRefused as refused:
            return failed(arguments.path, f"Nothing was written. {arguments.path}, {refused}")
        after = await syntax.check(arguments.path, data)
        if after.is_broken and not (await syntax.check(arguments.path, old.data)).is_broken:
            return _would_break(arguments.path, after)
        verb = UNCHANGED if data is old.data else _applied(arguments.edits)
        meant = WriteIntent(after=await asyncio.to_thread(hash_bytes, data), verb=verb)
        done = await _write(context, arguments.path, data, meant, expect=old.hash)
        warning = (
            f"It could not be parsed before and still cannot be: {after.problem}" if after.is_broken else ""
        )
        return _outcome(arguments.path, done, len(data), warning)


def _apply(old: FileContent, edits: list[Edit]) -> bytes:
    """Apply the edits; returns the identical object if nothing changes."""
    document = Document.read(old.data)
    text = document.apply([Replacement(edit.old_text, edit.new_text) for edit in edits])
    data = document.bytes_of(text)
    return old.data if text == document.text or data == old.data else data


def _applied(edits: list[Edit]) -> str:
    return f"{len(edits)} edit{'s' if len(edits) > 1 else ''} applied"


class WriteIntent(BaseModel):
    """Target of a write, recorded before it starts, so that it is not repeated after a crash."""

    after: str
    """Hash of the new content."""
    verb: str


async def _find_completed(context: ToolContext, now: FileContent) -> WriteIntent | None:
    recalled = await context.intent.recall()
    meant = WriteIntent.model_validate(recalled) if recalled is not None else None
    return meant if meant and meant.after == now.hash else None


async def _write(
    context: ToolContext, path: str, data: bytes, meant: WriteIntent, expect: str | None = None
) -> WriteIntent:
    """Write and return the intent; on a repeated call return the intent recorded first."""
    recalled = await context.intent.recall()
    if recalled is not None and (first := WriteIntent.model_validate(recalled)).after == meant.after:
        meant = first
    else:
        await context.intent.declare(meant.model_dump())
    await asyncio.to_thread(context.files.write, path, data, expect=expect)
    return meant


def _has_changed(path: str, now: str) -> ToolOutcome:
    return failed(
        path,
        f"Nothing was written: {path!r} has changed, its base_hash is now {now[:SHOWN_HASH]}. "
        "Read it again before you edit it.",
    )


def _would_break(path: str, after: syntax.Syntax) -> ToolOutcome:
    return failed(
        path,
        f"Nothing was written: after the edit {path} cannot be parsed ({after.problem}), but before it could be.",
    )


def _outcome(path: str, done: WriteIntent, size: int, warning: str = "") -> ToolOutcome:
    text = f"{path}: {done.verb}, {size:,} bytes, base_hash {done.after[:SHOWN_HASH]}"
    return ToolOutcome(
        text=f"{text}\n{warning}" if warning else text,
        summary=f"{path}, {done.verb}, {size:,} bytes",
        detail=ToolDetail(path=path, bytes=size, changed=done.verb != UNCHANGED),
    )
