"""`python -m benchmarks.collection [--all]`: import large public collections of skills, without executing anything.

Each skill is accepted or refused with a reason, and each verdict is compared with that of `skills-ref`, the reference
validator of the standard. The collections are npm packages that are downloaded at run time and verified by their
hashes; nothing of them is kept.
"""

import asyncio
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skills_ref.validator import validate as judge_elsewhere

from forge.errors import ForgeError
from forge.skills.format.contents import hash_files
from forge.skills.format.validation import validate
from forge.skills.installation.skill_finder import FoundSkill, find_skills
from forge.skills.library.library import Library

MAX_UNPACKED = 256 << 20
STARTS_SOMETHING = frozenset(
    {
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.fork",
        "os.startfile",
        "ctypes.dlopen",
    }
)
SHOWN = 15


@dataclass(frozen=True)
class Collection:
    package: str
    sha256: str


COLLECTIONS = (
    Collection(
        "claude-code-skills@0.5.0", "15560491bae5f41d5bedf91a3ba57dae25eb17c01ccccd87e08c0ae0190eea39"
    ),
    Collection("ecc-universal@2.0.0", "14b1afb47e1b21041ff852d7540c07393e2c359addd7ee5e0e7889feac6673eb"),
)


@dataclass(frozen=True)
class Verdict:
    found: FoundSkill
    refused: str | None
    """The reason as shown to the user who installs it."""
    refused_elsewhere: str | None


class Watch:
    """Detects attempts to start a program. An audit hook cannot be removed, only disabled."""

    def __init__(self) -> None:
        self.is_looking = False
        self.seen: Counter[str] = Counter()
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, _: object) -> None:
        if self.is_looking and event in STARTS_SOMETHING:
            self.seen[event] += 1


def main() -> None:
    watch = Watch()
    for collection in COLLECTIONS:
        with tempfile.TemporaryDirectory(prefix="forge-collection-") as folder:
            files = _unpacked(_fetched(collection, Path(folder)))
            asyncio.run(_report(collection, files, Path(folder), watch))


async def _report(collection: Collection, files: dict[str, bytes], folder: Path, watch: Watch) -> None:
    watch.is_looking = True
    begun = time.perf_counter()
    found = find_skills(files)
    ours = {one.path: _reason(one) for one in found}
    judged_s = time.perf_counter() - begun
    kept = await _import([one for one in found if ours[one.path] is None], Library(folder))
    took_s = time.perf_counter() - begun
    watch.is_looking = False
    verdicts = [Verdict(one, ours[one.path], _elsewhere(one, folder / "beside")) for one in found]
    refused = [verdict for verdict in verdicts if verdict.refused]
    print(f"\n## {collection.package}: {len(files):,} files, {sum(map(len, files.values())) / 1e6:.0f} MB")
    print(f"found {len(found):,} skills, accepted {len(found) - len(refused):,}, refused {len(refused):,}")
    print(f"in the library, byte for byte: {kept:,} of different names")
    print(
        f"judged in {judged_s:.1f} s, all in the library after {took_s:.1f} s; started: {dict(watch.seen) or 'nothing'}"
    )
    _print_reasons("refused, by reason", (_kind_of(verdict.refused or "") for verdict in refused))
    _print_differences(verdicts, every="--all" in sys.argv)


async def _import(skills: list[FoundSkill], library: Library) -> int:
    """Import all skills, as a user would; of several with the same name, the last one."""
    names: set[str] = set()
    for one in skills:
        await library.put(one.name, one.files, replace=True)
        assert (await library.snapshot(one.name)).folder_hash == hash_files(one.files)
        names.add(one.name)
    return len(names)


def _reason(found: FoundSkill) -> str | None:
    if found.mistake:
        return found.mistake.message
    report = validate(found.name, found.files)
    return next((problem.message for problem in report.problems if not problem.is_warning), None)


def _elsewhere(found: FoundSkill, folder: Path) -> str | None:
    """Ask the reference validator, which reads only the folder's name and its SKILL.md."""
    path = folder / PurePosixPath(found.path).name
    path.mkdir(parents=True)
    (path / "SKILL.md").write_bytes(found.files["SKILL.md"])
    try:
        problems = judge_elsewhere(path)
    except Exception as error:  # noqa: BLE001 - what it does not expect ends it
        problems = [f"it failed: {type(error).__name__}"]
    shutil.rmtree(folder)
    return problems[0] if problems else None


def _print_reasons(title: str, reasons: Iterator[str]) -> None:
    counted = Counter(reasons)
    print(f"{title}: {counted.total():,}")
    for reason, count in counted.most_common(SHOWN):
        print(f"  {count:5,}  {reason}")


def _print_differences(verdicts: list[Verdict], *, every: bool) -> None:
    only_we = [one for one in verdicts if one.refused and not one.refused_elsewhere]
    only_they = [one for one in verdicts if one.refused_elsewhere and not one.refused]
    agreed = len(verdicts) - len(only_we) - len(only_they)
    print(f"same verdict as skills-ref: {agreed:,} of {len(verdicts):,}")
    for title, differing in (("refused here alone", only_we), ("refused by skills-ref alone", only_they)):
        _print_reasons(title, (_kind_of(one.refused or one.refused_elsewhere or "") for one in differing))
        for one in differing if every else ():
            print(
                f"    {one.found.path}: {' '.join((one.refused or one.refused_elsewhere or '').split())}"[
                    :240
                ]
            )


def _kind_of(reason: str) -> str:
    """Generalize a reason by removing the names and numbers of the individual skill."""
    words = ["…" if any(map(str.isdigit, word)) else word for word in reason.split()]
    text = " ".join(words)
    for start in ("`name` is not", "`name` is", "Directory name", "Unexpected fields", "Invalid YAML"):
        if text.startswith(start):
            return f"{start} …"
    return text[:110]


def _fetched(collection: Collection, folder: Path) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is needed to fetch the collections.")
    command = [npm, "pack", "--silent", "--ignore-scripts", collection.package]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    made = sorted(folder.glob("*.tgz"))
    if not made:
        raise SystemExit(f"{collection.package} cannot be fetched: {done.stderr.strip()[-300:]}")
    data = made[0].read_bytes()
    made[0].unlink()
    if hashlib.sha256(data).hexdigest() != collection.sha256:
        raise SystemExit(f"{collection.package} is another one now: {hashlib.sha256(data).hexdigest()}")
    return data


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Read the archive without extracting it."""
    files: dict[str, bytes] = {}
    left = MAX_UNPACKED
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            left -= entry.size
            if left < 0:
                raise SystemExit("The collection is larger than it should be.")
            if entry.isfile() and (file := archive.extractfile(entry)):
                files[entry.name] = file.read()
    return files


if __name__ == "__main__":
    try:
        main()
    except ForgeError as error:
        raise SystemExit(error.message) from error
