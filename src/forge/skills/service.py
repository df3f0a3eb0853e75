"""What people do with skills: look, write, grant, run, test."""

from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.views import (
    FileContent,
    GrantsWish,
    NewSkill,
    RunWish,
    SkillCard,
    SkillDetail,
    SkillEdit,
    SkillRan,
    SkillRun,
    SkillState,
    SkillTestReport,
    SkillTestWish,
    TryWish,
    Validation,
)
from forge.store.paging import Cursor, Page


class Skills:
    async def find_all(
        self,
        account_id: str,
        *,
        words: str,
        kind: SkillKind | None,
        tier: Tier | None,
        state: SkillState | None,
        capability: Capability | None,
    ) -> list[SkillCard]:
        raise NotImplementedError

    async def detail(self, account_id: str, name: str) -> SkillDetail:
        raise NotImplementedError

    async def create(self, account_id: str, new: NewSkill) -> SkillDetail:
        raise NotImplementedError

    async def validate(self, new: NewSkill) -> Validation:
        raise NotImplementedError

    async def try_out(self, account_id: str, wish: TryWish, *, by: str) -> SkillRan:
        raise NotImplementedError

    async def save(self, account_id: str, name: str, edit: SkillEdit) -> SkillDetail:
        raise NotImplementedError

    async def remove(self, account_id: str, name: str, *, force: bool) -> SkillCard:
        raise NotImplementedError

    async def file(self, name: str, path: str) -> FileContent:
        raise NotImplementedError

    async def export(self, name: str) -> bytes:
        raise NotImplementedError

    async def run(self, account_id: str, name: str, wish: RunWish, *, by: str) -> SkillRan:
        raise NotImplementedError

    async def runs(self, account_id: str, name: str, cursor: Cursor | None, limit: int) -> Page[SkillRun]:
        raise NotImplementedError

    async def test(self, account_id: str, name: str, wish: SkillTestWish) -> SkillTestReport:
        raise NotImplementedError

    async def grant(self, account_id: str, name: str, wish: GrantsWish, *, by: str) -> SkillDetail:
        raise NotImplementedError

    async def revoke(self, account_id: str, name: str, capability: Capability) -> SkillDetail:
        raise NotImplementedError

    async def set_tier(self, account_id: str, name: str, tier: Tier) -> SkillDetail:
        raise NotImplementedError
