"""Numbers that are the same but for how they were rounded on the way."""


class Close(float):
    """Equal to what is not further off than 1e-5. Rounded ones would differ where one lies on the edge."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(self - other) <= 1e-5

    __hash__ = None  # type: ignore[assignment]
