"""${message}"""

import sqlalchemy as sa
from alembic import op
from forge.store.types import Json, Utc

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade():
    ${upgrades if upgrades else "pass"}
