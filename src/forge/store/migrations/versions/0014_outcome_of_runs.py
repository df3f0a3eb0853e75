"""Why a completed run is no success, such as an agent that did not finish."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade():
    op.add_column("runs", sa.Column("outcome", sa.Text))
