#include <bit>
#include <cstring>
#include <type_traits>

static_assert(std::endian::native == std::endian::little, "codes in memory are little-endian");

#include "avx512.hpp"
#include "fp32.hpp"
#include "walk.hpp"

namespace lanewise {
namespace {

// A loop whose step is known to the compiler becomes shuffles; the common steps get one each.
template <typename Word, typename Body>
LANEWISE_INLINE void with_known_step(std::ptrdiff_t step, Body body) {
    constexpr std::ptrdiff_t size = sizeof(Word);
    if (step == size) return body(size);
    if (step == 2 * size) return body(2 * size);
    if (step == 3 * size) return body(3 * size);
    if (step == -size) return body(-size);
    body(step);
}

// The words in eight bytes in reverse order.
template <typename Word>
LANEWISE_INLINE std::uint64_t reversed(std::uint64_t words) {
    words = __builtin_bswap64(words);
    if constexpr (sizeof(Word) == 2)
        words = (words & 0x00ff'00ff'00ff'00ff) << 8 | (words >> 8 & 0x00ff'00ff'00ff'00ff);
    return words;
}

// to[k] = from[-k] and to[-k] = from[k], for words the compiler does not reverse by itself.
template <typename Word>
LANEWISE_INLINE void gather_backwards(const std::byte* from, std::byte* __restrict to,
                                      std::size_t count) {
    constexpr std::size_t many = 8 / sizeof(Word);
    std::size_t k = 0;
    for (; k + many <= count; k += many)
        store(to + k * sizeof(Word),
              reversed<Word>(load<std::uint64_t>(from - (k + many - 1) * sizeof(Word))));
    for (; k < count; ++k)
        store<Word>(to + k * sizeof(Word), load<Word>(from - k * sizeof(Word)));
}

template <typename Word>
LANEWISE_INLINE void scatter_backwards(std::byte* to, const std::byte* __restrict from,
                                       std::size_t count) {
    constexpr std::size_t many = 8 / sizeof(Word);
    std::size_t k = 0;
    for (; k + many <= count; k += many)
        store(to - (k + many - 1) * sizeof(Word),
              reversed<Word>(load<std::uint64_t>(from + k * sizeof(Word))));
    for (; k < count; ++k)
        store<Word>(to - k * sizeof(Word), load<Word>(from + k * sizeof(Word)));
}

// Every second word is the low half of a word twice as wide, but for the last, whose other half
// may be nobody's.
template <typename Word, typename Wide>
LANEWISE_INLINE void gather_every_second(const std::byte* from, std::byte* __restrict to,
                                         std::size_t count) {
    std::size_t k = 0;
    for (; k + 1 < count; ++k)
        store<Word>(to + k * sizeof(Word), static_cast<Word>(load<Wide>(from + k * sizeof(Wide))));
    for (; k < count; ++k)
        store<Word>(to + k * sizeof(Word), load<Word>(from + k * sizeof(Wide)));
}

// Calls `body(run, packed)` with the first place of each run and of its packed elements.
template <typename Place, typename Packed, typename Body>
LANEWISE_INLINE void each_run(Place row, const Part& part, Packed packed, std::size_t size,
                              Body body) {
    for (std::size_t r = 0; r < part.repeats; ++r)
        body(row + part.offset + static_cast<std::ptrdiff_t>(r) * part.outer_step,
             packed + r * part.length * size);
}

template <typename Word>
LANEWISE_INLINE void gather_as(const std::byte* row, const Part& part, std::byte* packed) {
    const std::size_t count = part.length;
    if (part.step == static_cast<std::ptrdiff_t>(sizeof(Word)))
        return each_run(row, part, packed, sizeof(Word),
                        [=](const std::byte* from, std::byte* to) __attribute__((always_inline)) {
            std::memcpy(to, from, count * sizeof(Word));
        });
    if constexpr (sizeof(Word) < 4) {
        using Wide = std::conditional_t<sizeof(Word) == 1, std::uint16_t, std::uint32_t>;
        if (part.step == 2 * static_cast<std::ptrdiff_t>(sizeof(Word)))
            return each_run(row, part, packed, sizeof(Word),
                            [=](const std::byte* from, std::byte* to)
                                __attribute__((always_inline)) {
                gather_every_second<Word, Wide>(from, to, count);
            });
        if (part.step == -static_cast<std::ptrdiff_t>(sizeof(Word)))
            return each_run(row, part, packed, sizeof(Word),
                            [=](const std::byte* from, std::byte* to)
                                __attribute__((always_inline)) {
                gather_backwards<Word>(from, to, count);
            });
    }
    with_known_step<Word>(part.step, [&](std::ptrdiff_t step) __attribute__((always_inline)) {
        each_run(row, part, packed, sizeof(Word),
                 [=](const std::byte* from, std::byte* __restrict to)
                     __attribute__((always_inline)) {
            for (std::size_t k = 0; k < count; ++k)
                store<Word>(to + k * sizeof(Word),
                            load<Word>(from + static_cast<std::ptrdiff_t>(k) * step));
        });
    });
}

template <typename Word>
LANEWISE_INLINE void scatter_as(std::byte* row, const Part& part, const std::byte* packed) {
    const std::size_t count = part.length;
    if (part.step == static_cast<std::ptrdiff_t>(sizeof(Word)))
        return each_run(row, part, packed, sizeof(Word),
                        [=](std::byte* to, const std::byte* from) __attribute__((always_inline)) {
            std::memcpy(to, from, count * sizeof(Word));
        });
    if constexpr (sizeof(Word) < 4)
        if (part.step == -static_cast<std::ptrdiff_t>(sizeof(Word)))
            return each_run(row, part, packed, sizeof(Word),
                            [=](std::byte* to, const std::byte* from)
                                __attribute__((always_inline)) {
                scatter_backwards<Word>(to, from, count);
            });
    with_known_step<Word>(part.step, [&](std::ptrdiff_t step) __attribute__((always_inline)) {
        each_run(row, part, packed, sizeof(Word),
                 [=](std::byte* to, const std::byte* __restrict from)
                     __attribute__((always_inline)) {
            for (std::size_t k = 0; k < count; ++k)
                store<Word>(to + static_cast<std::ptrdiff_t>(k) * step,
                            load<Word>(from + k * sizeof(Word)));
        });
    });
}

// A kept element stores its own bits, which costs less than a branch on random masks.
template <typename Word>
LANEWISE_INLINE Word merged(const std::byte* old, const std::byte* fresh, std::byte mask) {
    const Word keep = mask == std::byte{0} ? static_cast<Word>(~Word{0}) : Word{0};
    return static_cast<Word>((load<Word>(old) & keep) | (load<Word>(fresh) & ~keep));
}

template <typename Word>
LANEWISE_INLINE void scatter_where_as(std::byte* row, const Part& part, const std::byte* packed,
                                      const std::byte* mask) {
    const std::size_t count = part.length;
    if (part.step == 0) {
        // All in one place: each element is loaded after the store before it.
        for (std::size_t r = 0; r < part.repeats; ++r) {
            std::byte* place = row + part.offset + static_cast<std::ptrdiff_t>(r) * part.outer_step;
            for (std::size_t k = 0; k < count; ++k, packed += sizeof(Word), ++mask)
                store<Word>(place, merged<Word>(place, packed, *mask));
        }
        return;
    }
    // The elements of a run have places of their own; what comes after it sees all of it.
    with_known_step<Word>(part.step, [&](std::ptrdiff_t step) __attribute__((always_inline)) {
        for (std::size_t r = 0; r < part.repeats; ++r) {
            std::byte* __restrict to =
                row + part.offset + static_cast<std::ptrdiff_t>(r) * part.outer_step;
            const std::byte* __restrict from = packed + r * count * sizeof(Word);
            const std::byte* __restrict choose = mask + r * count;
            for (std::size_t k = 0; k < count; ++k) {
                std::byte* place = to + static_cast<std::ptrdiff_t>(k) * step;
                store<Word>(place, merged<Word>(place, from + k * sizeof(Word), choose[k]));
            }
        }
    });
}

#define LANEWISE_STRIDED(WORD, NAME)                                                            \
    LANEWISE_MULTIVERSION void gather_##NAME(const std::byte* row, const Part& part,            \
                                             std::byte* packed) {                               \
        gather_as<WORD>(row, part, packed);                                                     \
    }                                                                                           \
    LANEWISE_MULTIVERSION void scatter_##NAME(std::byte* row, const Part& part,                 \
                                              const std::byte* packed) {                        \
        scatter_as<WORD>(row, part, packed);                                                    \
    }                                                                                           \
    LANEWISE_MULTIVERSION void scatter_where_##NAME(std::byte* row, const Part& part,           \
                                                    const std::byte* packed,                    \
                                                    const std::byte* mask) {                    \
        scatter_where_as<WORD>(row, part, packed, mask);                                        \
    }

LANEWISE_STRIDED(std::uint8_t, 1)
LANEWISE_STRIDED(std::uint16_t, 2)
LANEWISE_STRIDED(std::uint32_t, 4)
LANEWISE_STRIDED(std::uint64_t, 8)
#undef LANEWISE_STRIDED

}  // namespace

void gather(const std::byte* row, const Part& part, std::byte* packed, unsigned size) {
    if (avx512_gather(row, part, packed, size)) return;
    switch (size) {
        case 1: return gather_1(row, part, packed);
        case 2: return gather_2(row, part, packed);
        case 4: return gather_4(row, part, packed);
        default: return gather_8(row, part, packed);
    }
}

void scatter(std::byte* row, const Part& part, const std::byte* packed, unsigned size) {
    if (avx512_scatter(row, part, packed, size)) return;
    switch (size) {
        case 1: return scatter_1(row, part, packed);
        case 2: return scatter_2(row, part, packed);
        case 4: return scatter_4(row, part, packed);
        default: return scatter_8(row, part, packed);
    }
}

void scatter_where(std::byte* row, const Part& part, const std::byte* packed,
                   const std::byte* mask, unsigned size) {
    if (avx512_scatter_where(row, part, packed, mask, size)) return;
    switch (size) {
        case 1: return scatter_where_1(row, part, packed, mask);
        case 2: return scatter_where_2(row, part, packed, mask);
        case 4: return scatter_where_4(row, part, packed, mask);
        default: return scatter_where_8(row, part, packed, mask);
    }
}

}  // namespace lanewise
