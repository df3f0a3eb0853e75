"""Every rule matches its own examples and nothing else, and each secret is one finding."""

import pytest

from forge.audits.secrets.models import Rank, Rule, Vendor
from forge.audits.secrets.rules import RULES
from forge.audits.secrets.rules.vendors import VENDORS
from forge.audits.secrets.scanner import scan
from forge.audits.secrets.shapes import sample_of

SEEDS = range(3)
AROUND = (
    "{}",
    'TOKEN = "{}"',
    "token: {}",
    "export TOKEN={}",
    '{{"token": "{}", "n": 1}}',
    "\\n{}\\n",
    "see {}.",
)
NAMES = (
    '{}_api_token = "{}"',
    "{}-secret-key: '{}'",
    '"{}Token": "{}",',
    "<{}Token>{}</x>",
    "'{}_token' => '{}'",
    'string {}Token = "{}";',
    'const {}Key: string = "{}";',
    'os.getenv("{}_TOKEN", "{}")',
    "--{}-token {} --verbose",
    '<add key="{}Token" value="{}"/>',
)


def of(rule: Rule) -> str:
    return rule.id


def vendor_of(vendor: Vendor) -> str:
    return vendor.id


@pytest.mark.parametrize("rule", RULES, ids=of)
def test_each_rule_finds_only_its_own_samples(rule: Rule) -> None:
    lines = [sample_of(shape, seed) for shape in rule.samples for seed in SEEDS]
    assert {line: [hit.rule for hit in scan(line.encode())] for line in lines} == {
        line: [rule.id] for line in lines
    }


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.rank is Rank.TOKEN], ids=of)
def test_each_secret_is_one_finding_in_any_context(rule: Rule) -> None:
    secret = sample_of(rule.samples[0], 9)
    lines = [around.format(secret) for around in AROUND]
    assert [len(scan(line.encode())) for line in lines] == [1] * len(lines)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.harmless], ids=of)
def test_lookalike_is_not_a_secret(rule: Rule) -> None:
    lines = [sample_of(shape, seed) for shape in rule.harmless for seed in SEEDS]
    assert {line: scan(line.encode()) for line in lines} == {line: [] for line in lines}


@pytest.mark.parametrize("vendor", VENDORS, ids=vendor_of)
def test_value_with_vendor_name_is_one_finding(vendor: Vendor) -> None:
    lines = [
        name.format(vendor.words[0], sample_of(shape, seed))
        for shape in vendor.shapes
        for seed, name in enumerate(NAMES)
    ]
    assert [len(scan(line.encode())) for line in lines] == [1] * len(lines)


def test_ids_are_unique_and_kinds_are_readable() -> None:
    ids = [rule.id for rule in RULES] + [vendor.id for vendor in VENDORS]
    assert len(set(ids)) == len(ids)
    assert all(part.isalnum() and part.islower() for id in ids for part in id.split("-"))
    assert all(not rule.kind.endswith(".") and rule.kind for rule in RULES)


def test_every_rule_has_samples_and_prefixes() -> None:
    assert [rule.id for rule in RULES if not rule.samples or not all(rule.starts)] == []
