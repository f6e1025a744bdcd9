// Short strides for processors with AVX-512: permutations and masked moves instead of one element
// at a time. Nothing outside the elements is read or written.
#include "avx512.hpp"
#include "walk.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include "avx512_lanes.hpp"

#undef LANEWISE_AVX512
#undef LANEWISE_AVX512_INLINE
#define LANEWISE_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,bmi2")))
#define LANEWISE_AVX512_INLINE LANEWISE_AVX512 __attribute__((always_inline)) inline

namespace lanewise {
namespace {

constexpr std::size_t worth_it = 8;  // elements of a run

constexpr std::uint64_t first_bits(std::size_t count) {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// What is different for words of 1, 2 and 4 bytes.
template <typename Word>
struct Words;

template <>
struct Words<std::uint8_t> {
    LANEWISE_AVX512_INLINE static Vector load(const std::byte* from, std::uint64_t mask) {
        return _mm512_maskz_loadu_epi8(mask, from);
    }
    LANEWISE_AVX512_INLINE static void store(std::byte* to, std::uint64_t mask, Vector value) {
        _mm512_mask_storeu_epi8(to, mask, value);
    }
    LANEWISE_AVX512_INLINE static Vector permuted(Vector value, Vector order) {
        return _mm512_permutexvar_epi8(order, value);
    }
    LANEWISE_AVX512_INLINE static Vector chosen(Vector value, std::uint64_t mask, Vector other) {
        return _mm512_mask_mov_epi8(value, mask, other);
    }
};

template <>
struct Words<std::uint16_t> {
    LANEWISE_AVX512_INLINE static Vector load(const std::byte* from, std::uint64_t mask) {
        return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), from);
    }
    LANEWISE_AVX512_INLINE static void store(std::byte* to, std::uint64_t mask, Vector value) {
        _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(mask), value);
    }
    LANEWISE_AVX512_INLINE static Vector permuted(Vector value, Vector order) {
        return _mm512_permutexvar_epi16(order, value);
    }
    LANEWISE_AVX512_INLINE static Vector chosen(Vector value, std::uint64_t mask, Vector other) {
        return _mm512_mask_mov_epi16(value, static_cast<__mmask32>(mask), other);
    }
};

template <>
struct Words<std::uint32_t> {
    LANEWISE_AVX512_INLINE static Vector load(const std::byte* from, std::uint64_t mask) {
        return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
    }
    LANEWISE_AVX512_INLINE static void store(std::byte* to, std::uint64_t mask, Vector value) {
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), value);
    }
    LANEWISE_AVX512_INLINE static Vector permuted(Vector value, Vector order) {
        return _mm512_permutexvar_epi32(order, value);
    }
    LANEWISE_AVX512_INLINE static Vector chosen(Vector value, std::uint64_t mask, Vector other) {
        return _mm512_mask_mov_epi32(value, static_cast<__mmask16>(mask), other);
    }
};

// A vector of packed words, which `step` vectors of memory hold every step-th word of, in the
// order of the addresses or against it.
template <typename Word, unsigned step, bool backwards>
struct Pattern {
    static constexpr std::size_t width = 64 / sizeof(Word);
    struct Tables {
        alignas(64) Word to_packed[step][width] = {};  // place in the memory vector, by element
        alignas(64) Word to_memory[step][width] = {};  // element, by place in the memory vector
        std::uint64_t elements[step] = {};             // elements that the memory vector holds
        std::uint64_t places[step] = {};               // their places
        std::size_t before[step] = {};                 // elements in the memory vectors before

        constexpr Tables() {
            for (std::size_t along = 0; along < width; ++along) {
                const std::size_t element = backwards ? width - 1 - along : along;
                const std::size_t vector = along * step / width, place = along * step % width;
                to_packed[vector][element] = static_cast<Word>(place);
                to_memory[vector][place] = static_cast<Word>(element);
                elements[vector] |= std::uint64_t{1} << element;
                places[vector] |= std::uint64_t{1} << place;
            }
            for (std::size_t vector = 1; vector < step; ++vector)
                before[vector] = (vector * width + step - 1) / step;
        }
    };
    static constexpr Tables tables{};

    // Some of the elements of a run: packed ones from `packed` on, the lanes of one vector.
    struct Block {
        std::size_t packed;
        std::size_t number;     // how many there are, at most `width`
        std::ptrdiff_t memory;  // bytes from the lowest place of the run: may be before it
    };

    // Calls `body(block)` for the blocks of a run in the order of its elements, which is the one
    // that the run before and the run after go on with.
    template <typename Body>
    LANEWISE_AVX512_INLINE static void blocks(std::size_t count, Body body) {
        for (std::size_t packed = 0; packed < count; packed += width) {
            const auto before = static_cast<std::ptrdiff_t>(backwards ? count - packed : packed) -
                                static_cast<std::ptrdiff_t>(backwards ? width : 0);
            body(Block{packed, std::min(width, count - packed),
                       before * static_cast<std::ptrdiff_t>(step * sizeof(Word))});
        }
    }

    LANEWISE_AVX512_INLINE static std::uint64_t lanes(const Block& block) {
        return first_bits(block.number);
    }

    // The places of a memory vector that a block has: all of them, or the first or last ones.
    LANEWISE_AVX512_INLINE static std::uint64_t places(const Block& block, std::size_t vector) {
        if (block.number == width) return tables.places[vector];
        const std::size_t from = vector * width, missing = (width - block.number) * step;
        const std::size_t end = block.number * step;
        if (backwards)
            return missing <= from ? tables.places[vector]
                                   : tables.places[vector] & ~first_bits(missing - from);
        return end <= from ? 0 : tables.places[vector] & first_bits(end - from);
    }

    LANEWISE_AVX512 static void gather(const std::byte* lowest, std::size_t count,
                                       std::byte* packed) {
        blocks(count, [&](const Block& block) LANEWISE_AVX512 __attribute__((always_inline)) {
            Vector value = _mm512_setzero_si512();
            for (std::size_t v = 0; v < step; ++v) {
                const Vector words =
                    Words<Word>::load(lowest + block.memory + 64 * v, places(block, v));
                const Vector order = _mm512_load_si512(tables.to_packed[v]);
                value = Words<Word>::chosen(value, tables.elements[v],
                                            Words<Word>::permuted(words, order));
            }
            Words<Word>::store(packed + block.packed * sizeof(Word), lanes(block), value);
        });
    }

    LANEWISE_AVX512 static void scatter(std::byte* lowest, std::size_t count,
                                        const std::byte* packed) {
        blocks(count, [&](const Block& block) LANEWISE_AVX512 __attribute__((always_inline)) {
            const Vector value =
                Words<Word>::load(packed + block.packed * sizeof(Word), lanes(block));
            for (std::size_t v = 0; v < step; ++v) {
                const Vector order = _mm512_load_si512(tables.to_memory[v]);
                Words<Word>::store(lowest + block.memory + 64 * v, places(block, v),
                                   Words<Word>::permuted(value, order));
            }
        });
    }

    LANEWISE_AVX512 static void scatter_where(std::byte* lowest, std::size_t count,
                                              const std::byte* packed, const std::byte* mask) {
        blocks(count, [&](const Block& block) LANEWISE_AVX512 __attribute__((always_inline)) {
            const Vector value =
                Words<Word>::load(packed + block.packed * sizeof(Word), lanes(block));
            const Vector truth = Words<std::uint8_t>::load(mask + block.packed, lanes(block));
            std::uint64_t wanted = _mm512_test_epi8_mask(truth, truth);
            if constexpr (backwards) wanted = reversed(wanted);
            for (std::size_t v = 0; v < step; ++v) {
                // What is wanted is in the order of the memory by now, and so are the places.
                const std::uint64_t there =
                    _pdep_u64(wanted >> tables.before[v], tables.places[v]);
                const Vector order = _mm512_load_si512(tables.to_memory[v]);
                Words<Word>::store(lowest + block.memory + 64 * v, there,
                                   Words<Word>::permuted(value, order));
            }
        });
    }

    // The first `width` bits from the last to the first.
    LANEWISE_AVX512_INLINE static std::uint64_t reversed(std::uint64_t bits) {
        bits = (bits >> 1 & 0x5555'5555'5555'5555) | (bits & 0x5555'5555'5555'5555) << 1;
        bits = (bits >> 2 & 0x3333'3333'3333'3333) | (bits & 0x3333'3333'3333'3333) << 2;
        bits = (bits >> 4 & 0x0f0f'0f0f'0f0f'0f0f) | (bits & 0x0f0f'0f0f'0f0f'0f0f) << 4;
        return __builtin_bswap64(bits) >> (64 - width);
    }
};

// Calls `body.template operator()<step, backwards>()` if there is a pattern for a step in words.
template <typename Body>
bool with_pattern(std::ptrdiff_t step, Body body) {
    switch (step) {
        case -1: body.template operator()<1, true>(); return true;
        case 2: body.template operator()<2, false>(); return true;
        case -2: body.template operator()<2, true>(); return true;
        case 3: body.template operator()<3, false>(); return true;
        case -3: body.template operator()<3, true>(); return true;
        case 4: body.template operator()<4, false>(); return true;
        case -4: body.template operator()<4, true>(); return true;
        default: return false;
    }
}

bool is_known() {
    static const bool found = has_avx512() && __builtin_cpu_supports("avx512vbmi") &&
                              __builtin_cpu_supports("bmi2");
    return found;
}

// Calls `body.template operator()<Pattern>(lowest)` with the lowest place of each run of a part.
template <typename Word, typename Body>
bool with_runs(const Part& part, Body body) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(Word));
    if (!is_known() || part.length < worth_it || part.step % size) return false;
    return with_pattern(part.step / size, [&]<unsigned step, bool backwards>() {
        const auto reach = static_cast<std::ptrdiff_t>(part.length - 1) * part.step;
        const std::ptrdiff_t lowest = part.offset + (backwards ? reach : 0);
        for (std::size_t r = 0; r < part.repeats; ++r)
            body.template operator()<Pattern<Word, step, backwards>>(
                lowest + static_cast<std::ptrdiff_t>(r) * part.outer_step, r * part.length);
    });
}

template <typename Word>
bool gather_as(const std::byte* row, const Part& part, std::byte* packed) {
    return with_runs<Word>(part, [&]<typename Pattern>(std::ptrdiff_t lowest, std::size_t done) {
        Pattern::gather(row + lowest, part.length, packed + done * sizeof(Word));
    });
}

template <typename Word>
bool scatter_as(std::byte* row, const Part& part, const std::byte* packed) {
    return with_runs<Word>(part, [&]<typename Pattern>(std::ptrdiff_t lowest, std::size_t done) {
        Pattern::scatter(row + lowest, part.length, packed + done * sizeof(Word));
    });
}

template <typename Word>
bool scatter_where_as(std::byte* row, const Part& part, const std::byte* packed,
                      const std::byte* mask) {
    return with_runs<Word>(part, [&]<typename Pattern>(std::ptrdiff_t lowest, std::size_t done) {
        Pattern::scatter_where(row + lowest, part.length, packed + done * sizeof(Word),
                               mask + done);
    });
}

}  // namespace

bool avx512_gather(const std::byte* row, const Part& part, std::byte* packed, unsigned size) {
    switch (size) {
        case 1: return gather_as<std::uint8_t>(row, part, packed);
        case 2: return gather_as<std::uint16_t>(row, part, packed);
        case 4: return gather_as<std::uint32_t>(row, part, packed);
        default: return false;
    }
}

bool avx512_scatter(std::byte* row, const Part& part, const std::byte* packed, unsigned size) {
    switch (size) {
        case 1: return scatter_as<std::uint8_t>(row, part, packed);
        case 2: return scatter_as<std::uint16_t>(row, part, packed);
        case 4: return scatter_as<std::uint32_t>(row, part, packed);
        default: return false;
    }
}

bool avx512_scatter_where(std::byte* row, const Part& part, const std::byte* packed,
                          const std::byte* mask, unsigned size) {
    switch (size) {
        case 1: return scatter_where_as<std::uint8_t>(row, part, packed, mask);
        case 2: return scatter_where_as<std::uint16_t>(row, part, packed, mask);
        case 4: return scatter_where_as<std::uint32_t>(row, part, packed, mask);
        default: return false;
    }
}

}  // namespace lanewise

#else

namespace lanewise {

bool avx512_gather(const std::byte*, const Part&, std::byte*, unsigned) { return false; }
bool avx512_scatter(std::byte*, const Part&, const std::byte*, unsigned) { return false; }
bool avx512_scatter_where(std::byte*, const Part&, const std::byte*, const std::byte*, unsigned) {
    return false;
}

}  // namespace lanewise

#endif
