"""Number formats as data, with the exact scalar codec that defines every conversion.

The bulk twins over arrays are ``lanewise.kernels``; they are held equal to this codec.
"""

from lanewise.formats.catalogue import FORMATS, find_format
from lanewise.formats.conversion import convert, hub
from lanewise.formats.decoding import decode
from lanewise.formats.description import Format, Kind, NanRule
from lanewise.formats.elements import (
    E1M2,
    E2M1,
    E2M3,
    E2M5,
    E3M2,
    E6M2,
    E8M0,
    HIF4,
    HIF8,
    RCPE6M2,
)
from lanewise.formats.encoding import encode
from lanewise.formats.explain import (
    Explanation,
    Outcome,
    Range,
    Split,
    Step,
    explain_rounding,
    split_fields,
    unit_in_last_place,
)
from lanewise.formats.floats import (
    BF16,
    E3M4,
    E4M3,
    E4M3FN,
    E5M2,
    FP16,
    FP32,
    FP64,
    HF32,
    TF32,
    fp32r,
)
from lanewise.formats.integers import (
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from lanewise.formats.policy import ConversionPolicy
from lanewise.formats.value import Value, ValueClass, finite, infinity, invalid, nan, zero

__all__ = [
    "BF16",
    "E1M2",
    "E2M1",
    "E2M3",
    "E2M5",
    "E3M2",
    "E3M4",
    "E4M3",
    "E4M3FN",
    "E5M2",
    "E6M2",
    "E8M0",
    "FORMATS",
    "FP16",
    "FP32",
    "FP64",
    "HF32",
    "HIF4",
    "HIF8",
    "INT4",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "RCPE6M2",
    "TF32",
    "UINT4",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "ConversionPolicy",
    "Explanation",
    "Format",
    "Kind",
    "NanRule",
    "Outcome",
    "Range",
    "Split",
    "Step",
    "Value",
    "ValueClass",
    "convert",
    "decode",
    "encode",
    "explain_rounding",
    "find_format",
    "finite",
    "fp32r",
    "hub",
    "infinity",
    "invalid",
    "nan",
    "split_fields",
    "unit_in_last_place",
    "zero",
]
