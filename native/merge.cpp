#include <algorithm>

#include "fp32.hpp"
#include "multiversion.hpp"
#include "rows.hpp"

namespace lanewise {
namespace {

// Masks, not a conditional: every element is stored, so a loop has no branch for random
// predicates to mispredict and vectorizes on the baseline as well.
template <typename Word>
LANEWISE_INLINE Word all_if(bool condition) {
    return condition ? static_cast<Word>(~Word{0}) : Word{0};
}

// Three wide streams are more than processors fetch ahead well, above all from one page to the next:
// there the loop asks for what is a page ahead itself. With narrower predicates that only costs.
constexpr std::size_t line = 64;  // of the cache, in bytes

LANEWISE_INLINE void fetch_ahead(const std::byte* from) {
    constexpr std::uintptr_t page = 4096;
    // An address and no pointer: past the end of an array it is only a hint that goes nowhere.
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + page));
}

template <typename Word, typename Truth>
LANEWISE_INLINE void merge(Rows destination, ConstRows source, ConstRows predicate,
                           std::size_t rows, std::size_t columns) {
    constexpr bool fetches = sizeof(Word) == 4 && sizeof(Truth) == 4;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto r = static_cast<std::ptrdiff_t>(row);
        std::byte* __restrict out = destination.first + r * destination.pitch;
        const std::byte* __restrict in = source.first + r * source.pitch;
        const std::byte* __restrict choose = predicate.first + r * predicate.pitch;
        for (std::size_t done = 0, end; done < columns; done = end) {
            end = fetches ? std::min(columns, done + 256) : columns;
            if constexpr (fetches)
                for (std::size_t k = done; k < end; k += line / 4) {
                    fetch_ahead(out + 4 * k);
                    fetch_ahead(in + 4 * k);
                    fetch_ahead(choose + 4 * k);
                }
            for (std::size_t k = done; k < end; ++k) {
                const Word mask = all_if<Word>(load<Truth>(choose + k * sizeof(Truth)) != 0);
                const Word old = load<Word>(out + k * sizeof(Word));
                const Word fresh = load<Word>(in + k * sizeof(Word));
                store<Word>(out + k * sizeof(Word),
                            static_cast<Word>((fresh & mask) | (old & ~mask)));
            }
        }
    }
}

template <typename Word, typename Truth>
LANEWISE_INLINE void fill(std::byte* __restrict out, std::uint32_t value,
                          const std::byte* __restrict choose, bool when, std::size_t columns) {
    const Word fresh = static_cast<Word>(value), flip = all_if<Word>(!when);
    for (std::size_t k = 0; k < columns; ++k) {
        const Word mask = all_if<Word>(load<Truth>(choose + k * sizeof(Truth)) != 0) ^ flip;
        const Word old = load<Word>(out + k * sizeof(Word));
        store<Word>(out + k * sizeof(Word), static_cast<Word>((fresh & mask) | (old & ~mask)));
    }
}

template <typename Truth>
LANEWISE_INLINE void mask(std::byte* __restrict out, const std::byte* __restrict choose, bool when,
                          std::size_t columns) {
    const std::uint8_t flip = when ? 0 : 1;
    for (std::size_t k = 0; k < columns; ++k) {
        const std::uint8_t truth = load<Truth>(choose + k * sizeof(Truth)) != 0 ? 1 : 0;
        out[k] = static_cast<std::byte>(truth ^ flip);
    }
}

using Merge = void (*)(Rows, ConstRows, ConstRows, std::size_t, std::size_t);
using Fill = void (*)(std::byte*, std::uint32_t, const std::byte*, bool, std::size_t);
using Mask = void (*)(std::byte*, const std::byte*, bool, std::size_t);

#define LANEWISE_MERGE(WORD, TRUTH, NAME)                                                        \
    LANEWISE_MULTIVERSION void merge_##NAME(Rows destination, ConstRows source,                  \
                                            ConstRows predicate, std::size_t rows,               \
                                            std::size_t columns) {                               \
        merge<WORD, TRUTH>(destination, source, predicate, rows, columns);                       \
    }                                                                                            \
    LANEWISE_MULTIVERSION void fill_##NAME(std::byte* destination, std::uint32_t value,          \
                                           const std::byte* predicate, bool when,                \
                                           std::size_t columns) {                                \
        fill<WORD, TRUTH>(destination, value, predicate, when, columns);                         \
    }

LANEWISE_MERGE(std::uint8_t, std::uint8_t, 1_1)
LANEWISE_MERGE(std::uint8_t, std::uint16_t, 1_2)
LANEWISE_MERGE(std::uint8_t, std::uint32_t, 1_4)
LANEWISE_MERGE(std::uint16_t, std::uint8_t, 2_1)
LANEWISE_MERGE(std::uint16_t, std::uint16_t, 2_2)
LANEWISE_MERGE(std::uint16_t, std::uint32_t, 2_4)
LANEWISE_MERGE(std::uint32_t, std::uint8_t, 4_1)
LANEWISE_MERGE(std::uint32_t, std::uint16_t, 4_2)
LANEWISE_MERGE(std::uint32_t, std::uint32_t, 4_4)
#undef LANEWISE_MERGE

LANEWISE_MULTIVERSION void mask_1(std::byte* out, const std::byte* predicate, bool when,
                                  std::size_t columns) {
    mask<std::uint8_t>(out, predicate, when, columns);
}
LANEWISE_MULTIVERSION void mask_2(std::byte* out, const std::byte* predicate, bool when,
                                  std::size_t columns) {
    mask<std::uint16_t>(out, predicate, when, columns);
}
LANEWISE_MULTIVERSION void mask_4(std::byte* out, const std::byte* predicate, bool when,
                                  std::size_t columns) {
    mask<std::uint32_t>(out, predicate, when, columns);
}

// Index in the tables below: widths 1, 2 and 4 become 0, 1 and 2.
constexpr unsigned index_of(unsigned width) { return width >> 1; }

}  // namespace

void merge_rows(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
                std::size_t columns, unsigned width, unsigned predicate_width) {
    const Merge kernels[3][3] = {{merge_1_1, merge_1_2, merge_1_4},
                                 {merge_2_1, merge_2_2, merge_2_4},
                                 {merge_4_1, merge_4_2, merge_4_4}};
    kernels[index_of(width)][index_of(predicate_width)](destination, source, predicate, rows,
                                                        columns);
}

void fill_row(std::byte* destination, std::uint32_t value, const std::byte* predicate, bool when,
              std::size_t columns, unsigned width, unsigned predicate_width) {
    const Fill kernels[3][3] = {{fill_1_1, fill_1_2, fill_1_4},
                                {fill_2_1, fill_2_2, fill_2_4},
                                {fill_4_1, fill_4_2, fill_4_4}};
    kernels[index_of(width)][index_of(predicate_width)](destination, value, predicate, when,
                                                        columns);
}

void mask_row(std::byte* mask, const std::byte* predicate, bool when, std::size_t columns,
              unsigned predicate_width) {
    const Mask kernels[3] = {mask_1, mask_2, mask_4};
    kernels[index_of(predicate_width)](mask, predicate, when, columns);
}

void fill_unmasked(std::byte* destination, std::uint32_t value, const std::byte* mask,
                   std::size_t columns, unsigned width) {
    fill_row(destination, value, mask, false, columns, width, 1);
}

}  // namespace lanewise
