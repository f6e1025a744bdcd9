// Loops for processors with AVX-512 that a compiler does not find by itself: conversions by the
// instructions that round, tables in registers, short strides by permutation, searches that skip
// what cannot be found. They do what other files do on every processor.
#pragma once

#include "convert.hpp"

namespace lanewise {

struct Part;

// Kernels for this processor, or null where there is none: then the portable ones are used.
Conversion::Run avx512_arithmetic(const Conversion& conversion);
Conversion::Run avx512_look_up(const Conversion& conversion);

// As gather, scatter and scatter_where (walk.hpp) where a step is short and this processor can;
// false, with nothing done, elsewhere.
bool avx512_gather(const std::byte* row, const Part& part, std::byte* packed, unsigned size);
bool avx512_scatter(std::byte* row, const Part& part, const std::byte* packed, unsigned size);
bool avx512_scatter_where(std::byte* row, const Part& part, const std::byte* packed,
                          const std::byte* mask, unsigned size);

// Merges elements `every` places apart: `span` places from the first to the last, of `size` bytes
// in the destination and the source and `truth_size` in the predicate. The operands share nothing.
// False, with nothing done, where this processor cannot.
bool avx512_merge_every(std::byte* to, const std::byte* from, const std::byte* where,
                        std::size_t span, std::size_t every, unsigned size, unsigned truth_size);

// As top8_row (search.hpp); false, with nothing done, where this processor cannot.
bool avx512_top8(const std::byte* row, std::size_t count, std::uint32_t* largest);

// The first of `count` elements that equals one of eight keys (0 for either zero), or `count`.
// Only where `can_find_keys`.
std::size_t avx512_find_key(const std::byte* elements, std::size_t count,
                            const std::uint32_t* keys);
bool can_find_keys();

// Whether 16-bit sources are better converted by arithmetic than through a table of 65536 entries.
bool has_avx512();

}  // namespace lanewise
