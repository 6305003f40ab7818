"""From written bytes to rows: queue, filters, redaction, interleaving, chunks, commits."""
