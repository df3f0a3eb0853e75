"""The reference page of registries: its example is valid and its limits match the code."""

import re
from pathlib import Path

from forge.skills.format.zip_archive import MAX_ENTRIES, MAX_ENTRY, MAX_UNPACKED
from forge.skills.installation.registries import MAX_ARCHIVE_BYTES
from forge.skills.installation.registry_index import MAX_INDEX_BYTES, MAX_SKILLS, Offer, read_index

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "registries.md").read_text()


def test_example_is_a_valid_index_with_every_field():
    found = re.search(r"```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    index = read_index(found[1].encode())
    assert index.problem is None
    assert index.offers[0].model_fields_set == set(Offer.model_fields)
    assert set(Offer.model_fields) <= set(re.findall(r"`([a-z0-9]+)`", PAGE))


def test_documented_limits_match_the_code():
    text = " ".join(PAGE.split())
    assert f"at most {MAX_SKILLS:,} entries and {MAX_INDEX_BYTES >> 20} MB" in text
    each, together = MAX_ENTRY >> 20, MAX_UNPACKED >> 20
    assert f"at most {MAX_ENTRIES:,} entries of {each} MB each and {together} MB in total" in text
    assert f"archives up to {MAX_ARCHIVE_BYTES >> 20} MB" in text
