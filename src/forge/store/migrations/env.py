"""Alembic's entry point: migrate the connection passed by `forge.store.schema`."""

from alembic import context

from forge.store.types import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
