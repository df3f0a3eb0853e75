"""Skills that are made here: written down as somebody's own, with what was allowed while it was made."""

from collections.abc import Collection

from forge.kernel.clock import now
from forge.skills.granting import as_asked, grants_of
from forge.skills.library import Library
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD, Capability, Tier
from forge.skills.recording import Recording, Standing
from forge.skills.sources import OwnSource
from forge.skills.wishes import asks_of
from forge.store.engine import Tx


class OwnSkills:
    def __init__(self, library: Library, recording: Recording) -> None:
        self._library = library
        self._recording = recording

    async def keep(
        self, tx: Tx, account_id: str, name: str, allowed: Collection[Capability], *, by: str
    ) -> None:
        """Of a skill that lies in the library."""
        snapshot = await self._library.snapshot(name)
        manifest = read_skill_md(snapshot.files[SKILL_MD].decode(), name).manifest
        if manifest is None:
            return
        asks = asks_of(manifest, ())
        await self._recording.keep(
            tx,
            account_id,
            Standing(
                name,
                source=OwnSource(),
                tier=Tier.LOCAL,
                version=manifest.version,
                folder_hash=snapshot.folder_hash,
            ),
            grants_of(
                name,
                manifest.kind,
                asks,
                as_asked(manifest.kind, asks, allowed),
                folder_hash=snapshot.folder_hash,
                by=by,
                at=now(),
            ),
        )
