// Kernels of the tile machine: relations between codes, choices by masks, and planes of bits.
// Truth travels as a byte 0 or 1 an element. lanewise/kernels/tiles_reference.py describes what each does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "step.hpp"

namespace lanewise {

// How codes become unsigned keys that order as the numbers do, for all kinds of codes at once:
// key = (((code ^ flip) & kept) ^ s) - s + bias, where s is `negated` if the code's sign is set.
// A code whose magnitude is above `largest` is no number; without `quiet` it is signalling.
struct Ordering {
    unsigned size;  // bytes an element
    std::uint64_t flip, kept, negated, bias;
    std::uint64_t sign, magnitude, largest, quiet;
};

// What holds: less, equal, either, or (inverted) everything else, which is also what holds where a
// side is no number. The sides change places for greater.
struct Relation {
    bool less, equal, inverted;
};

// truth[k] = left[k] relation right[k]; whether a code that is no number took part.
bool relate_run(std::byte* truth, const std::byte* left, const std::byte* right,
                std::size_t count, const Ordering& ordering, Relation relation);

// found[k] = whether left[k] or right[k] is signalling.
void signalling_run(std::byte* found, const std::byte* left, const std::byte* right,
                    std::size_t count, const Ordering& ordering);

// out[k] = truth[k] ? chosen[k] : other[k], for elements of 1, 2, 4 or 8 bytes.
void choose_run(std::byte* out, const std::byte* truth, const std::byte* chosen,
                const std::byte* other, std::size_t count, unsigned size);

// A flag that rows running at the same time may set.
struct Raised {
    std::byte* flags;  // a byte a row, set to 1 where a signalling code took part
    std::ptrdiff_t pitch;
};

std::unique_ptr<Step> relate_step(const Walk& truth, const Walk& left, const Walk& right,
                                  const Ordering& ordering, Relation relation, Raised raised);
std::unique_ptr<Step> choose_step(const Walk& destination, const Walk& truth, const Walk& chosen,
                                  const Walk& other);

// Rows are cells of `columns` columns; planes of `plane` bits in one word a cell: bit = row +
// column * plane.
std::unique_ptr<Step> compare_words_step(const Walk& words, const Walk& left, const Walk& right,
                                   std::size_t columns, unsigned plane, const Ordering& ordering,
                                   Relation relation, Raised raised);
// Planes of 16 or 32 bits in the packed bytes of each row of `words`.
std::unique_ptr<Step> select_words_step(const Walk& destination, const Walk& words, const Walk& chosen,
                                  const Walk& other, std::size_t columns, unsigned plane);
std::unique_ptr<Step> expand_words_step(const Walk& truth, const Walk& words, std::size_t columns,
                                  unsigned plane);
// 32 bytes a row: 8 planes of 32 bits to 32 bytes, or 16 planes of 16 bits to 16 pairs of bytes.
std::unique_ptr<Step> transpose_words_step(const Walk& destination, const Walk& words, unsigned plane);

}  // namespace lanewise
