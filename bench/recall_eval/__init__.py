"""How well recall finds what is known to answer, on data that is never part of the project."""
