// Row kernels: loops over rows of bytes. They know widths and pitches, no instruction set.
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
};

// destination[r, k] = predicate[r, k] != 0 ? source[r, k] : destination[r, k], for elements of
// `width` bytes (1, 2 or 4) and predicate elements of one byte. The destination overlaps neither
// the other two nor itself. Bits are copied, never interpreted.
void merge_rows(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
                std::size_t columns, std::size_t width);

}  // namespace lanewise
