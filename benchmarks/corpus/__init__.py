"""Outputs of real tools, and the lines of them that a preview must show.

The needed lines were written down before any preview was looked at. A fixed rule, the digest of its name, puts each output
into one of two halves: ``seen``, which may be looked at by who writes rules for previews, and ``held_out``, which says how
good they are on what nobody fitted them to.

| module | holds |
|---|---|
| ``case``, ``makers`` | what an output is made of: files that are written, commands that are run |
| ``make``, ``tools`` | making outputs in ``benchmarks/.data``; the tools that come from package registries |
| ``needed``, ``needed_seen``, ``needed_held_out`` | the lines that matter |
| ``scoring``, ``peers``, ``rows`` | what a preview shows of them, beside what people do instead |
"""
