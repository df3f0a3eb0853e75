"""Read setup.cfg of setuptools."""

import configparser
from collections.abc import Iterator

from forge.audits.dependencies.manifests.line_finder import LineFinder
from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest, broken, is_dev_name
from forge.audits.dependencies.manifests.requirement_name import normal, requirement_name
from forge.audits.files.lenient_readers import read_ini

_OPTIONS = {
    "install_requires": Group.RUNTIME,
    "tests_require": Group.DEV,
    "setup_requires": Group.BUILD,
}
_EXTRAS = "options.extras_require"


def read_setup_cfg(data: bytes) -> Manifest:
    try:
        text = data.decode("utf-8-sig")
        parser = read_ini(text)
    except UnicodeDecodeError:
        return broken("it is not UTF-8")
    except configparser.MissingSectionHeaderError as error:
        return broken("it has no section", error.lineno)
    except configparser.ParsingError as error:
        return broken("it cannot be parsed", error.errors[0][0] if error.errors else None)
    except (configparser.Error, RecursionError) as error:
        return broken(f"it cannot be read: {str(error)[:120]}")
    found = list(_read(parser, LineFinder(text)))
    name = parser.get("metadata", "name", fallback=None)
    return Manifest(
        declared=tuple(one for one in found if isinstance(one, Declared)),
        includes=tuple(one for one in found if isinstance(one, Include)),
        names=(normal(name),) if name else (),
        is_declaring=bool(found) or parser.has_section("metadata") or parser.has_section("options"),
    )


def _read(parser: configparser.RawConfigParser, lines: LineFinder) -> Iterator[Declared | Include]:
    for option, group in _OPTIONS.items():
        yield from _values(parser.get("options", option, fallback=None), group, f"[options] {option}", lines)
    if parser.has_section(_EXTRAS):
        for extra, value in parser.items(_EXTRAS):
            group = Group.DEV if is_dev_name(extra.partition(":")[0]) else Group.OPTIONAL
            yield from _values(value, group, f"[{_EXTRAS}] {extra}", lines)


def _values(value: str | None, group: Group, section: str, lines: LineFinder) -> Iterator[Declared | Include]:
    for line in (value or "").splitlines():
        text = line.partition(" #")[0].strip()
        if text.startswith("file:"):
            for path in text.removeprefix("file:").split(","):
                yield Include(path.strip(), group, lines.of(text))
        elif not text.startswith("#"):
            for one in text.split(";")[0].split(",") if _is_short_list(text) else [text]:
                if name := requirement_name(one):
                    yield Declared(name, group, section, lines.of(text))


def _is_short_list(text: str) -> bool:
    """Return whether a line is a list (`a, b`) and not one requirement (`a>=1,<2`)."""
    return "," in text and not any(sign in text for sign in "<>=!~[(")
