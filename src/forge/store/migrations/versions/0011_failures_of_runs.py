"""What a run of a workflow failed with, known before what is to be done finally begins."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json

revision = "0011"
down_revision = "0010"


def upgrade():
    op.add_column("workflow_runs", sa.Column("failure", Json))
