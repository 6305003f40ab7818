"""From rows to bytes: ranges, prefetching, verification."""
