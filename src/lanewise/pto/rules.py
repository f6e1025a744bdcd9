"""Every check of the PTO machine with its stable id, in the order of the steps they belong to.

A fault carries the id of the check that failed (``PtoFault.rule``); this table says what each one
demands. Source: PTO bundle schemas and checks (order of checks).
"""

from __future__ import annotations

from dataclasses import dataclass

from lanewise.pto.faults import FaultKind
from lanewise.pto.words import FORMS

_ILLEGAL = FaultKind.ILLEGAL_INSTRUCTION
_CONTROL = FaultKind.BUNDLE_CONTROL
_LEGALITY = FaultKind.TILE_LEGALITY
_ALLOCATION = FaultKind.TILE_ALLOCATION


@dataclass(frozen=True, slots=True)
class Rule:
    """One check: its id, the step that makes it, its fault, and what it demands.

    Steps: 0 each word as it is read, 2 the selector, 3 completeness, 4 legality, 5 allocation.
    (Step 1 is the zero PE mask, which refuses nothing.)
    """

    id: str
    step: int
    fault: FaultKind
    text: str


def _encodings() -> list[Rule]:
    """Reserved codes, one rule for each coded field that has any."""
    found = {
        f"{form.form}.{name}": f"{form.form} {name} is an assigned code"
        for form in FORMS
        for name in form.strict
    }
    found["B.IOT.hand"] = "B.IOT hand is 0 with SizeCode 0"
    found["B.IOT.size"] = "B.IOT size is 0..10, and not 0 in the destination-only form"
    return [Rule(rule, 0, _ILLEGAL, text) for rule, text in found.items()]


RULES: tuple[Rule, ...] = (
    Rule("encoding.cut", 0, _ILLEGAL, "the program ends with a whole word"),
    Rule("encoding.length", 0, _ILLEGAL, "bit 0 announces the width that the word has"),
    Rule("encoding.none", 0, _ILLEGAL, "the bits are a word of the machine"),
    *_encodings(),
    Rule("bundle.outside", 0, _CONTROL, "a command stands inside a bundle"),
    Rule("bundle.datr_twice", 0, _CONTROL, "there is at most one B.DATR"),
    Rule("bundle.datr_late", 0, _CONTROL, "B.DATR comes before any B.IOR, B.IOT and B.IOS"),
    Rule("bundle.dimension_twice", 0, _CONTROL, "each dimension is given at most once"),
    Rule("bundle.registers", 0, _CONTROL, "there is one B.IOR, in TGPR2T there are two"),
    Rule("bundle.registers_late", 0, _CONTROL, "TGPR2T's B.IOR come before any B.IOT"),
    Rule("bundle.registers_apart", 0, _CONTROL, "TGPR2T's B.IOR are adjacent"),
    Rule("bundle.registers_dst", 0, _CONTROL, "TGPR2T's B.IOR have RegDst zero"),
    Rule("bundle.after_last", 0, _CONTROL, "no B.IOT follows the one marked last"),
    Rule("bundle.unterminated", 0, _CONTROL, "the program does not end inside a bundle"),
    Rule("bundle.pe_mask", 0, _LEGALITY, "every B.IOT has the PE mask of the first"),
    Rule("bundle.bindings", 0, _LEGALITY, "at most four B.IOT bind tiles"),
    Rule("bundle.selector", 2, _ILLEGAL, "the selector is an operation of this model"),
    Rule("bundle.no_binding", 3, _CONTROL, "there is a B.IOT"),
    Rule("bundle.no_last", 3, _CONTROL, "the last B.IOT is marked last"),
    Rule("bundle.registers_missing", 3, _CONTROL, "TGPR2T has two B.IOR"),
    Rule("schema.shared", 4, _LEGALITY, "no Shared tile is bound"),
    Rule("type.none", 4, _LEGALITY, "BSTART or B.DATR gives a data type"),
    Rule("schema.form", 4, _LEGALITY, "the records are those of a form of the operation"),
    Rule("schema.sources", 4, _LEGALITY, "B.IOR sources without a role are zero"),
    Rule("schema.registers", 4, _LEGALITY, "registers are 0..23 (proposal)"),
    Rule("schema.regdst", 4, _LEGALITY, "RegDst is zero where no register is written"),
    Rule("schema.offset", 4, _LEGALITY, "the byte offset is 0..3 (proposal)"),
    Rule("datr.layout", 4, _LEGALITY, "B.DATR layout is 0"),
    Rule("datr.rmode", 4, _LEGALITY, "B.DATR rmode is 0, TGPR2T apart"),
    Rule("datr.canonicalize", 4, _LEGALITY, "B.DATR canonicalize is 0"),
    Rule("datr.cmode", 4, _LEGALITY, "B.DATR cmode is 0, compares apart"),
    Rule("datr.sat", 4, _LEGALITY, "B.DATR sat is 0, 8-bit compares into a GPR apart"),
    Rule("datr.offset", 4, _LEGALITY, "TGPR2T's RMode is at most 3"),
    Rule("datr.pad", 4, _LEGALITY, "TGPR2T pads with Zero or Max"),
    Rule("type.operation", 4, _LEGALITY, "the operation works on this type"),
    Rule("type.gpr", 4, _LEGALITY, "a GPR carries masks of this 8-bit type"),
    Rule("source.absent", 4, _LEGALITY, "every source tile exists"),
    Rule("source.kind", 4, _LEGALITY, "data sources are numeric"),
    Rule("source.descriptor", 4, _LEGALITY, "data sources have legal descriptors"),
    Rule("source.layout", 4, _LEGALITY, "data sources have a layout of the operation"),
    Rule("type.cube", 4, _LEGALITY, "types of CUBE tiles are among the thirteen"),
    Rule("type.backing", 4, _LEGALITY, "the backing type has the operation type's width"),
    Rule("source.defined", 4, _LEGALITY, "every valid element of a source is defined"),
    Rule("source.shape", 4, _LEGALITY, "data sources have one layout and shape"),
    Rule("dimension.lb0", 4, _LEGALITY, "LB0 is given"),
    Rule("dimension.zero", 4, _LEGALITY, "no dimension is zero"),
    Rule("dimension.valid", 4, _LEGALITY, "LB0 and LB1 are the valid shape"),
    Rule("dimension.cols", 4, _LEGALITY, "LB2 gives the physical columns"),
    Rule("carrier.layout", 4, _LEGALITY, "a GPR carries the mask of an M tile"),
    Rule("carrier.width", 4, _LEGALITY, "the tile is no wider than a GPR carries"),
    Rule("carrier.planes", 4, _LEGALITY, "there is one GPR for each plane (proposal)"),
    Rule("source.encoding", 4, _LEGALITY, "TF32 and HF32 codes have their low bits clear"),
    Rule("mask.kind", 4, _LEGALITY, "the mask tile has the kind that the data's layout takes"),
    Rule("mask.descriptor", 4, _LEGALITY, "the mask tile has a legal descriptor"),
    Rule("mask.shape", 4, _LEGALITY, "the mask tile has the data's layout and shape"),
    Rule("mask.basis", 4, _LEGALITY, "the mask's basis is the operation type"),
    Rule("mask.defined", 4, _LEGALITY, "every valid element of the mask is defined"),
    Rule("mask.value", 4, _LEGALITY, "every valid byte of the mask is 00 or 01"),
    Rule("mask.padding", 4, _LEGALITY, "so is its padding, if the profile says so"),
    Rule("destination.cell", 4, _LEGALITY, "a PredicateCell fits its capacity"),
    Rule("destination.packed", 5, _ALLOCATION, "packed predicates fit their capacity"),
    Rule("destination.select", 5, _ALLOCATION, "a select result fits its capacity"),
    Rule("destination.size", 5, _ALLOCATION, "the SizeCode is one that the operation takes"),
    Rule("destination.storage", 5, _ALLOCATION, "the PE has storage left for the result"),
)
