"""Arrays that grow at the end in amortised constant time."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Cell = TypeVar("Cell", bound=np.generic)


class Growing(Generic[Cell]):
    """One column of a table. Cells past the end hold `empty`, and one of them is always there to read."""

    def __init__(self, dtype: DTypeLike, *, empty: float = 0, width: int | None = None) -> None:
        self._empty = empty
        self._shape: tuple[int, ...] = () if width is None else (width,)
        self._cells: NDArray[Any] = np.full((16, *self._shape), empty, dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def cells(self) -> NDArray[Cell]:
        """The cells in use: a view, until the next append."""
        return self._cells[: self._length]

    @property
    def cells_and_end(self) -> NDArray[Cell]:
        """The same with one empty cell more, so that index -1 reads as "nothing"."""
        return self._cells[: self._length + 1]

    @property
    def nbytes(self) -> int:
        return self._cells.nbytes

    def append(self, values: NDArray[Cell]) -> None:
        needed = self._length + len(values) + 1
        if needed > len(self._cells):
            grown = np.full((max(needed, len(self._cells) * 3 // 2), *self._shape), self._empty, self._cells.dtype)
            grown[: self._length] = self._cells[: self._length]
            self._cells = grown
        self._cells[self._length : self._length + len(values)] = values
        self._length += len(values)
