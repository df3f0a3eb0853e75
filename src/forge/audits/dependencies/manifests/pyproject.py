"""Read pyproject.toml: the standard tables (PEP 621, 735) and those of Poetry, PDM, Hatch, uv, Flit, Rye and Pixi."""

import re
import tomllib
from collections.abc import Iterable, Iterator

from forge.audits.dependencies.manifests.line_finder import LineFinder
from forge.audits.dependencies.manifests.models import (
    Declared,
    DeptrySettings,
    Group,
    Include,
    Manifest,
    broken,
    is_dev_name,
)
from forge.audits.dependencies.manifests.requirement_name import normal, requirement_name
from forge.audits.files.lenient_readers import Table, items, table, texts, within

_AT_LINE = re.compile(r"\(at line (\d+)")
_EDITABLE = re.compile(r"^-e\s+")
MAX_GROUPS = 2000


def read_toml_text(data: bytes) -> Table | Manifest:
    """Parse TOML; on failure return a manifest with the problem."""
    try:
        return table(tomllib.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return broken("it is not UTF-8")
    except ValueError as error:  # not only TOMLDecodeError: a number may have too many digits
        found = _AT_LINE.search(str(error))
        return broken(f"it is not valid TOML: {str(error)[:120]}", int(found[1]) if found else None)
    except RecursionError:
        return broken("it is nested too deeply")


def read_pyproject(data: bytes) -> Manifest:
    content = read_toml_text(data)
    if isinstance(content, Manifest):
        return content
    return _Reader(content, data.decode("utf-8-sig")).read()


class _Reader:
    def __init__(self, content: Table, text: str) -> None:
        self._content = content
        self._tool = table(content.get("tool"))
        self._project = table(content.get("project"))
        self._poetry = table(self._tool.get("poetry"))
        self._lines = LineFinder(text)
        deptry = table(self._tool.get("deptry"))
        self._deptry_settings = deptry
        self._dev_extras = {
            normal(name)
            for key in ("optional_dependencies_dev_groups", "pep621_dev_dependency_groups")
            for name in texts(deptry.get(key))
        }
        self._plain_groups = {normal(name) for name in texts(deptry.get("non_dev_dependency_groups"))}

    def read(self) -> Manifest:
        declared = [
            *self._standard(),
            *self._groups(),
            *self._of_poetry(),
            *self._of_other_tools(),
            *self._build(),
        ]
        names = [
            name for name in (self._project.get("name"), self._poetry.get("name")) if isinstance(name, str)
        ]
        return Manifest(
            declared=tuple(declared),
            includes=tuple(self._includes()),
            names=tuple(normal(name) for name in names),
            is_declaring=self._is_declaring(declared),
            deptry=_deptry_settings(self._deptry_settings),
        )

    def _is_declaring(self, declared: Iterable[Declared]) -> bool:
        poetry = "dependencies" in self._poetry or "name" in self._poetry
        return bool(self._project) or poetry or any(one.group is not Group.BUILD for one in declared)

    def _requirements(self, value: object, group: Group, section: str) -> Iterator[Declared]:
        for text in texts(value):
            name = requirement_name(_EDITABLE.sub("", text))
            if name is not None:
                yield Declared(name, group, section, self._lines.of(text))

    def _keys(self, value: object, group: Group, section: str) -> Iterator[Declared]:
        """Yield packages from a table whose keys are names, as in Poetry and Pixi."""
        for key in table(value):
            if key != "python":
                yield Declared(normal(key), group, section, self._lines.of(key))

    def _standard(self) -> Iterator[Declared]:
        yield from self._requirements(
            self._project.get("dependencies"), Group.RUNTIME, "[project] dependencies"
        )
        for extra, value in table(self._project.get("optional-dependencies")).items():
            yield from self._requirements(
                value, self._extra_group(extra), f"[project.optional-dependencies] {extra}"
            )

    def _extra_group(self, extra: str) -> Group:
        if self._dev_extras:
            return Group.DEV if normal(extra) in self._dev_extras else Group.OPTIONAL
        return Group.DEV if is_dev_name(extra) else Group.OPTIONAL

    def _groups(self) -> Iterator[Declared]:
        """Yield dependency groups (PEP 735). A group included by a runtime group is for runtime as well."""
        groups = {
            normal(name): value for name, value in table(self._content.get("dependency-groups")).items()
        }
        plain = self._with_included(groups, self._plain_groups)
        for name, value in groups.items():
            group = Group.RUNTIME if name in plain else Group.DEV
            yield from self._requirements(value, group, f"[dependency-groups] {name}")

    def _with_included(self, groups: Table, wanted: Iterable[str]) -> set[str]:
        found: set[str] = set()
        queue = list(wanted)
        while queue and len(found) < MAX_GROUPS:
            name = queue.pop()
            if name in found:
                continue
            found.add(name)
            included = (table(item).get("include-group") for item in items(groups.get(name)))
            queue.extend(normal(one) for one in included if isinstance(one, str))
        return found

    def _of_poetry(self) -> Iterator[Declared]:
        yield from self._keys(self._poetry.get("dependencies"), Group.RUNTIME, "[tool.poetry.dependencies]")
        yield from self._keys(
            self._poetry.get("dev-dependencies"), Group.DEV, "[tool.poetry.dev-dependencies]"
        )
        for name, value in table(self._poetry.get("group")).items():
            section = f"[tool.poetry.group.{name}.dependencies]"
            group = Group.RUNTIME if name == "main" else Group.DEV
            yield from self._keys(table(value).get("dependencies"), group, section)

    def _of_other_tools(self) -> Iterator[Declared]:
        for tool in ("uv", "rye"):
            value = within(self._tool, tool, "dev-dependencies")
            yield from self._requirements(value, Group.DEV, f"[tool.{tool}] dev-dependencies")
        for name, value in table(within(self._tool, "pdm", "dev-dependencies")).items():
            yield from self._requirements(value, Group.DEV, f"[tool.pdm.dev-dependencies] {name}")
        for name, value in table(within(self._tool, "hatch", "envs")).items():
            for key in ("dependencies", "extra-dependencies"):
                yield from self._requirements(
                    table(value).get(key), Group.DEV, f"[tool.hatch.envs.{name}] {key}"
                )
        yield from self._of_flit()
        yield from self._of_pixi()

    def _of_flit(self) -> Iterator[Declared]:
        flit = table(within(self._tool, "flit", "metadata"))
        section = "[tool.flit.metadata]"
        yield from self._requirements(flit.get("requires"), Group.RUNTIME, f"{section} requires")
        yield from self._requirements(flit.get("dev-requires"), Group.DEV, f"{section} dev-requires")
        for extra, value in table(flit.get("requires-extra")).items():
            yield from self._requirements(value, self._extra_group(extra), f"{section} requires-extra")

    def _of_pixi(self) -> Iterator[Declared]:
        pixi = table(self._tool.get("pixi"))
        for key in ("dependencies", "pypi-dependencies"):
            yield from self._keys(pixi.get(key), Group.RUNTIME, f"[tool.pixi.{key}]")
        for name, feature in table(pixi.get("feature")).items():
            group = Group.DEV if is_dev_name(name) else Group.OPTIONAL
            for key in ("dependencies", "pypi-dependencies"):
                yield from self._keys(table(feature).get(key), group, f"[tool.pixi.feature.{name}.{key}]")

    def _build(self) -> Iterator[Declared]:
        requires = within(self._content, "build-system", "requires")
        yield from self._requirements(requires, Group.BUILD, "[build-system] requires")
        for name, hook in table(within(self._tool, "hatch", "build", "hooks")).items():
            section = f"[tool.hatch.build.hooks.{name}] dependencies"
            yield from self._requirements(table(hook).get("dependencies"), Group.BUILD, section)

    def _includes(self) -> Iterator[Include]:
        dynamic = table(within(self._tool, "setuptools", "dynamic"))
        for path in texts(within(dynamic, "dependencies", "file")):
            yield Include(path, Group.RUNTIME, self._lines.of(path))
        for extra, value in table(dynamic.get("optional-dependencies")).items():
            for path in texts(table(value).get("file")):
                yield Include(path, self._extra_group(extra), self._lines.of(path))
        hook = table(within(self._tool, "hatch", "metadata", "hooks", "requirements_txt"))
        for path in (*texts(hook.get("files")), *texts(hook.get("filename"))):
            yield Include(path, Group.RUNTIME, self._lines.of(path))
        for extra, value in table(hook.get("optional-dependencies")).items():
            for path in texts(value):
                yield Include(path, self._extra_group(extra), self._lines.of(path))


def _deptry_settings(settings: Table) -> DeptrySettings:
    rules = table(settings.get("per_rule_ignores"))
    codes = texts(settings.get("ignore"))
    ignored = [name for code in ("DEP001", "DEP003") for name in texts(rules.get(code))]
    if "DEP001" in codes and "DEP003" in codes:
        ignored.append("*")
    ignored_dev = [*texts(rules.get("DEP004")), *(["*"] if "DEP004" in codes else [])]
    modules = [
        (module, normal(package))
        for package, value in table(settings.get("package_module_name_map")).items()
        for module in texts(value)
    ]
    first_party = tuple(texts(settings.get("known_first_party")))
    return DeptrySettings(first_party, tuple(modules), tuple(ignored), tuple(ignored_dev))
