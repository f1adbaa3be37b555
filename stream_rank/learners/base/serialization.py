"""Parameters, names and labels as JSON has them, and back."""

import inspect
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from stream_rank.errors import SnapshotError
from stream_rank.kernels import Gaussian, Kernel, Linear, Polynomial

__all__ = ["arguments_of", "count_in", "entries", "parameters_of", "plain_label", "plain_name"]

_MOST_COUNTED = 1 << 62
_KERNELS: dict[str, type[Kernel]] = {
    "Linear": Linear,
    "Polynomial": Polynomial,
    "Gaussian": Gaussian,
}


def parameters_of(thing: Any) -> dict[str, Any]:
    """The arguments that something was made with; a kernel as its name and arguments.

    >>> from stream_rank import Gaussian, OnlineMPRank
    >>> parameters_of(OnlineMPRank(C=3.0, kernel=Gaussian(0.5)))
    {'C': 3.0, 'kernel': {'Gaussian': {'width': 0.5}}, 'learning_rate': None, 'budget': 2000, 'revisits': 0}
    """
    found = {}
    for name in inspect.signature(type(thing).__init__).parameters:
        if name != "self":
            value = getattr(thing, name)
            if isinstance(value, Linear | Polynomial | Gaussian):
                value = {type(value).__name__: parameters_of(value)}
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


def arguments_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that `parameters_of` made such parameters of.

    >>> arguments_of({"budget": 10, "kernel": {"Gaussian": {"width": 0.5}}})
    {'budget': 10, 'kernel': Gaussian(width=0.5)}
    """
    arguments = dict(parameters)
    kernel = arguments.get("kernel")
    if isinstance(kernel, dict):
        ((name, given),) = kernel.items()
        arguments["kernel"] = _KERNELS[name](**given)
    return arguments


def count_in(metadata: Mapping[str, Any], key: str) -> int:
    """The count at a key; a `ValueError` if it is none, as a boolean is none."""
    found = metadata[key]
    if type(found) is not int or not 0 <= found < _MOST_COUNTED:
        raise ValueError(f"{key} is no count")
    return found


def entries(metadata: Mapping[str, Any], key: str) -> list[Any]:
    """The list at a key; a `ValueError` if it is something else, such as text, which is a sequence too."""
    found = metadata[key]
    if not isinstance(found, list):
        raise ValueError(f"{key} are no list")
    return found


def plain_name(name: Hashable, what: str) -> str | int:
    """The name of a feature or group; a `SnapshotError` if it would not come back as it is."""
    if isinstance(name, np.integer | np.str_):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise SnapshotError(f"{what} {name!r} cannot be kept; names must be text or whole numbers")
    return name


def plain_label(label: Any) -> str | int | float:
    """A label; a `SnapshotError` if it would not come back as it is."""
    if not isinstance(label, str | int | float):
        raise SnapshotError(f"label {label!r} cannot be kept; labels must be text or numbers")
    return label
