"""``rearrange``: dimensions split, ordered and merged by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from lanewise.errors import UsageError
from lanewise.nki.geometry import Geometry, flatten, permute, split

Groups = list[tuple[str, ...]]


def rearranged(view: Geometry, pattern: Any, to: Any, sizes: Mapping[str, int]) -> Geometry:
    """The view as the pattern says; UsageError for a pattern that does not fit it."""
    if isinstance(pattern, str) and to is None:
        left, arrow, right = pattern.partition("->")
        if not arrow:
            raise UsageError(f"pattern {pattern!r} must have the form 'p (a b) -> p b a'")
        source, target = _parsed(left), _parsed(right)
    else:
        source, target = _groups(pattern), _groups(to)
    if len(source) != len(view.shape):
        raise UsageError(f"{len(source)} names for {len(view.shape)} dimensions of {view.shape}")
    names = [name for group in source for name in group]
    wanted = [name for group in target for name in group]
    if sorted(names) != sorted(wanted) or len(set(names)) != len(names):
        raise UsageError(f"names {names} and {wanted} must be the same, each once")
    dim = 0
    for group in source:
        extents = [sizes.get(name, -1) for name in group]
        known = prod(extent for extent in extents if extent != -1)
        if extents.count(-1) == 1 and view.shape[dim] % known:
            raise UsageError(f"dimension {dim} of size {view.shape[dim]} has no {known} parts")
        if len(group) > 1:
            view = split(view, dim, extents)
        dim += len(group)
    view = permute(view, [names.index(name) for name in wanted])
    for dim, group in enumerate(target):
        if len(group) > 1:
            view = flatten(view, dim, dim + len(group) - 1)
    return view


def _parsed(side: str) -> Groups:
    found = re.findall(r"\(([^()]*)\)|(\w+)", side)
    return [tuple(group.split()) if group else (name,) for group, name in found]


def _groups(side: Sequence[Any]) -> Groups:
    return [tuple(part) if isinstance(part, (tuple, list)) else (part,) for part in side]
