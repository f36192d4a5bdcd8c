"""From a question to what answers it: one file a stage, pure functions over arrays."""
