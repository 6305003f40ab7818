"""The call that shows a place in another terminal, exactly as the command line takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.output.rendering import flags_to

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.viewer.model.log import Log


def show_call(session: Session, log: Log, first: int, last: int) -> str:
    r"""``spillstore show ID --lines A-B ...`` for the rows ``first`` to ``last``, by index; ``--bytes`` of binary content.

    It finds the session from whatever folder it is called, and leaves out what was dropped.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> from spillstore_tools.viewer.model.log import Log
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("chat 7") as session:
        ...     log = Log(session.put("one\ntwo\nthree\n"))
        ...     call = show_call(session, log, 1, 2)
        >>> call.replace(log.artifact.id, "ID").replace(root, "ROOT")
        "spillstore show ID --lines 2-3 --session 'chat 7' --root ROOT"
    """
    view = "" if log.stream == "combined" else f" --stream {log.stream}"
    hole = log.hole
    skipped = " --skip-holes" if hole is not None and first <= hole.index <= last else ""
    if log.is_hex:
        rows = log.rows(first, 1) + log.rows(last, 1)
        where = f"--bytes {rows[0].start if rows else 0}-{rows[-1].end if rows else 0} --raw"
    else:
        where = f"--lines {log.line_of_row(first)}-{log.last_line_of_row(last)}"
    return f"spillstore show {log.artifact.id} {where}{view}{skipped}{flags_to(session)}"
