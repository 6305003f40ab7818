"""A chunk may have a gram filter, by which a search leaves it out.

Revision: 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; the chunks that are there have no filter, and are searched as they were."""
    op.add_column("chunk", sa.Column("grams", sa.LargeBinary))
    op.execute(sa.text("PRAGMA user_version = 2"))
