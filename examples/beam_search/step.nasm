// One step of the beam search: the best sixteen words for each of 128 beams.
// The same words as program.py makes for 2500 words of vocabulary, without BFLOAT16.

.generation cayman
.const WORDS = 2500
.const EIGHT = 8

.buffer rows      sbuf p0:128 @0 fp32[WORDS]        // log-probabilities, one row a beam
.buffer forbidden sbuf p0:128 uint8[WORDS]          // 1 where a word must not be chosen
.buffer narrow    sbuf p0:128 bfloat16[WORDS]       // not used here
.buffer values    sbuf p0:128 fp32[2 * EIGHT]       // best first
.buffer positions sbuf p0:128 uint16[2 * EIGHT]

// With reversed_pred the scalar goes where the predicate is true.
copy_predicated_scalar dst=rows, predicate=forbidden, scalar=fp32 -inf, reversed_pred=1

// The eight best. MAX8 gives the smallest first; walked from the last element with step -1, both
// here and when the keys are loaded, the best comes first.
max8             dst=values[EIGHT - 1; EIGHT step -1], src=rows
match_value_load src=values[EIGHT - 1; EIGHT step -1]
find_index8      dst=positions[0; EIGHT], src=rows

// A key matches once until it is loaded again.
match_value_load src=values[0; EIGHT]
match_replace8   dst=rows, src=rows, immediate=-inf

// The next eight.
max8             dst=values[2 * EIGHT - 1; EIGHT step -1], src=rows
match_value_load src=values[2 * EIGHT - 1; EIGHT step -1]
find_index8      dst=positions[EIGHT; EIGHT], src=rows
