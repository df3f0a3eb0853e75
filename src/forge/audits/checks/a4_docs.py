"""What `forge audit --explain A4` says."""

DOCS = """\
A4 reads `Forge/Contracts/boundaries.json` and tells every place where a file gets at what its layer may not know.

```json
{
  "layers": [
    {"name": "routers", "glob": "app/routers/**/*.py",
     "forbidden": [
       {"layer": "repos", "reason": "routers talk to services"},
       {"import": "asyncpg", "reason": "no database driver here"},
       {"pattern": "SELECT |INSERT ", "reason": "no SQL here"}]},
    {"name": "services", "glob": "app/services/**/*.py"},
    {"name": "repos", "glob": "app/repos/**/*.py"}
  ],
  "order": ["routers", "services", "repos"],
  "known_violations": [
    {"layer": "routers", "file": "old.py", "pattern": "asyncpg", "expires": "2027-01-31", "reason": "moving"}]
}
```

**Layers.** A `glob` (or a list) is relative to the project: `*` stays in a folder, `**` crosses folders, `{a,b}` is
either. `app/api/*.py` covers deeper files too, unless another layer's glob names them. `exclude` takes files out again.
`__init__.py` and tests inside a layer's folder count. A layer without files is a WARN, all of them an ERROR.

**Rules** of a layer, each with a `reason`:
- `layer`: no file of this layer imports a file of that layer.
- `import`: a module or package with all that is below it: `app.repos`, `app.*.models`, `express`, `@scope/pkg`, or files:
  `./src/db/**`.
- `pattern`: an RE2 expression, case-sensitive (`(?i)` in front turns that off), searched in code without comments and
  strings, in SQL strings (there any case matches), and in every import in all the ways it could have been written. A word
  alone is what comes from outside under that name, and no variable or parameter (save `req`, `res`, `request`, `response` and
  `ctx`, which frameworks hand in); `\\bword\\b` and `a|b` are those identifiers wherever they stand. Keywords of SQL in capitals
  are searched in SQL alone. A plain string in `forbidden` is a pattern.
- `"indirect": true` makes chains of imports count, for `layer` and `import`.

**Order**, from high to low: a layer may import those below it, never one above. `a | b` may not know each other, `a : b`
may, `(a)` may be missing. Chains through files of no layer count. `containers` are folders in each of which the order
holds on its own; with `"exhaustive": true` every file in them must be in a layer or excluded.

**Imports for types alone** (`if TYPE_CHECKING`, `import type`) count; `"allow_type_checking": true`, for all or in one layer,
says otherwise.

**Known violations** stay listed and do not block: the layer, the file (a name, path or glob) and the text of the rule or the
module imported. After `expires` they block again; one that is about nothing any more is noted.

A file of a layer that is not well-formed, or is too large, or is text with NUL bytes, is an ERROR: it cannot be judged. Patterns
are searched in every text of a layer, save prose (`.md`, `.txt`, …) and lock files that no glob names by their suffix. An ERROR,
too, is a boundaries.json that cannot be read, a pattern that RE2 does not take, or a key nobody knows.
"""
