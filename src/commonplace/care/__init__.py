"""Care of data: what it takes to forget. Decisions over plain values; the engine carries them out."""
