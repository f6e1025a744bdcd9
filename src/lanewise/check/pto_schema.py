"""The JSON of a PTO case: strict structures, unknown keys are errors with their path."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

KindName = Literal["numeric", "predicate_cell", "packed_predicate"]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A JSON object whose unknown keys are an error."""


class TileInput(_Strict):
    """A tile pushed before the program; ``hand`` may name several hands, one push each."""

    hand: str
    dtype: str
    layout: str
    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    kind: KindName = "numeric"
    basis: str | None = None
    hex: str | None = None
    fill: str | None = None
    capacity: int | None = None
    undefined: str | None = None


class TileExpected(_Strict):
    """A tile after the program; only keys that are there are compared."""

    tile: str
    dtype: str | None = None
    layout: str | None = None
    rows: int | None = None
    cols: int | None = None
    valid_rows: int | None = None
    valid_cols: int | None = None
    first_col: int | None = None
    kind: KindName | None = None
    basis: str | None = None
    capacity: int | None = None
    hex: str | None = None
    undefined: str | None = None


class PeInput(_Strict):
    """Keys that replace the common ones on one PE."""

    gprs: dict[str, str] | None = None
    tiles: list[TileInput] | None = None
    flags: int | None = None


class StateExpected(_Strict):
    """The state of one PE after the program."""

    gprs: dict[str, str] = {}
    gpr_undefined: dict[str, str] = {}
    flags: int | None = None
    hands: dict[str, int] | None = None
    tiles: list[TileExpected] = []


class Expectation(StateExpected, kw_only=True):
    """What a case must give; state keys are those of PE ``pe`` of the case."""

    verdict: Literal["ok", "fault"]
    fault: (
        Literal["IllegalInstruction", "BundleControl", "TileLegality", "TileAllocation"] | None
    ) = None
    index: int | None = None
    result: dict[str, Any] | None = None
    pes: dict[str, StateExpected] | None = None


class _Operation(_Strict, tag_field="op"):
    """An operation without encoding, told apart by ``op``."""


class ProposalTcmp(_Operation, tag="TCMP"):
    """Compare of the proposal revision."""

    relation: str
    dtype: str
    layout: str
    left: str
    right: str
    dst: list[int]
    pad: str = "Null"
    pe_mask: str = "1000"


class ProposalTsel(_Operation, tag="TSEL"):
    """Select of the proposal revision."""

    dtype: str
    layout: str
    true: str
    false: str
    masks: list[int]
    dst: str
    size_code: int = 1
    pad: str = "Null"
    pe_mask: str = "1000"


class ProposalP2r(_Operation, tag="P2R"):
    """P2R of the proposal revision."""

    sources: list[int]
    dst: str
    byte_offset: int = 0
    size_code: int = 1
    pe_mask: str = "1000"
    dtype: str = "U8"
    layout: str = "CUBE_M32"


class CompareElement(_Operation, tag="compare_element"):
    """One comparison of two codes."""

    dtype: str
    relation: str
    left: str
    right: str


class PadValueOf(_Operation, tag="pad_value"):
    """The padding of a type, of a GPR, or of a predicate bit or byte."""

    dtype: str
    pad: str


class CellShapeOf(_Operation, tag="cell_shape"):
    """The cell of a layout and type, and what a valid shape needs."""

    layout: str
    dtype: str
    valid_rows: int | None = None
    valid_cols: int | None = None
    capacity: int | None = None


class ElementAddressOf(_Operation, tag="element_address"):
    """Where an element lies."""

    layout: str
    dtype: str
    valid_rows: int
    valid_cols: int
    row: int
    col: int


class DecodeFormat(_Operation, tag="decode_format"):
    """The value of a code in a number format."""

    format: str
    code: str


class Hif4Lane(_Operation, tag="hif4_lane"):
    """The value of a lane under a scale word."""

    scale: str
    lane: int
    code: str


class Hif4Quantize(_Operation, tag="hif4_quantize"):
    """A group of 64 BF16 values, each high digit first."""

    values: str


class DecodeWord(_Operation, tag="decode_word"):
    """The form and fields of a word."""

    word: str


class Assemble(_Operation, tag="assemble"):
    """The words of assembly lines."""

    text: list[str]


Operation = (
    ProposalTcmp
    | ProposalTsel
    | ProposalP2r
    | CompareElement
    | PadValueOf
    | CellShapeOf
    | ElementAddressOf
    | DecodeFormat
    | Hif4Lane
    | Hif4Quantize
    | DecodeWord
    | Assemble
)

#: Operations that act on a machine's state.
STATE_OPERATIONS = (ProposalTcmp, ProposalTsel, ProposalP2r)


class PtoCase(_Strict):
    """One test vector of the PTO machine."""

    schema: Literal["lanewise.case/1"]
    id: str
    machine: Literal["pto"]
    revision: Literal["frozen", "proposal"]
    expect: Expectation
    note: str | None = None
    gprs: dict[str, str] = {}
    flags: int = 0
    tiles: list[TileInput] = []
    pe: int = 0
    pes: dict[str, PeInput] = {}
    program: list[str] | None = None
    operation: Operation | None = None
