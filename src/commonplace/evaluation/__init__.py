"""How well recall finds what answers: questions with known evidence, asked of a memory as every caller asks it."""
