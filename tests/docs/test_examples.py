"""Examples in the documentation are valid for the component they are about."""

import ast
import json
import tomllib

import pytest
import yaml
from tests.support.pages import PAGES, ROOT, Block, Page

from forge.audits.boundaries.config import read_boundaries
from forge.audits.routing.specs import SPECS
from forge.workflows.definition.reader import read_source
from forge.workflows.expressions.templates import check_expression, check_template


def examples(kind: str) -> list[tuple[str, Block]]:
    return [(f"{page}:{block.line}", block) for page in PAGES for block in page.blocks if block.kind == kind]


def blocks_of(name: str, kind: str) -> list[str]:
    return [block.text for block in Page(ROOT / name).blocks if block.kind == kind]


ELLIPSIS = "{…}"


@pytest.mark.parametrize("block", [pytest.param(block, id=name) for name, block in examples("json")])
def test_json_examples_are_valid(block: Block):
    decoder, text = json.JSONDecoder(), block.text.replace(ELLIPSIS, "{}").strip()
    while text:
        text = text[decoder.raw_decode(text)[1] :].strip()


@pytest.mark.parametrize("block", [pytest.param(block, id=name) for name, block in examples("yaml")])
def test_yaml_examples_are_valid(block: Block):
    assert yaml.safe_load(block.text)


@pytest.mark.parametrize("block", [pytest.param(block, id=name) for name, block in examples("toml")])
def test_toml_examples_are_valid(block: Block):
    assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", [pytest.param(block, id=name) for name, block in examples("python")])
def test_python_examples_are_valid(block: Block):
    assert ast.parse(block.text)


def test_every_block_has_a_language():
    known = {"sh", "console", "json", "yaml", "toml", "python", "js", "markdown", "mermaid", "text"}
    assert [
        (str(page), block.line) for page in PAGES for block in page.blocks if block.kind not in known
    ] == []


def test_workflow_guide_fragments_fit_together():
    """The two steps that the guide only mentions are added."""
    workflow, *fragments = blocks_of("docs/guides/workflows.md", "yaml")
    triggers = next(text for text in fragments if text.startswith("triggers:"))
    steps = "".join(text for text in fragments if text is not triggers)
    mentioned = "".join(
        f"  - {{id: {name}, type: wait, config: {{seconds: 0}}}}\n" for name in ("shorten", "send")
    )
    source = read_source(workflow.replace("outputs:", f"{steps}{mentioned}outputs:") + triggers)
    assert source.problems == []


def test_message_guide_steps_are_valid():
    [steps] = blocks_of("docs/guides/messages.md", "yaml")
    routes = "- {id: routes, type: http, config: {url: https://example.com/routes}}\n"
    assert read_source(f"name: asking\nsteps:\n{routes}{steps}").problems == []


def test_boundary_examples_are_valid():
    [boundaries] = blocks_of("docs/reference/boundaries.md", "json")
    assert [layer.name for layer in read_boundaries(boundaries.encode()).layers] == [
        "routers",
        "services",
        "clients",
        "repos",
    ]


def test_expression_examples_are_valid():
    [step] = blocks_of("docs/reference/expressions.md", "yaml")
    [trigger] = blocks_of("docs/reference/triggers.md", "yaml")
    run = yaml.safe_load(step)
    assert check_expression(run["condition"]) and check_template(run["prompt"])
    assert check_expression(yaml.safe_load(trigger)["when"])


def test_documented_mcp_commands_exist():
    [entry] = blocks_of("docs/guides/mcp.md", "json")
    [table] = blocks_of("docs/guides/mcp.md", "toml")
    servers = [json.loads(entry)["mcpServers"]["forge"], tomllib.loads(table)["mcp_servers"]["forge"]]
    assert [(server["command"], server["args"]) for server in servers] == [
        ("forge", ["mcp", "--dir", "/home/me/projects/shop"])
    ] * 2


def test_route_examples_are_found():
    [spec] = blocks_of("docs/reference/physics.md", "yaml")
    assert [(route.method, route.path) for route in SPECS(".yaml", spec.encode()).routes] == [
        ("GET", "/api/v1/timers"),
        ("POST", "/api/v1/timers"),
        ("DELETE", "/api/v1/timers/{timer_id}"),
        ("WEBSOCKET", "/ws"),
    ]
