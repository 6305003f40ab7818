"""The stored format: chunks and their compression, segment maps, digests."""
