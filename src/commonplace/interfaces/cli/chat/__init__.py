"""`commonplace chat`: a conversation in the terminal with something that remembers. It loads what it needs when run."""
