"""Spillstore beside its peers: the same work, interleaved in one run, every answer checked.

``python -m benchmarks`` runs everything; ``README.md`` says what each row means. A module here is one noun: where data
comes from (``logs``, ``tool_output``, ``data``), what it is compared with (``stream``, ``frames``, ``plain``), how it is
measured (``samples``, ``process``), what was measured (``ingest``, ``reads``, ``small``, ``sessions``, ``size``,
``concurrency``), and how it is told (``row``, ``machine``, ``report``).
"""
