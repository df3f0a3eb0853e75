"""Built-in modules of JavaScript runtimes, and the package name of a specifier."""

import re

BUILTINS = frozenset(
    [
        "_http_agent",
        "_http_client",
        "_http_common",
        "_http_incoming",
        "_http_outgoing",
        "_http_server",
        "_stream_duplex",
        "_stream_passthrough",
        "_stream_readable",
        "_stream_transform",
        "_stream_wrap",
        "_stream_writable",
        "_tls_common",
        "_tls_wrap",
        "assert",
        "assert/strict",
        "async_hooks",
        "buffer",
        "child_process",
        "cluster",
        "console",
        "constants",
        "crypto",
        "dgram",
        "diagnostics_channel",
        "dns",
        "dns/promises",
        "domain",
        "events",
        "fs",
        "fs/promises",
        "http",
        "http2",
        "https",
        "inspector",
        "inspector/promises",
        "module",
        "net",
        "os",
        "path",
        "path/posix",
        "path/win32",
        "perf_hooks",
        "process",
        "punycode",
        "querystring",
        "readline",
        "readline/promises",
        "repl",
        "stream",
        "stream/consumers",
        "stream/promises",
        "stream/web",
        "string_decoder",
        "sys",
        "timers",
        "timers/promises",
        "tls",
        "trace_events",
        "tty",
        "url",
        "util",
        "util/types",
        "v8",
        "vm",
        "wasi",
        "worker_threads",
        "zlib",
        "bun",
        "deno",
    ]
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NAME = re.compile(r"(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
MAX_CHARACTERS = 214
"""The maximum length of a package name."""


def package_of(specifier: str) -> str | None:
    """Return the package of a specifier; None if it is relative, built in, a URL or a virtual module."""
    bare = specifier.rpartition("!")[2]
    bare = bare[:1] + bare[1:].partition("?")[0].partition("#")[0]
    if not bare or bare in BUILTINS or bare[0] in "./\\#~$\0" or _SCHEME.match(bare):
        return None
    parts = bare.split("/")
    name = "/".join(parts[:2]) if bare.startswith("@") else parts[0]
    return name if len(name) <= MAX_CHARACTERS and _NAME.fullmatch(name) else None


def types_of(package: str) -> str:
    """Return the types package: `@types/scope__name` for `@scope/name`."""
    return "@types/" + package.removeprefix("@").replace("/", "__")


TYPES_ONLY = frozenset(
    [
        "aws-lambda",
        "chrome",
        "chai-string",
        "estree",
        "estree-jsx",
        "geojson",
        "google.maps",
        "har-format",
        "hast",
        "json-schema",
        "mdast",
        "nlcst",
        "node-fetch-types",
        "offscreencanvas",
        "react-dom-types",
        "topojson-specification",
        "trusted-types",
        "unist",
        "vscode",
        "w3c-web-usb",
        "webappsec",
        "k6",
        "mdx",
        "serviceworker",
        "webxr",
        "office-js",
        "xast",
    ]
)
"""Packages that only exist as `@types/x`."""

PROVIDED_BY = {"@jest/globals": "jest", "vscode": "@types/vscode", "k6": "@types/k6"}
"""Modules that another package documents as importable."""

FAMILIES = {
    "@docusaurus/core": (
        "@theme/",
        "@theme-original/",
        "@theme-init/",
        "@site/",
        "@generated/",
        "@docusaurus/",
    ),
    "ember-source": ("@ember/", "ember/", "@glimmer/"),
    "gatsby": ("@reach/router", "gatsby-page-utils"),
    "meteor-node-stubs": ("meteor/",),
    "umi": ("@@/", "umi/"),
    "@umijs/max": ("@@/", "umi/", "umi"),
    "preact": ("preact/",),
}
"""Frameworks that provide modules under other names."""
