"""What a part of a run keeps."""

from typing import Any, NamedTuple

import numpy.typing as npt

__all__ = ["State"]


class State(NamedTuple):
    """What a part keeps: values that JSON can hold, and arrays by name."""

    metadata: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
