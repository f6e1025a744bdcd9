// The step of step.nasm with rows that first go through BFLOAT16, which makes most of them tie.

.generation cayman
.const WORDS = 2500
.const EIGHT = 8

.buffer rows      sbuf p0:128 @0 fp32[WORDS]
.buffer forbidden sbuf p0:128 uint8[WORDS]
.buffer narrow    sbuf p0:128 bfloat16[WORDS]
.buffer values    sbuf p0:128 fp32[2 * EIGHT]
.buffer positions sbuf p0:128 uint16[2 * EIGHT]

cast dst=narrow, src=rows
cast dst=rows, src=narrow

copy_predicated_scalar dst=rows, predicate=forbidden, scalar=fp32 -inf, reversed_pred=1

max8             dst=values[EIGHT - 1; EIGHT step -1], src=rows
match_value_load src=values[EIGHT - 1; EIGHT step -1]
find_index8      dst=positions[0; EIGHT], src=rows

match_value_load src=values[0; EIGHT]
match_replace8   dst=rows, src=rows, immediate=-inf

max8             dst=values[2 * EIGHT - 1; EIGHT step -1], src=rows
match_value_load src=values[2 * EIGHT - 1; EIGHT step -1]
find_index8      dst=positions[EIGHT; EIGHT], src=rows
