"""Values inserted into a URL cannot change its host."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ForgeError
from forge.outgoing.target import parse_url
from forge.workflows.expressions.templates import read_template
from forge.workflows.steps.http import Part, keeps_host


def template_parts(template: str) -> Sequence[Part]:
    return [piece if isinstance(piece, str) else None for piece in read_template(template)]


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("https://a.example/{{ x }}", "https://a.example/@evil.example/../.."),
        ("https://a.example?q={{ x }}", "https://a.example?q=#//evil.example"),
        ("https://a.example{{ x }}", "https://a.example"),
        ("https://a.example{{ x }}", "https://a.example/path?q"),
        ("https://a.example:{{ x }}", "https://a.example:8443/path"),
        ("https://a.example:{{ x }}/y", "https://a.example:8443/y"),
        ("https://{{ x }}.example/y", "https://shop.example/y"),
        ("https://api-{{ x }}", "https://api-eu.example/y"),
        ("https://api.{{ x }}.example{{ y }}", "https://api.eu.example/y"),
        ("https://{{ x }}", "https://anything.example/y"),
        ("https://{{ x }}/y", "https://127.0.0.1:8080/y"),
        ("https://{{ x }}/y", "https://[::1]:8080/y"),
        ("{{ x }}", "http://anything.example"),
        ("{{ x }}/y", "http://anything.example/y"),
        ("HTTPS://A.example{{ x }}", "HTTPS://A.example/y"),
    ],
)
def test_values_may_fill_open_parts_of_url(template: str, filled: str):
    assert keeps_host(template_parts(template), filled)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("https://a.example{{ x }}", "https://a.example.evil.example/"),
        ("https://a.example{{ x }}", "https://a.example@evil.example/"),
        ("https://a.example{{ x }}", "https://a.example:80@evil.example/"),
        ("https://a.example{{ x }}", "https://a.example:99"),
        ("https://a.example:{{ x }}", "https://a.example:80@evil.example"),
        ("https://{{ x }}.example/y", "https://evil.test/.example/y"),
        ("https://{{ x }}.example/y", "https://evil.test?.example/y"),
        ("https://{{ x }}.example/y", "https://evil.test#.example/y"),
        ("https://{{ x }}.example/y", "https://a@evil.test\\.example/y"),
        ("https://{{ x }}.example", "https://shop.example.evil.test"),
        ("https://api-{{ x }}", "https://api-@evil.test"),
    ],
)
def test_value_cannot_change_url_host(template: str, filled: str):
    assert not keeps_host(template_parts(template), filled)


@pytest.mark.parametrize(
    "template", ["https://{{ x }}.a.example/y", "https://a.example{{ x }}", "https://a.example/{{ x }}"]
)
@given(value=st.text("evil.test/?#@\\:[]% \t\n0123-_ä\uff0f", max_size=20))
def test_any_value_keeps_literal_host(template: str, value: str):
    filled = template.replace("{{ x }}", value)
    if not keeps_host(template_parts(template), filled):
        return
    try:
        host = parse_url(filled).host
    except ForgeError:
        return
    assert host == "a.example" or host.endswith(".a.example")
