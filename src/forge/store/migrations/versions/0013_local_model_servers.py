"""The server behind a model provider, and how many requests it gets at once."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade():
    op.add_column("model_providers", sa.Column("server", sa.Text))
    op.add_column("model_providers", sa.Column("parallel", sa.Integer))
