"""Relations of skills: dependency order, cycles, conflicts and inheritance."""

import pytest

from forge.errors import Conflict, Invalid
from forge.skills.models import Capability, Manifest, Skill, SkillSource
from forge.skills.relations.skill_graph import (
    check_conflicts,
    compose,
    conflict_views,
    dependency_views,
    dependents,
    parent_views,
    problem_of,
    resolve,
)
from forge.skills.views import RelationView


def library(**skills: dict[str, str]) -> dict[str, Skill]:
    """Build a library; the relations are `needs`, `conflicts`, `parents`, `version` and `asks`."""
    keys = {
        "needs": "forge-dependencies",
        "conflicts": "forge-conflicts",
        "parents": "forge-parents",
        "asks": "forge-capabilities",
        "version": "version",
    }
    return {
        name: Skill(
            manifest=Manifest(
                name=name, description="x", metadata={keys[key]: value for key, value in relations.items()}
            ),
            body=f"Do {name}.\n",
            source=SkillSource.LIBRARY,
            files=[],
        )
        for name, relations in skills.items()
    }


def test_dependencies_come_first_and_once():
    skills = library(a={"needs": "b c"}, b={"needs": "d"}, c={"needs": "d", "parents": "e"}, d={}, e={}, f={})
    assert resolve("a", skills).order == ["d", "b", "e", "c", "a"]
    assert problem_of("a", skills) is None
    assert dependents("d", skills) == ["b", "c"]
    assert dependents("e", skills) == ["c"]
    assert dependents("f", skills) == []


def test_missing_skills_and_versions_are_reported_with_the_dependent():
    skills = library(
        a={"needs": "b@^1.2 gone"},
        b={"needs": "c@>=2,<3 lost@^1", "version": "1.1.9"},
        c={"version": "2.5.0"},
    )
    assert resolve("a", skills).problems == [
        "b: It needs lost@^1, and there is no skill lost in the library that can be read.",
        "It needs b@^1.2, and the library has 1.1.9.",
        "It needs gone, and there is no skill gone in the library that can be read.",
    ]
    assert dependency_views("a", skills) == [
        RelationView(
            name="b", range="^1.2", version="1.1.9", problem="It needs b@^1.2, and the library has 1.1.9."
        ),
        RelationView(
            name="gone", problem="It needs gone, and there is no skill gone in the library that can be read."
        ),
    ]


def test_unsatisfiable_ranges_are_reported():
    skills = library(a={"needs": "b c"}, b={"needs": "d@^1"}, c={"needs": "d@>=2,<3"}, d={"version": "1.3.0"})
    assert problem_of("a", skills) == "d@^1 and d@>=2,<3 are needed, and no version can be both."
    apart = library(a={"needs": "b c"}, b={"needs": "d@^1"}, c={"needs": "d@~1.2"}, d={"version": "1.3.0"})
    assert problem_of("a", apart) == "c: It needs d@~1.2, and the library has 1.3.0."
    assert problem_of("a", {**apart, **library(d={"version": "1.2.5"})}) is None


def test_dependency_without_a_range_accepts_any_version():
    skills = library(a={"needs": "b c@*"}, b={"version": "next"}, c={"version": "2.0.0-beta"})
    assert problem_of("a", skills) is None
    assert problem_of("a", library(a={"needs": "b@1"}, b={"version": "next"})) == (
        "It needs b@1, and the library has next."
    )


def test_cycles_are_reported_with_their_path():
    skills = library(a={"needs": "b"}, b={"needs": "c"}, c={"needs": "b a"}, me={"needs": "me"})
    assert resolve("a", skills).problems == [
        "Skills need each other in a circle: b → c → b.",
        "Skills need each other in a circle: a → b → c → a.",
    ]
    assert sorted(resolve("a", skills).order) == ["a", "b", "c"]
    assert problem_of("me", skills) == "Skills need each other in a circle: me → me."
    mixed = library(a={"needs": "b"}, b={"parents": "a"})
    assert problem_of("a", mixed) == "Skills need each other in a circle: a → b → a."


def test_long_dependency_chain_is_resolved():
    names = [f"s{number}" for number in range(3000)]
    skills = library(
        **{name: {"needs": f"s{number + 1}"} for number, name in enumerate(names[:-1])}, s2999={}
    )
    assert resolve("s0", skills).order == names[::-1]
    assert problem_of("s0", skills) is None


def test_conflicts_apply_in_both_directions_and_transitively():
    skills = library(
        a={"needs": "b"},
        b={"parents": "c"},
        c={},
        d={"conflicts": "c"},
        e={"needs": "d"},
        f={"conflicts": "a@^9"},
    )
    check_conflicts(["a", "f"], skills)
    for pair in (["a", "e"], ["e", "a"], ["c", "d"], ["d", "c"]):
        with pytest.raises(Conflict, match="d cannot be used together with c"):
            check_conflicts(pair, skills)
    assert [(view.name, view.problem) for view in conflict_views("a", skills)] == [
        ("d", "d says it cannot be used together with c.")
    ]
    assert [(view.name, view.version) for view in conflict_views("e", skills)] == [("c", "0.1.0")]
    assert conflict_views("d", library(d={"conflicts": "gone@^1"})) == [RelationView(name="gone", range="^1")]


def test_skill_that_conflicts_with_its_dependency_is_unusable():
    skills = library(a={"needs": "b c"}, b={"conflicts": "c@^1"}, c={"version": "1.4.0"})
    assert problem_of("a", skills) == "b cannot be used together with c@^1, which comes along."
    assert problem_of("a", {**skills, **library(c={"version": "2.0.0"})}) is None


def test_bodies_and_capabilities_of_parents_are_merged():
    skills = library(
        top={"asks": "log http_get"},
        left={"parents": "top", "asks": "kv log"},
        right={"parents": "top"},
        own={"parents": "left right", "asks": "get_secret"},
    )
    found = compose("own", skills)
    assert found.body == (
        "# Inherited from top\n\nDo top.\n\n# Inherited from left\n\nDo left.\n\n"
        "# Inherited from right\n\nDo right.\n\n# own\n\nDo own.\n"
    )
    assert found.capabilities == {
        Capability.HTTP_GET: "top",
        Capability.GET_SECRET: "own",
        Capability.KV: "left",
        Capability.LOG: "left",
    }
    assert [parent.name for parent in found.parents] == ["left", "right", "top"]
    assert [view.name for view in parent_views("own", skills)] == ["left", "right", "top"]
    assert compose("top", skills).body == "Do top.\n"


@pytest.mark.parametrize(
    ("skills", "message"),
    [
        (
            library(a={"parents": "b"}, b={"parents": "c"}, c={"parents": "a"}),
            "skills inherit from each other in a circle: a → b → c → a.",
        ),
        (library(a={"parents": "a"}), "skills inherit from each other in a circle: a → a."),
        (library(a={"parents": "b"}, b={"parents": "gone"}), "there is no skill gone in the library"),
        (
            library(a={"parents": "b"}, b={"parents": "c"}, c={"parents": "d"}, d={"parents": "e"}, e={}),
            "it inherits over more than 3 levels: a → b → c → d → e.",
        ),
    ],
)
def test_invalid_inheritance_is_rejected(skills: dict[str, Skill], message: str):
    with pytest.raises(Invalid, match="The skill a cannot be put together") as caught:
        compose("a", skills)
    assert message in caught.value.message
    assert problem_of("a", skills)


def test_three_levels_of_inheritance_are_allowed():
    skills = library(a={"parents": "b"}, b={"parents": "c"}, c={"parents": "d"}, d={})
    assert [parent.name for parent in compose("a", skills).parents] == ["b", "c", "d"]
    assert problem_of("a", skills) is None
