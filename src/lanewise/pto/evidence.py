"""The evidence that the request asked for, and the test that gives each item.

Source: PTO verification evidence required.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EVIDENCE_FILE = "tests/pto/test_evidence.py"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One item: its id, what it asks for, the test's name, and whether the test covers it all."""

    id: str
    item: str
    test: str
    state: Literal["covered", "partial"] = "covered"


EVIDENCE = (
    Evidence(
        "EV-01",
        "TCMP on 16-bit M32: the low half of a lane is the first result, the high half the second",
        "test_ev_01_low_half_is_the_first_result",
    ),
    Evidence(
        "EV-02",
        "TSEL on 16-bit: the two masks rule their halves independently",
        "test_ev_02_masks_rule_their_halves_independently",
    ),
    Evidence(
        "EV-03",
        "several cells: cell first, then slot; M16 uses bits 15:0 and pads 31:16",
        "test_ev_03_cell_first_then_slot",
    ),
    Evidence(
        "EV-04",
        "an oversized destination list is refused whole; smaller tiles give the same results",
        "test_ev_04_oversized_lists_are_refused_whole",
    ),
    Evidence(
        "EV-05",
        "compare results are plain GPRs, and scalar-written GPRs are masks and planes",
        "test_ev_05_masks_are_plain_registers",
    ),
    Evidence(
        "EV-06",
        "decoded P2R and TGPR2T: bit b of a byte is that row's bit of plane b, at every offset",
        "test_ev_06_bytes_are_transposed_planes",
    ),
    Evidence(
        "EV-07",
        "walking ones over planes and rows; repeated, all-zero and all-one sources",
        "test_ev_07_walking_ones",
    ),
    Evidence("EV-08", "HiF4X2 packing: low 5 and high a make a5", "test_ev_08_low_nibble_first"),
    Evidence(
        "EV-09",
        "walking ones over the three scale-byte places; a whole scale word assembled",
        "test_ev_09_scale_word_from_planes",
    ),
    Evidence(
        "EV-10",
        "smallest and largest valid rows, tails, Null and explicit padding",
        "test_ev_10_rows_tails_and_padding",
    ),
    Evidence(
        "EV-11",
        "wrong operands, types, shapes, capacity and allocation are refused before any effect",
        "test_ev_11_refused_before_any_effect",
    ),
    Evidence(
        "EV-12",
        "repeated, all-zero and all-one masks; aliases read old values",
        "test_ev_12_aliases_read_old_values",
    ),
    Evidence("EV-13", "PE mask zero changes nothing", "test_ev_13_zero_mask_changes_nothing"),
    Evidence(
        "EV-14",
        "relations, select, scale decoding and unrelated encodings are unchanged",
        "test_ev_14_neighbours_are_unchanged",
    ),
    Evidence(
        "EV-15",
        "instruction pages, catalogue and decoder agree with the instruction files",
        "test_ev_15_catalogue_matches_the_decoder",
    ),
)
