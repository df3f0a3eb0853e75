"""Reading a claim: the files somebody says they changed, however they wrote them down."""

from collections.abc import Iterable

from forge.audits.snapshot import Claims
from forge.errors import Invalid

RENAME = "=>"


def split_claims(text: str) -> list[str]:
    """`a.py, src/b.py` of a command line. A name with a comma in it can only be claimed through the API."""
    return text.split(",")


def read_claims(claims: Iterable[str]) -> Claims:
    """Trimmed, `\\` is `/`, `./` is nothing; `old.py=>new.py` claims both and says that the rename is meant."""
    files: set[str] = set()
    renames: dict[str, str] = {}
    for claim in claims:
        old, is_rename, new = claim.partition(RENAME)
        names = [name for part in (old, new) if (name := _normal(part))]
        files.update(names)
        if is_rename:
            if len(names) != 2:
                raise Invalid(f"The claim {claim.strip()!r} is half a rename.", hint="Write old.py=>new.py.")
            renames[names[0]] = names[1]
    if not files:
        raise Invalid("No file is claimed.", hint='Say which files changed: --claimed-files "a.py,src/b.py".')
    return Claims(frozenset(files), renames)


def _normal(path: str) -> str:
    """Relative, one way to write it; `..` cannot leave the project."""
    parts = [part for part in path.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    if path.strip().startswith("/") or ".." in parts:
        raise Invalid(f"The claim {path.strip()!r} is not inside the project.", hint="Claim relative paths.")
    return "/".join(parts)
