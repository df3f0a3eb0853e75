import traceback

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretBytes, SecretStr

from forge.accounts.models import SecretView, owner_id
from forge.accounts.tables import secrets
from forge.accounts.vault import AccountVault, Vault
from forge.errors import Conflict, Invalid, NotFound
from forge.store.database import Store

VALUE = SecretStr("sk-ant-plaintext-abcd")
MEMBER = "0192-member"


async def test_secret_is_returned_unchanged(vault: AccountVault, clock):
    shown = await vault.set("API_KEY", VALUE)
    assert shown == SecretView(
        name="API_KEY", scope="", last_four="abcd", updated_at=clock.at, source="vault"
    )
    assert await vault.resolve("API_KEY") == VALUE
    assert await vault.list() == [shown]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(min_size=1, alphabet=st.characters(codec="utf-8")))
async def test_any_text_can_be_a_secret(vault: AccountVault, value: str):
    await vault.set("NAME", SecretStr(value), "bot:atlas")
    assert (await vault.resolve("NAME", "bot:atlas")).get_secret_value() == value


async def test_setting_a_secret_again_keeps_its_creation_time(vault: AccountVault, clock, rows):
    made_at = clock.at
    await vault.set("API_KEY", VALUE)
    [before] = await rows(secrets)
    clock.advance(days=1)
    await vault.set("API_KEY", SecretStr("a new value 1234"))
    [after] = await rows(secrets)
    assert (after["created_at"], after["updated_at"], after["last_four"]) == (made_at, clock.at, "1234")
    assert after["nonce"] != before["nonce"]
    assert (await vault.resolve("API_KEY")).get_secret_value() == "a new value 1234"


async def test_same_secret_is_encrypted_differently(vault: AccountVault, rows):
    await vault.set("ONE", VALUE)
    await vault.set("TWO", VALUE)
    first, second = await rows(secrets)
    assert (first["nonce"], first["ciphertext"]) != (second["nonce"], second["ciphertext"])


async def test_database_contains_no_plaintext(vault: AccountVault, rows):
    await vault.set("API_KEY", VALUE)
    assert "plaintext" not in repr(await rows(secrets))


async def test_environment_precedes_scope_and_scope_precedes_shared(
    store: Store, vault: AccountVault, vault_key
):
    await vault.set("A_TOKEN", SecretStr("everyone"))
    assert (await vault.resolve("A_TOKEN", "bot:atlas")).get_secret_value() == "everyone"
    await vault.set("A_TOKEN", SecretStr("atlas only"), "bot:atlas")
    assert (await vault.resolve("A_TOKEN", "bot:atlas")).get_secret_value() == "atlas only"
    assert (await vault.resolve("A_TOKEN", "bot:other")).get_secret_value() == "everyone"
    assert (await vault.resolve("A_TOKEN")).get_secret_value() == "everyone"
    with_environment = Vault(store, vault_key, environment={"A_TOKEN": "from outside"}).of(owner_id())
    assert (await with_environment.resolve("A_TOKEN", "bot:atlas")).get_secret_value() == "from outside"
    with_empty = Vault(store, vault_key, environment={"A_TOKEN": ""}).of(owner_id())
    assert (await with_empty.resolve("A_TOKEN", "bot:atlas")).get_secret_value() == "atlas only"


async def test_find_returns_the_view_of_the_resolved_secret(store: Store, vault: AccountVault, vault_key):
    await vault.set("KEY", SecretStr("of everyone"))
    await vault.set("KEY", SecretStr("of atlas only"), "bot:atlas")
    outside = Vault(store, vault_key, environment={"KEY": "from outside"}, known_names=["KEY"]).of(owner_id())
    found = [
        await vault.find("KEY"),
        await vault.find("KEY", "bot:other"),
        await vault.find("KEY", "bot:atlas"),
        await outside.find("KEY", "bot:atlas"),
    ]
    assert [view and (view.scope, view.last_four, view.source) for view in found] == [
        ("", "yone", "vault"),
        ("", "yone", "vault"),
        ("bot:atlas", "only", "vault"),
        ("", "side", "environment"),
    ]
    assert await vault.find("ANOTHER") is None


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "DATABASE_URL", "FORGE_DATABASE_URL", "FORGE_API_KEY", "forge_api_key", "_TOKEN"]
)
async def test_environment_variable_that_is_no_secret_is_not_found(store: Store, vault_key, name: str):
    vault = Vault(store, vault_key, environment={name: "not for you"}, known_names=["FORGE_API_KEY"]).of(
        owner_id()
    )
    with pytest.raises(NotFound) as missing:
        await vault.resolve(name)
    assert missing.value.hint == f"Set it: forge secrets set {name}"
    assert await vault.list() == []
    await vault.set(name, VALUE)
    assert await vault.resolve(name) == VALUE


async def test_scoped_secret_is_not_found_in_other_scopes(vault: AccountVault):
    await vault.set("KEY", VALUE, "bot:atlas")
    for scope in ("", "bot:other"):
        with pytest.raises(NotFound):
            await vault.resolve("KEY", scope)


async def test_missing_secret_error_says_what_to_set(store: Store, vault_key):
    vault = Vault(store, vault_key, environment={"GITHUB_TOKEN": ""}).of(owner_id())
    with pytest.raises(NotFound) as missing:
        await vault.resolve("GITHUB_TOKEN", "bot:atlas")
    assert missing.value.message == "The secret GITHUB_TOKEN of bot:atlas is not set."
    assert missing.value.hint == (
        "Set it (forge secrets set GITHUB_TOKEN), or start the server with GITHUB_TOKEN in its environment."
    )


async def test_list_shows_last_four_characters_and_known_environment_names(store: Store, clock, vault_key):
    environment = {"ANTHROPIC_API_KEY": "from-the-shell-wxyz", "PATH": "/usr/bin", "SHORT": "1234567"}
    vault = Vault(
        store,
        vault_key,
        environment=environment,
        known_names=["ANTHROPIC_API_KEY", "SHORT", "ABSENT"],
        clock=clock,
    ).of(owner_id())
    await vault.set("ANTHROPIC_API_KEY", VALUE)
    await vault.set("TOKEN", SecretStr("1234567"), "bot:atlas")
    from_shell = SecretView(
        name="ANTHROPIC_API_KEY", scope="", last_four="wxyz", updated_at=None, source="environment"
    )
    saved = SecretView(
        name="ANTHROPIC_API_KEY", scope="", last_four="abcd", updated_at=clock.at, source="vault"
    )
    short = SecretView(name="SHORT", scope="", last_four="", updated_at=None, source="environment")
    scoped = SecretView(name="TOKEN", scope="bot:atlas", last_four="", updated_at=clock.at, source="vault")
    assert await vault.list() == [from_shell, saved, short, scoped]
    assert await vault.list("") == [from_shell, saved, short]
    assert await vault.list("bot:atlas") == [scoped]


async def test_removed_secret_is_gone(vault: AccountVault):
    shown = await vault.set("KEY", VALUE, "bot:atlas")
    with pytest.raises(NotFound, match="no secret KEY"):
        await vault.remove("KEY")
    assert await vault.remove("KEY", "bot:atlas") == shown
    with pytest.raises(NotFound, match="no secret KEY of bot:atlas"):
        await vault.remove("KEY", "bot:atlas")


async def test_wrong_vault_key_is_rejected(store: Store, vault: AccountVault):
    await vault.set("KEY", VALUE)
    other = Vault(store, SecretBytes(b"x" * 32), environment={}).of(owner_id())
    with pytest.raises(Conflict, match="The vault key cannot decrypt the secret KEY") as refused:
        await other.resolve("KEY")
    assert VALUE.get_secret_value() not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("column", ["ciphertext", "nonce"])
@pytest.mark.parametrize("tamper", ["flip", "cut", "empty"])
async def test_changed_row_cannot_be_decrypted(
    store: Store, vault: AccountVault, column: str, tamper: str, rows
):
    await vault.set("KEY", VALUE)
    old = (await rows(secrets))[0][column]
    new = {"flip": bytes([old[0] ^ 1]) + old[1:], "cut": old[:-1], "empty": b""}[tamper]
    await _change(store, **{column: new})
    with pytest.raises(Conflict, match="cannot decrypt"):
        await vault.resolve("KEY")


@pytest.mark.parametrize("moved", [{"name": "OTHER"}, {"scope": "bot:atlas"}, {"account_id": MEMBER}])
async def test_row_moved_to_another_place_cannot_be_decrypted(
    store: Store, vaults: Vault, vault: AccountVault, moved: dict[str, str]
):
    await vault.set("KEY", VALUE)
    await _change(store, **moved)
    with pytest.raises(Conflict, match="cannot decrypt"):
        await vaults.resolve(
            moved.get("account_id", owner_id()), moved.get("name", "KEY"), moved.get("scope", "")
        )


async def test_secrets_of_the_owner_are_not_found_by_members(store: Store, vault_key, clock):
    vaults = Vault(store, vault_key, environment={"A_TOKEN": "from the server"}, known_names=["A_TOKEN"])
    owner, member = vaults.of(owner_id()), vaults.of(MEMBER)
    await owner.set("KEY", VALUE)
    await owner.set("KEY", VALUE, "bot:atlas")
    assert [await member.find(name, scope) for name in ("KEY", "A_TOKEN") for scope in ("", "bot:atlas")] == [
        None
    ] * 4
    assert await member.list() == []
    with pytest.raises(NotFound) as missing:
        await member.resolve("A_TOKEN")
    assert missing.value.hint == "Set it: forge secrets set A_TOKEN"
    with pytest.raises(NotFound):
        await member.remove("KEY")
    await member.set("KEY", SecretStr("the member's own"))
    assert (await member.resolve("KEY", "bot:atlas")).get_secret_value() == "the member's own"
    assert await owner.resolve("KEY") == VALUE


@pytest.mark.parametrize("name", ["", "1A", "A B", "../x", "A\n", "A\x00", "a" * 129, "é"])
async def test_invalid_secret_name_is_rejected(vault: AccountVault, name: str):
    for attempt in (vault.resolve(name), vault.remove(name), vault.set(name, VALUE)):
        with pytest.raises(Invalid) as refused:
            await attempt
        assert refused.value.field == "name"


@pytest.mark.parametrize(
    "scope", ["bot", "bot:", "Bot:a", "bot:a b", "bot:a\n", "bot:\x00", "bot:" + "a" * 65]
)
async def test_invalid_secret_scope_is_rejected(vault: AccountVault, scope: str):
    with pytest.raises(Invalid) as refused:
        await vault.set("KEY", VALUE, scope)
    assert refused.value.field == "scope"


@pytest.mark.parametrize("length", [0, 65_537])
async def test_secret_of_invalid_length_is_rejected_without_showing_it(vault: AccountVault, length: int):
    with pytest.raises(Invalid) as refused:
        await vault.set("KEY", SecretStr("v" * length))
    assert refused.value.message == "A secret must have 1 to 65536 characters."


async def test_secret_with_invalid_text_is_rejected_without_showing_it(vault: AccountVault):
    with pytest.raises(Invalid) as refused:
        await vault.set("KEY", SecretStr(VALUE.get_secret_value() + "\ud800"))
    assert "plaintext" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("value", ["a secret\n", "a secret\x00", "short"])
async def test_unprintable_last_characters_are_not_shown(vault: AccountVault, value: str):
    assert (await vault.set("KEY", SecretStr(value))).last_four == ""
    assert (await vault.resolve("KEY")).get_secret_value() == value


async def test_longest_secret_is_accepted(vault: AccountVault):
    await vault.set("KEY", SecretStr("v" * 65_536))
    assert len(await vault.resolve("KEY")) == 65_536


async def test_repr_hides_secrets(vault: AccountVault, vault_key):
    await vault.set("KEY", VALUE)
    shown = [vault, vars(vault), await vault.list(), await vault.resolve("KEY"), vault_key]
    assert "plaintext" not in repr(shown)
    assert "kkkk" not in repr(shown)


async def _change(store: Store, **values: object) -> None:
    async with store.begin() as tx:
        await tx.execute(sa.update(secrets).values(**values))
