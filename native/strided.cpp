#include <cstring>

#include "fp32.hpp"
#include "walk.hpp"

namespace lanewise {
namespace {

// A loop whose step is known to the compiler becomes shuffles; the common steps get one each.
template <typename Word, typename Body>
LANEWISE_INLINE void with_known_step(std::ptrdiff_t step, Body body) {
    constexpr std::ptrdiff_t size = sizeof(Word);
    if (step == 2 * size) return body(2 * size);
    if (step == 3 * size) return body(3 * size);
    if (step == -size) return body(-size);
    body(step);
}

template <typename Word>
LANEWISE_INLINE void gather_as(const std::byte* from, std::ptrdiff_t step,
                               std::byte* __restrict packed, std::size_t count) {
    if (step == sizeof(Word)) {
        std::memcpy(packed, from, count * sizeof(Word));
        return;
    }
    with_known_step<Word>(step, [=](std::ptrdiff_t known) __attribute__((always_inline)) {
        for (std::size_t k = 0; k < count; ++k)
            store<Word>(packed + k * sizeof(Word),
                        load<Word>(from + static_cast<std::ptrdiff_t>(k) * known));
    });
}

template <typename Word>
LANEWISE_INLINE void scatter_as(std::byte* to, std::ptrdiff_t step, const std::byte* packed,
                                std::size_t count) {
    if (step == sizeof(Word)) {
        std::memcpy(to, packed, count * sizeof(Word));
        return;
    }
    with_known_step<Word>(step, [=](std::ptrdiff_t known) __attribute__((always_inline)) {
        for (std::size_t k = 0; k < count; ++k)
            store<Word>(to + static_cast<std::ptrdiff_t>(k) * known,
                        load<Word>(packed + k * sizeof(Word)));
    });
}

template <typename Word>
LANEWISE_INLINE void scatter_where_as(std::byte* to, std::ptrdiff_t step, const std::byte* packed,
                                      const std::byte* mask, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        // Loaded after the store before it, so that a repeated place sees what is there by now;
        // a kept element stores its own bits, which costs less than a branch on random masks.
        std::byte* place = to + static_cast<std::ptrdiff_t>(k) * step;
        const Word keep = mask[k] == std::byte{0} ? static_cast<Word>(~Word{0}) : Word{0};
        const Word old = load<Word>(place);
        const Word fresh = load<Word>(packed + k * sizeof(Word));
        store<Word>(place, static_cast<Word>((old & keep) | (fresh & ~keep)));
    }
}

#define LANEWISE_STRIDED(WORD, NAME)                                                             \
    LANEWISE_MULTIVERSION void gather_##NAME(const std::byte* from, std::ptrdiff_t step,         \
                                             std::byte* packed, std::size_t count) {             \
        gather_as<WORD>(from, step, packed, count);                                              \
    }                                                                                            \
    LANEWISE_MULTIVERSION void scatter_##NAME(std::byte* to, std::ptrdiff_t step,                \
                                              const std::byte* packed, std::size_t count) {      \
        scatter_as<WORD>(to, step, packed, count);                                               \
    }                                                                                            \
    void scatter_where_##NAME(std::byte* to, std::ptrdiff_t step, const std::byte* packed,       \
                              const std::byte* mask, std::size_t count) {                        \
        scatter_where_as<WORD>(to, step, packed, mask, count);                                   \
    }

LANEWISE_STRIDED(std::uint8_t, 1)
LANEWISE_STRIDED(std::uint16_t, 2)
LANEWISE_STRIDED(std::uint32_t, 4)
#undef LANEWISE_STRIDED

}  // namespace

void gather(const std::byte* from, std::ptrdiff_t step, std::byte* packed, std::size_t count,
            unsigned size) {
    switch (size) {
        case 1: return gather_1(from, step, packed, count);
        case 2: return gather_2(from, step, packed, count);
        default: return gather_4(from, step, packed, count);
    }
}

void scatter(std::byte* to, std::ptrdiff_t step, const std::byte* packed, std::size_t count,
             unsigned size) {
    switch (size) {
        case 1: return scatter_1(to, step, packed, count);
        case 2: return scatter_2(to, step, packed, count);
        default: return scatter_4(to, step, packed, count);
    }
}

void scatter_where(std::byte* to, std::ptrdiff_t step, const std::byte* packed,
                   const std::byte* mask, std::size_t count, unsigned size) {
    switch (size) {
        case 1: return scatter_where_1(to, step, packed, mask, count);
        case 2: return scatter_where_2(to, step, packed, mask, count);
        default: return scatter_where_4(to, step, packed, mask, count);
    }
}

}  // namespace lanewise
