"""``nki.typing``: names for annotations. ``tensor`` takes a shape in brackets."""

from __future__ import annotations

from typing import Any


class _Tensor:
    """A tensor of any shape; ``tensor[128, 512]`` says which."""

    def __class_getitem__(cls, shape: Any) -> Any:
        return cls


tensor: Any = _Tensor
mutable_tensor: Any = _Tensor

__all__ = ["mutable_tensor", "tensor"]
