"""Conversion between formats, through the FP32 hub.

Source: conversion rules (hub, convert); the search instructions are an FP32 stream.
"""

from __future__ import annotations

from typing import Final

from lanewise.errors import UsageError
from lanewise.formats.decoding import decode
from lanewise.formats.description import Format
from lanewise.formats.encoding import encode
from lanewise.formats.floats import FP32
from lanewise.formats.policy import ConversionPolicy
from lanewise.formats.value import ValueClass

HUB_POLICY: Final = ConversionPolicy(float_to_int="nearest", float_overflow="infinity")
"""Into FP32 by IEEE rules. Only FP64 and some reciprocal scales can be inexact besides integers."""


def hub(format: Format, code: int) -> int:
    """The FP32 bits of ``code``: what every conversion passes through.

    Floats up to FP32 are exact, integers round to nearest even, a NaN becomes 0x7fc00000 with its
    sign. Raises ``UsageError`` for an invalid code.
    """
    value = decode(format, code)
    if value.category is ValueClass.INVALID:
        raise UsageError(f"{format.name}: {code:#x} is not a code of the format")
    return encode(FP32, value, HUB_POLICY)


def convert(
    code: int, source: Format, target: Format, policy: ConversionPolicy, *, stream: bool = False
) -> int:
    """``code`` of ``source`` as a code of ``target``.

    Equal formats move the bits untouched. With ``stream`` they too pass through the hub, as in the
    search instructions: integers beyond 2**24 lose bits and NaNs become canonical. Raises
    ``UsageError`` for invalid codes and for what ``encode`` refuses.
    """
    if source == target and not stream:
        source.check_code(code)
        return code
    return encode(target, decode(FP32, hub(source, code)), policy)
