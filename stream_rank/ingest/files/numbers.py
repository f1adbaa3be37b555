"""Numbers in the columns of Arrow tables."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.errors import InputError
from stream_rank.ingest.files.kinds import is_number

__all__ = ["given_in", "joined", "numbers"]


def joined(column: Any) -> Any:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def numbers(column: Any, name: str, source: str) -> npt.NDArray[np.float64]:
    """A column of numbers or booleans as float64."""
    kind = column.type
    if not (is_number(kind) or pa.types.is_boolean(kind)):
        raise InputError(
            f"column {name!r} of {source} is of {kind}; numbers, booleans, text, lists of text or structs of these are needed: "
            "name the columns of features, as in `fields` x=a,b, or those of lists of items, as in `fields` ranking=a"
        )
    if kind == pa.float64():
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    return np.asarray(
        pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64
    )


def given_in(column: Any) -> npt.NDArray[np.bool_]:
    """The mask of the values that are not missing."""
    return np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), np.bool_)
