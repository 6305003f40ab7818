"""Questions to a session as SQL: on its page, in the README, and run by the tests."""

from __future__ import annotations

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A question and the statement that answers it."""

    question: str
    sql: str


EXAMPLES: Final = (
    Example(
        "Which outputs are stored, the largest first?",
        "SELECT artifact_id, source, command, lines, size, stored_size, created FROM v_artifacts ORDER BY size DESC",
    ),
    Example(
        "What did nobody ever read?",
        "SELECT artifact_id, source, lines, size, created FROM v_never_read ORDER BY size DESC",
    ),
    Example(
        "What did the model fetch, and was it told?",
        "SELECT at, tool, artifact_id, first_line, last_line, bytes, outcome FROM v_reads WHERE actor = 'model' ORDER BY event_key",
    ),
    Example(
        "Which tools print most, and how much of it was shown?",
        "SELECT tool, calls, truncated, received, shown FROM v_calls_per_tool ORDER BY received DESC",
    ),
    Example(
        "Which secrets were taken out?",
        "SELECT secret, tool, sum(count) AS times FROM v_redactions GROUP BY secret, tool ORDER BY times DESC",
    ),
    Example(
        "Which limits were met, and which ids were refused?",
        "SELECT at, 'limit ' || limit_name AS what, artifact_id AS subject FROM v_limits "
        "UNION ALL SELECT at, 'denied ' || why, id FROM v_denied ORDER BY at",
    ),
    Example(
        "Which chunks hold a word, and from which line on?",
        "SELECT artifact_id, seq, line_start + 1 AS first_line FROM chunk JOIN artifact USING (session_key, artifact_key) "
        "WHERE state <> 'deleted' AND spillstore_text(artifact_id, seq) LIKE '%' || :word || '%' ORDER BY created_us, seq",
    ),
    Example(
        "How does each output begin?",
        "SELECT artifact_id, source, substr(spillstore_text(artifact_id, 0), 1, 200) AS beginning FROM artifact "
        "WHERE state <> 'deleted' AND chunks > 0 ORDER BY created_us",
    ),
    Example(
        "How fast did an output come, chunk by chunk?",
        "SELECT seq, chunk.size, time_start / 1e6 AS begins, (time_end - time_start) / 1e6 AS took FROM chunk "
        "JOIN artifact USING (session_key, artifact_key) WHERE artifact_id = :artifact_id ORDER BY seq",
    ),
)
