"""What `forge audit --explain A9` says."""

DOCS = """
**What it looks at.** Every import of every Python, JavaScript and TypeScript file of the tree, at any depth, also
`importlib.import_module("name")` and `import("name")`; and every manifest: `pyproject.toml` (PEP 621, dependency groups,
Poetry, PDM, Hatch, uv, Flit, Rye, Pixi), requirement files with what they include, `setup.cfg`, `setup.py` (read, never
run), `Pipfile`, `environment.yml`, scripts with their own `# /// script`, `package.json`, `deno.json`. A file sees the
manifests of its own folder and of all folders above; where there are none in sight, all of the tree, those of tests and
of copied code aside.

**What counts.**

| rule | | |
|---|---|---|
| `undeclared` | FAIL | A package is imported that no manifest in sight declares. That another package happens to bring it along does not help: it may stop any day. |
| `no-manifest` | FAIL | Packages are imported, and there is no manifest at all. |
| `missing-manifest` | FAIL | `backend.dependency_file` of `forge.json` is not there. |
| `broken-manifest` | ERROR | A manifest cannot be read, so nobody can tell what it declares. A NOTE among tests and copied code. |
| `unparsable` | ERROR | A changed file is not well-formed from this line on; its imports were compared as far as they could be found. A NOTE if the file is old. |
| `unexamined` | ERROR | A changed file is larger than 2 MiB. A NOTE if it is old. |
| `bad-config` | ERROR | `forge.json` cannot be read. |
| `unsure` | WARN | A module that Forge does not know is imported, and a package is declared that begins with its name and that nothing else comes from (`delta`, and `delta-spark` is declared). |
| `dev-dependency` | WARN | Python that users run imports what is declared for development only. |
| `unreadable-line` | WARN | A line of a requirement file is no requirement. |
| `types-only` | NOTE | Imported below `if TYPE_CHECKING` or by `import type`, and not declared. Stubs are enough. |
| `allowed` | NOTE | Undeclared, and a comment in the line says that it is meant. |

One finding per file and package, at its first line. Imports that may fail are fine: in a `try` whose handler takes
`ImportError` and goes on, below `if find_spec("x")`; a handler that only raises again allows for nothing.
The standard library is that of all versions of Python; names are compared as PEP 503 wants, so `requests-mock` does not
declare `requests`. Import names that differ from the package's (`yaml`, `cv2`, `google.cloud.storage`) are known for
about 1,700 packages. Vendored folders, minified and generated files are left alone.

**How to say otherwise.** In `forge.json`: `audit.import_names` says which package an import comes from,
`audit.first_party` which names are the project's own although no file shows it, `audit.ignore` which files to leave
alone. `# forge: allow-import` (or `# deptry: ignore`) in the line turns the finding into a NOTE; `[tool.deptry]` of a
`pyproject.toml` in sight is understood. `forge audit baseline` accepts what is there today.

Whether a declared package exists on the index, and which version is meant, is not looked at: that needs a network. More:
docs/reference/dependencies.md.
"""
