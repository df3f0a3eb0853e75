"""Facts that reveal a secret are recognized; facts about secrets are not."""

import pytest

from forge.bots.memory.extraction import reveals_secret


@pytest.mark.parametrize(
    "fact",
    [
        "The person's password is hunter2.",
        "The Wi-Fi password for the summer house is 'bluewhale'.",
        "Passwort: geheim123",
        "Das Passwort für den Router lautet Sommer2024.",
        "The PIN of the card is 4711.",
        "The API key is abc",
        "api_key=abc123",
        "Le mot de passe est soleil.",
        "The person uses sk-" + "ant-api03-abcdefghijklmnop for their bot.",
        "Token ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a",
        "The key begins with -----BEGIN " + "OPENSSH PRIVATE KEY-----",
        "The session is 9f86d081884c7d659a2feaa0c55ad015.",
        "The card number is 4111 1111 1111 1111.",
    ],
)
def test_secret_is_recognized(fact: str):
    assert reveals_secret(fact)


@pytest.mark.parametrize(
    "fact",
    [
        "The person uses Bitwarden as a password manager.",
        "The person's password manager is Bitwarden.",
        "The password is stored in the vault.",
        "The person forgot their password last week.",
        "The secret of the recipe is more butter.",
        "The person pins notes to the fridge.",
        "The person's phone number is 030 1234567.",
        "The project is at https://example.com/projects/forge-recall-benchmark-2026.",
        "The person works on supercalifragilisticexpialidocious.",
        "The order number is 2026-11-15-0042.",
        "The person born in 1990 likes tokens of appreciation.",
    ],
)
def test_fact_about_secrets_is_accepted(fact: str):
    assert not reveals_secret(fact)
