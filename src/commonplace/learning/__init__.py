"""From what was said to facts that can change: extract, reconcile, commit. The decisions are pure functions."""
