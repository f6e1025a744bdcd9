// Rows of packed elements, and the loops over them that know only widths and pitches.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __FAST_MATH__
#error "lanewise promises bits: -ffast-math (or -Ofast) must not be among the compiler's flags"
#endif

namespace lanewise {

// A two-dimensional block: rows `pitch` bytes apart (of either sign), unit stride inside a row.
// Nothing is assumed about alignment.
struct Rows {
    std::byte* first;
    std::ptrdiff_t pitch;
};

struct ConstRows {
    const std::byte* first;
    std::ptrdiff_t pitch;
    ConstRows(const std::byte* first, std::ptrdiff_t pitch) : first(first), pitch(pitch) {}
    ConstRows(Rows rows) : first(rows.first), pitch(rows.pitch) {}
};

// How many elements of a long row lie before the first that begins a cache line. Loops that begin
// there move whole lines; from any other place every vector of 64 bytes touches two. 0 where that
// wins nothing, or where rows differ.
inline std::size_t elements_before_line(ConstRows rows, std::size_t columns, unsigned width) {
    constexpr std::size_t line = 64, worth_it = 1024;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(rows.first) % line;
    if (columns * width < worth_it || past == 0 || past % width != 0 ||
        rows.pitch % static_cast<std::ptrdiff_t>(line) != 0)
        return 0;
    return (line - past) / width;
}

// destination[r, k] = predicate[r, k] != 0 ? source[r, k] : destination[r, k], for elements of
// `width` bytes and predicate elements of `predicate_width` bytes (1, 2 or 4 each). The
// destination overlaps neither the other two nor itself. Bits are copied, never interpreted.
void merge_rows(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
                std::size_t columns, unsigned width, unsigned predicate_width);

// The same with one element `value` (its low `width` bytes) in the place of the source, where
// (predicate[r, k] != 0) == when.
void fill_row(std::byte* destination, std::uint32_t value, const std::byte* predicate, bool when,
              std::size_t columns, unsigned width, unsigned predicate_width);

// mask[k] = (predicate[k] != 0) == when, as a byte 0 or 1.
void mask_row(std::byte* mask, const std::byte* predicate, bool when, std::size_t columns,
              unsigned predicate_width);

// destination[k] = mask[k] ? destination[k] : value, for a mask of bytes.
void fill_unmasked(std::byte* destination, std::uint32_t value, const std::byte* mask,
                   std::size_t columns, unsigned width);

}  // namespace lanewise
