"""${message}.

Revision: ${up_revision}, after ${down_revision}. Name the file v0003_what.py and give the revision the next number; see
CONTRIBUTING.md, "Change the stored format".
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
SCHEMA_NUMBER: int  # give it the new number, that of spillstore._schema


def upgrade() -> None:
    """${message}."""
    ${upgrades if upgrades else "pass"}
    op.execute(sa.text(f"PRAGMA user_version = {SCHEMA_NUMBER}"))
