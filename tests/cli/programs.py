"""Small programs for the command: words that do something, and words that break rules."""

from __future__ import annotations

from lanewise.neuron import encode, find_generation, walk
from lanewise.neuron.instructions import BY_OPCODE

_CAYMAN = find_generation("cayman")
_CAST, _COPY, _SELECT_REDUCE = BY_OPCODE[0x47], BY_OPCODE[0x46], BY_OPCODE[0xEA]


def _at(partition: int, offset: int, space: str = "sbuf") -> int:
    return _CAYMAN.address(space, partition, offset)


#: Casts 16 FP32 at 0x100 of partitions 0..3 to FP8_EXP4 at 0x200.
CAST = encode(
    _CAST(
        src=walk(_at(0, 0x100), (1, 16)),
        dst=walk(_at(0, 0x200), (1, 16)),
        in_dtype="FP32",
        out_dtype="FP8_EXP4",
        num_active_channels=4,
    )
)
#: Casts 4096 FP32 at 0x1000 of all partitions to BFLOAT16 at 0x8000: worth a second thread.
LARGE = encode(
    _CAST(
        src=walk(_at(0, 0x1000), (1, 4096)),
        dst=walk(_at(0, 0x8000), (1, 4096)),
        in_dtype="FP32",
        out_dtype="BFLOAT16",
        num_active_channels=128,
    )
)
#: CAST with three rules broken.
ILLEGAL = encode(_CAST.from_bytes(CAST).replace(op=3, num_active_channels=200, mask_enable=1))
#: No word of any generation.
MALFORMED = bytes(64)
#: An assigned opcode without a model.
UNMODELLED = bytes([0x01]) + bytes(63)
#: Copies from PSUM: legal on act and dve, not on the pool engine that runs it by default.
PSUM_COPY = encode(
    _COPY(
        src=walk(_at(0, 0x100, "psum"), (1, 16)),
        dst=walk(_at(0, 0x200), (1, 16)),
        in_dtype="FP32",
        out_dtype="FP32",
    )
)
#: Copies from the address in register 3.
REGISTER_COPY = encode(
    _COPY.from_bytes(PSUM_COPY).replace(
        src={"start": {"address": 3, "in_register": 1}, "step": [1] * 4, "num": [16, 1, 1, 1]}
    )
)


def _accumulating(command: int) -> bytes:
    return encode(
        _SELECT_REDUCE(
            predicate=walk(_at(0, 0x300), (1, 8)),
            data=walk(_at(0, 0x100), (1, 8)),
            dst=walk(_at(0, 0x200), (1, 8)),
            predicate_dtype="UINT8",
            data_dtype="FP32",
            out_dtype="FP32",
            accumulator_command=command,
        )
    )


#: Accumulates after an idle command: runs, with a warning.
WARNED = _accumulating(0) + _accumulating(2)

#: A program of the PTO machine that leaves a tile of 32x4 bytes on U.
PTO = "TGPR2T <Row=32, Col=4, U8>, a0, zero, zero, zero, ->U<128B>\n"
