#include <cstring>

#include "multiversion.hpp"
#include "rows.hpp"

namespace lanewise {
namespace {

template <typename Word>
LANEWISE_INLINE Word load(const std::byte* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);  // elements may lie at any address
    return word;
}

template <typename Word>
LANEWISE_INLINE void merge(Rows destination, ConstRows source, ConstRows predicate,
                           std::size_t rows, std::size_t columns) {
    for (std::size_t row = 0; row < rows; ++row) {
        const auto r = static_cast<std::ptrdiff_t>(row);
        std::byte* __restrict out = destination.first + r * destination.pitch;
        const std::byte* __restrict in = source.first + r * source.pitch;
        const std::byte* __restrict choose = predicate.first + r * predicate.pitch;
        for (std::size_t k = 0; k < columns; ++k) {
            // Masks, not a conditional: every element is stored, so the loop has no branch for
            // random predicates to mispredict and vectorizes on the baseline as well.
            const Word mask = choose[k] != std::byte{0} ? static_cast<Word>(~Word{0}) : Word{0};
            const Word old = load<Word>(out + k * sizeof(Word));
            const Word fresh = load<Word>(in + k * sizeof(Word));
            const Word merged = static_cast<Word>((fresh & mask) | (old & ~mask));
            std::memcpy(out + k * sizeof(Word), &merged, sizeof merged);
        }
    }
}

LANEWISE_MULTIVERSION
void merge_1(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
             std::size_t columns) {
    merge<std::uint8_t>(destination, source, predicate, rows, columns);
}

LANEWISE_MULTIVERSION
void merge_2(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
             std::size_t columns) {
    merge<std::uint16_t>(destination, source, predicate, rows, columns);
}

LANEWISE_MULTIVERSION
void merge_4(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
             std::size_t columns) {
    merge<std::uint32_t>(destination, source, predicate, rows, columns);
}

}  // namespace

void merge_rows(Rows destination, ConstRows source, ConstRows predicate, std::size_t rows,
                std::size_t columns, std::size_t width) {
    switch (width) {
        case 1: return merge_1(destination, source, predicate, rows, columns);
        case 2: return merge_2(destination, source, predicate, rows, columns);
        default: return merge_4(destination, source, predicate, rows, columns);
    }
}

}  // namespace lanewise
