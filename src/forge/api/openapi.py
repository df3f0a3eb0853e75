"""Print the OpenAPI schema: `python -m forge.api.openapi`. The web's types are generated from it."""

import json
import sys

from forge.api.server import create_api


def main() -> None:
    json.dump(create_api(None).openapi(), sys.stdout, indent=2)


if __name__ == "__main__":
    main()
